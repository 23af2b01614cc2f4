package kubebuilderproject

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
)

// newProxy returns the address of a module proxy that has one version of each published module, made of the checkout. Other
// modules are those of the proxy that is configured.
func newProxy(t testing.TB, checkout string) string {
	t.Helper()
	modules, err := pack(checkout)
	if err != nil {
		t.Fatal(err)
	}
	inCache(t, modules)
	upstream := "https://proxy.golang.org"
	if first, _, _ := strings.Cut(os.Getenv("GOPROXY"), ","); strings.HasPrefix(first, "http") {
		upstream = first
	}
	files := map[string][]byte{}
	for _, m := range modules {
		at := "/" + m.path + "/@v/"
		files[at+"list"] = []byte(m.version + "\n")
		files[at+m.version+".info"] = []byte(`{"Version": "` + m.version + `", "Time": "2026-01-01T00:00:00Z"}`)
		files[at+m.version+".mod"] = m.gomod
		files[at+m.version+".zip"] = m.zip
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch content, found := files[r.URL.Path]; {
		case found:
			_, _ = w.Write(content)
		case strings.HasPrefix(r.URL.Path, "/"+path.Dir(modulePath)):
			http.NotFound(w, r) // nor are there other modules below or above them
		default:
			http.Redirect(w, r, strings.TrimSuffix(upstream, "/")+r.URL.Path, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
