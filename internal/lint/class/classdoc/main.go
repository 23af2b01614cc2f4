// Command classdoc writes the reference of the classes into a document, between the comments that mark its place.
//
//	classdoc ../../../docs/lint.md
package main

import (
	"fmt"
	"os"

	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: classdoc DOCUMENT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "classdoc:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := class.WithReference(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(out), 0o644)
}
