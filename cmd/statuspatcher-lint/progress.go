package main

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// patience is how long a load may take before somebody at a terminal is told that it goes on.
const patience = 2 * time.Second

// nothing stops a progress that never started.
func nothing() {}

// showProgress starts a progress display once patience is over; stop ends it, or keeps it from starting.
func showProgress(w io.Writer, what string, after time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
			return
		case <-time.After(after):
		}
		pw := progress.NewWriter()
		pw.SetOutputWriter(w)
		pw.SetAutoStop(false)
		pw.SetUpdateFrequency(100 * time.Millisecond)
		tracker := &progress.Tracker{Message: what}
		pw.AppendTracker(tracker)
		go pw.Render()
		<-done
		tracker.MarkAsDone()
		pw.Stop()
		for pw.IsRenderInProgress() {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() { close(done); <-ended }
}

// progressOn shows a display on a terminal, and nothing anywhere else.
func progressOn(w io.Writer, what string) (stop func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nothing
	}
	return showProgress(w, what, patience)
}
