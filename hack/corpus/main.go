// Command corpus tries the generator on public APIs: it copies their packages to temporary modules, marks every kind, generates,
// compiles, vets, and runs the behaviour test of every kind. It prints what became of each kind, and fails when one failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	keep := flag.String("keep", "", "a directory to work in, and leave behind; a temporary one without")
	only := flag.String("only", "", "the sources to try, separated by commas; all without")
	flag.Parse()
	if err := run(*keep, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(work, only string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "patcher", "kind.go")); err != nil {
		return fmt.Errorf("start this in hack/, as make corpus does: %w", err)
	}
	if work == "" {
		if work, err = os.MkdirTemp("", "corpus-"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	var outcomes []outcome
	for _, s := range sources {
		if only != "" && !strings.Contains(","+only+",", ","+s.name+",") {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s %s\n", s.module, s.version)
		outcomes = append(outcomes, s.try(root, filepath.Join(work, s.name)))
	}
	return report(os.Stdout, outcomes)
}
