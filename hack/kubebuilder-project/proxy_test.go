package kubebuilderproject

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

const (
	module  = "github.com/statuspatcher/statuspatcher"
	version = "v0.1.0"
)

// newProxy returns the address of a module proxy that has one version of this module, as if it were published. Its files
// come from the checkout, by the replace directive of go.mod. Other modules are those of the proxy that is configured.
func newProxy(t *testing.T) string {
	upstream := "https://proxy.golang.org"
	if first, _, _ := strings.Cut(os.Getenv("GOPROXY"), ","); strings.HasPrefix(first, "http") {
		upstream = first
	}
	ours := map[string]string{
		"/" + module + "/@v/list":                 version + "\n",
		"/" + module + "/@v/" + version + ".info": `{"Version": "` + version + `", "Time": "2026-01-01T00:00:00Z"}`,
		"/" + module + "/@v/" + version + ".mod":  "module " + module + "\n",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch answer, found := ours[r.URL.Path]; {
		case found:
			_, _ = w.Write([]byte(answer))
		case strings.HasPrefix(r.URL.Path, "/github.com/statuspatcher"):
			http.NotFound(w, r) // nor is there a module below or above it
		default:
			http.Redirect(w, r, strings.TrimSuffix(upstream, "/")+r.URL.Path, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
