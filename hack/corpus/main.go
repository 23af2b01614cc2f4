// Command corpus tries the generator on public APIs: it copies their packages to temporary modules, marks every kind, generates,
// compiles, vets, and runs the behaviour test of every kind. It prints what became of each kind, and fails when one failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	keep := flag.String("keep", "", "a directory to work in, and leave behind; a temporary one without")
	only := flag.String("only", "", "the sources to try, separated by commas; all without")
	record := flag.String("record", "", "a file to add the results to, for a run in parts: the summary is of all parts so far")
	flag.Parse()
	if err := run(*keep, *only, *record); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(work, only, record string) error {
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
	wanted, err := choose(only)
	if err != nil {
		return err
	}
	if record != "" {
		if _, err := readRecord(record); err != nil {
			return err // before the work, not after it
		}
	}
	var results []result
	for _, s := range wanted {
		fmt.Fprintf(os.Stderr, "%s %s\n", s.module, s.version)
		results = append(results, s.try(root, filepath.Join(work, s.name)).result())
	}
	if record != "" {
		if results, err = addTo(record, results); err != nil {
			return err
		}
	}
	return report(os.Stdout, results)
}

// choose returns the sources of the given names.
func choose(only string) ([]source, error) {
	if only == "" {
		return sources, nil
	}
	var out []source
	for name := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(sources, func(s source) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("-only=%s: there is no source %q in sources.go", only, name)
		}
		out = append(out, sources[at])
	}
	return out, nil
}
