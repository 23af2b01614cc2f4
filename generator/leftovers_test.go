package generator

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLeftovers: what a killed run has staged goes with the next run, and nothing else does.
func TestLeftovers(t *testing.T) {
	dir := copyOfModule(t, "internal/outputs/versions")
	o := Options{Dir: dir, Paths: []string{"./..."}}
	if err := Run(o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(dir, "a", "v1", "v1status")
	staged := func(dir string, pid int) string {
		return filepath.Join(dir, fmt.Sprintf(".%s.%d.0.tmp", OutputName, pid))
	}
	killed := processThatIsGone(t)
	stale := []string{staged(place, killed), staged(place, os.Getpid())}
	kept := []string{
		staged(place, os.Getppid()), // of a run that goes on
		staged(dir, killed),         // no output goes there
		filepath.Join(place, "."+OutputName+".bak"),
		filepath.Join(place, fmt.Sprintf("%s.%d.0.tmp", OutputName, killed)),
		filepath.Join(place, fmt.Sprintf(".other.go.%d.0.tmp", killed)),
	}
	for _, name := range append(stale, kept...) {
		writeFile(t, name, "half a file")
	}

	o.Verify = true
	if err := Run(o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, true, append(stale, kept...)...) // verify writes nothing
	o.Verify = false
	if err := Run(o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, false, stale...)
	wantFiles(t, true, kept...)
}

// TestLeftoversAreStaged: what is swept has the name that staging gives.
func TestLeftoversAreStaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), OutputName)
	temp, err := stage(change{path: path, new: []byte("new")})
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, true, temp)
	sweep([]string{path})
	wantFiles(t, false, temp)
}

func processThatIsGone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func wantFiles(t *testing.T, there bool, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(name); (err == nil) != there {
			t.Errorf("%s: there is one is %v, want %v", name, err == nil, there)
		}
	}
}
