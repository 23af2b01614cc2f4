package realserver

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// launcher notes the process id that the server keeps, since envtest does not tell it. `--help` is envtest asking for flags.
const launcher = `#!/bin/sh
[ "$1" = --help ] || echo $$ >%s
exec %s "$@"
`

// undertaker blocks until its input ends, which it does when the test process ends, however it does: a panic, a
// timeout and os.Exit skip every defer. It kills, since kube-apiserver waits for its watches when asked to stop.
const undertaker = `trap '' HUP INT TERM
read -r _
for file in "$1"/*.pid; do [ -e "$file" ] && kill -KILL "$(cat "$file")"; done
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`

// guard owns a directory and the server processes started from it, and ends both no later than the test process.
type guard struct {
	dir  string
	cmd  *exec.Cmd
	life io.WriteCloser
}

func newGuard() (*guard, error) {
	dir, err := os.MkdirTemp("", "realserver-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", undertaker, "sh", dir)
	life, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the shell that ends the servers with this process: %w", err)
	}
	return &guard{dir: dir, cmd: cmd, life: life}, nil
}

// launcher returns the path of a program that runs binary under the guard's eyes.
func (g *guard) launcher(binary string) (string, error) {
	path := filepath.Join(g.dir, filepath.Base(binary))
	return path, os.WriteFile(path, fmt.Appendf(nil, launcher, quote(path+".pid"), quote(binary)), 0o755)
}

// quote makes a path one word of a shell.
func quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// end kills the processes and removes the directory.
func (g *guard) end() error {
	if err := g.life.Close(); err != nil {
		return err
	}
	return g.cmd.Wait()
}
