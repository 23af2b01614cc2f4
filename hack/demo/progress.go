package main

import (
	"io"
	"os"
	"sync"
	"time"

	prettyprogress "github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// progress shows how far the demonstration is, on a terminal; elsewhere it is quiet.
type progress struct {
	writer prettyprogress.Writer
	done   chan struct{}
	once   sync.Once
}

func newProgress(out *os.File) *progress {
	p := &progress{writer: prettyprogress.NewWriter(), done: make(chan struct{})}
	p.writer.SetOutputWriter(out)
	if !term.IsTerminal(int(out.Fd())) {
		p.writer.SetOutputWriter(io.Discard)
	}
	p.writer.SetUpdateFrequency(100 * time.Millisecond)
	p.writer.SetAutoStop(false)
	go func() {
		defer close(p.done)
		p.writer.Render()
	}()
	return p
}

func (p *progress) track(message string, total int64) *prettyprogress.Tracker {
	tracker := &prettyprogress.Tracker{Message: message, Total: total}
	p.writer.AppendTracker(tracker)
	return tracker
}

// stop waits until the last state is shown. A second call does nothing.
func (p *progress) stop() {
	p.once.Do(func() {
		p.writer.Stop()
		<-p.done
	})
}
