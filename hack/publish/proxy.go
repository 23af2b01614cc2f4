package publish

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// WriteProxy writes the modules below dir in the layout of a module proxy, so that GOPROXY=file://dir serves them.
func WriteProxy(dir string, modules []*Module) error {
	var errs []error
	for _, m := range modules {
		at := filepath.Join(dir, filepath.FromSlash(m.Path), "@v")
		version := m.Version.Version
		errs = append(errs, os.MkdirAll(at, 0o755),
			os.WriteFile(filepath.Join(at, "list"), []byte(version+"\n"), 0o644),
			os.WriteFile(filepath.Join(at, version+".info"), fmt.Appendf(nil, `{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, version), 0o644),
			os.WriteFile(filepath.Join(at, version+".mod"), m.GoMod, 0o644),
			os.WriteFile(filepath.Join(at, version+".zip"), m.Zip, 0o644))
	}
	return errors.Join(errs...)
}

// Proxy serves the modules that WriteProxy wrote to dir, and redirects to the proxy that is configured for all others. Unlike a
// file:// address it makes sure that nobody is asked for the modules of this repository that are not published.
func Proxy(dir string) http.Handler {
	upstream := "https://proxy.golang.org"
	if first, _, _ := strings.Cut(os.Getenv("GOPROXY"), ","); strings.HasPrefix(first, "http") {
		upstream = strings.TrimSuffix(first, "/")
	}
	ours, owner := http.FileServer(http.Dir(dir)), "/"+filepath.ToSlash(filepath.Dir(Root))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, owner) {
			ours.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, upstream+r.URL.Path, http.StatusFound)
	})
}
