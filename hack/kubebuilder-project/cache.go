package kubebuilderproject

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// inCache keeps the place of our version in the module cache for this test alone, and leaves it empty: nobody needs it again.
func inCache(t testing.TB, modules []module) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(out))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "statuspatcher-checkout.lock")).Lock()
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

// evict removes our version from the module cache.
func evict(cache string, m module) error {
	downloads, err := filepath.Glob(filepath.Join(cache, "cache", "download", m.path, "@v", m.version+".*"))
	if err != nil {
		return err
	}
	for _, path := range downloads {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	dir := filepath.Join(cache, m.path+"@"+m.version)
	if _, err := os.Stat(dir); err != nil {
		return nil // it is not there
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
