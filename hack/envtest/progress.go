package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// progress writes one line a step, and on a terminal one more that counts what is being compiled.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) step(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K") // the counting line
	}
	fmt.Fprintf(p.out, "envtest: "+format+"\n", args...)
}

// packages takes what `go build -v` says. Package names are counted; all else is an error or a download, and kept in log.
func (p *progress) packages(name string, log *bytes.Buffer) io.Writer {
	return &packageCounter{progress: p, name: name, log: log}
}

type packageCounter struct {
	progress *progress
	name     string
	log      *bytes.Buffer
	partial  []byte
	count    int
}

func (c *packageCounter) Write(data []byte) (int, error) {
	c.partial = append(c.partial, data...)
	for {
		line, rest, whole := bytes.Cut(c.partial, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		c.line(string(line))
		c.partial = rest
	}
}

func (c *packageCounter) line(line string) {
	if strings.ContainsAny(line, " :") {
		fmt.Fprintln(c.log, line)
		return
	}
	c.count++
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	if c.progress.terminal {
		fmt.Fprintf(c.progress.out, "\r\x1b[Kenvtest: %s: %d packages compiled, now %s", c.name, c.count, line)
	}
}
