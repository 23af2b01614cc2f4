package kubebuilderproject

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/statuspatcher/statuspatcher"

// newProxy returns the address of a module proxy that has one version of this module, made of the checkout. Other modules are
// those of the proxy that is configured.
func newProxy(t testing.TB, checkout string) string {
	t.Helper()
	gomod, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version, zipped, err := pack(checkout)
	if err != nil {
		t.Fatal(err)
	}
	inCache(t, version)
	upstream := "https://proxy.golang.org"
	if first, _, _ := strings.Cut(os.Getenv("GOPROXY"), ","); strings.HasPrefix(first, "http") {
		upstream = first
	}
	ours := map[string][]byte{
		"/" + modulePath + "/@v/list":                 []byte(version + "\n"),
		"/" + modulePath + "/@v/" + version + ".info": []byte(`{"Version": "` + version + `", "Time": "2026-01-01T00:00:00Z"}`),
		"/" + modulePath + "/@v/" + version + ".mod":  gomod,
		"/" + modulePath + "/@v/" + version + ".zip":  zipped,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch answer, found := ours[r.URL.Path]; {
		case found:
			_, _ = w.Write(answer)
		case strings.HasPrefix(r.URL.Path, "/github.com/statuspatcher"):
			http.NotFound(w, r) // nor is there a module below or above it
		default:
			http.Redirect(w, r, strings.TrimSuffix(upstream, "/")+r.URL.Path, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
