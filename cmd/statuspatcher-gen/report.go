package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/statuspatcher/statuspatcher/generator"
)

// Exit codes that scripts can tell apart.
const (
	exitDone  = 0 // done, or current
	exitWrong = 1 // wrong input, or stale
	exitUsage = 2 // wrong use
)

// report prints what is wrong and chooses the exit code.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(stderr, err)
	if usage := (generator.UsageError{}); errors.As(err, &usage) {
		fmt.Fprintln(stderr, "run statuspatcher-gen -h for the options, and -w for the markers")
		return exitUsage
	}
	return exitWrong
}
