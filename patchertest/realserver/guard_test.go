package realserver

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startEcho runs cat through a launcher, and returns when it is up.
func startEcho(t *testing.T, g *guard) (cmd *exec.Cmd, echo func() error) {
	t.Helper()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "it's a path") // as a directory of a user may be called
	if err := os.Symlink(cat, odd); err != nil {
		t.Fatal(err)
	}
	path, err := g.launcher(odd)
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	echo = func() error {
		_, writeErr := io.WriteString(in, "up\n")
		if _, err := lines.ReadString('\n'); err != nil {
			return err
		}
		return writeErr
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}
	return cmd, echo
}

// Until the guard ends, its process lives; then it was killed, and not asked.
func TestGuardEndsItsProcessesAndNoOthers(t *testing.T) {
	g, err := newGuard()
	if err != nil {
		t.Fatal(err)
	}
	other, err := newGuard()
	if err != nil {
		t.Fatal(err)
	}
	defer other.end()
	cmd, _ := startEcho(t, g)
	_, otherEcho := startEcho(t, other)
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	killed := make(chan error, 1)
	go func() { killed <- cmd.Wait() }()
	select {
	case err := <-killed:
		if err == nil || err.Error() != "signal: killed" {
			t.Errorf("the process ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the process outlived its guard")
	}
	if _, err := os.Stat(g.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := otherEcho(); err != nil {
		t.Errorf("the process of another guard: %v", err)
	}
}
