package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// patience is how long a load may take before it is announced at a terminal.
const patience = 2 * time.Second

// announce says what is being done if it takes longer than after; stop is called when it is done.
func announce(w io.Writer, what string, after time.Duration) (stop func()) {
	timer := time.AfterFunc(after, func() { fmt.Fprintf(w, "statuspatcher-lint: %s ...\n", what) })
	return func() { timer.Stop() }
}

// announceOn announces at a terminal, and nowhere else.
func announceOn(w io.Writer, what string) (stop func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return announce(w, what, patience)
}
