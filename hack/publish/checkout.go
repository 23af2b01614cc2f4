package publish

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Checkout serves the published modules of a checkout to a test, at one version that stands for its content, and returns the
// GOPROXY address and the version. The go command relies on the files of a version never changing; the module cache forgets the
// version when the test ends.
func Checkout(t testing.TB, checkout string) (goproxy, version string) {
	t.Helper()
	version = contentVersion(t, checkout)
	modules, err := Modules(checkout, version)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := WriteProxy(dir, modules); err != nil {
		t.Fatal(err)
	}
	lockCache(t, modules)
	server := httptest.NewServer(Proxy(dir))
	t.Cleanup(server.Close)
	return server.URL, version
}

// contentVersion returns a version that no other content has.
func contentVersion(t testing.TB, checkout string) string {
	t.Helper()
	modules, err := Modules(checkout, "v0.0.0")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, m := range modules {
		fmt.Fprintln(sum, m.Path, m.Sum)
	}
	return fmt.Sprintf("v0.0.0-checkout.h%x", sum.Sum(nil)[:8])
}

// lockCache keeps the place of our modules in the module cache for this test alone, and leaves it empty. Tests of other checkouts,
// which have other versions, need not wait.
func lockCache(t testing.TB, modules []*Module) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(out))
	if err := os.MkdirAll(filepath.Join(cache, "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "cache", "lock-statuspatcher-"+modules[0].Version.Version)).Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, m := range modules {
			if err := evict(cache, m); err != nil {
				t.Error(err)
			}
		}
		unlock()
	})
}

// evict removes a module at its version from the module cache.
func evict(cache string, m *Module) error {
	downloads, err := filepath.Glob(filepath.Join(cache, "cache", "download", m.Path, "@v", m.Version.Version+".*"))
	if err != nil {
		return err
	}
	for _, path := range downloads {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	dir := filepath.Join(cache, m.Path+"@"+m.Version.Version)
	if _, err := os.Stat(dir); err != nil {
		return nil // it was not extracted
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755) // the module cache is read-only
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
