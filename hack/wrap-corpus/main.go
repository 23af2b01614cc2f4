// Command wrap-corpus runs the test suites of public operators twice: as they are, and with every client that controller-runtime
// makes for them behind patcher.Wrap. It prints what Wrap did, and every test whose result changed.
//
//	go run ./wrap-corpus [-only=NAME,NAME] [-mode=lock] [-cache=DIR]
//
// The sources are pinned in corpus.json and come from the module proxy. No line of an operator changes: it is built with a copy of its
// controller-runtime that has the call of patcher.Wrap in client.New, which managers use, and in the fake client's Build.
//
// It exits with 1 if the result of a test changed that corpus.json does not expect to change, or the other way round.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

//go:embed corpus.json wrapping
var data embed.FS

// A project is one operator of the corpus.
type project struct {
	Name   string `json:"name"`
	Module string `json:"module"` // MODULE@VERSION
	// Nested are modules that the project's go.mod replaces by a directory of its own, which the module zip leaves out.
	Nested map[string]string `json:"nested"`
	// Kinds are the kinds to generate patchers for, by the import path of their package.
	Kinds map[string][]string `json:"kinds"`
	// Tests are the packages whose tests run: all those that write status of these kinds. Those of Suites are Ginkgo suites.
	Tests  []string `json:"tests"`
	Suites []string `json:"suites"`
	// Changed are the tests whose result changes for a reason that is not a fault, by their full name.
	Changed map[string]string `json:"changed"`
	// Unstable are the tests that fail now and then without Wrap.
	Unstable map[string]string `json:"unstable"`
}

func main() {
	only := flag.String("only", "", "the projects to try, separated by commas; all by default")
	mode := flag.String("mode", "lock", "what to compare the bare client with: lock, refuse or report")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "statuspatcher-wrap-corpus"), "a directory for the sources, outside any repository")
	resume := flag.Bool("resume", false, "use what an interrupted run has left in the cache")
	prepareOnly := flag.Bool("prepare", false, "copy the sources and generate the patchers, and run no tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, options{*only, *mode, *cache, *resume, *prepareOnly}); err != nil {
		fmt.Fprintln(os.Stderr, "wrap-corpus:", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	only, mode, cache   string
	resume, prepareOnly bool
}

func run(ctx context.Context, opts options) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "patcher", "wrap.go")); err != nil {
		return fmt.Errorf("start this in hack/, as make wrap-corpus does: %w", err)
	}
	projects, err := selected(opts.only)
	if err != nil {
		return err
	}
	var outcomes []outcome
	for _, p := range projects {
		fmt.Fprintln(os.Stderr, p.Module)
		t := trial{project: p, root: root, dir: filepath.Join(opts.cache, p.Name), resume: opts.resume}
		if opts.prepareOnly {
			if err := t.prepare(); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			continue
		}
		o, err := t.try(ctx, opts.mode)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		outcomes = append(outcomes, o)
	}
	if opts.prepareOnly {
		return nil
	}
	return report(os.Stdout, outcomes)
}

func selected(only string) ([]project, error) {
	content, err := data.ReadFile("corpus.json")
	if err != nil {
		return nil, err
	}
	var projects []project
	if err := json.Unmarshal(content, &projects); err != nil {
		return nil, fmt.Errorf("corpus.json: %w", err)
	}
	if only == "" {
		return projects, nil
	}
	var chosen []project
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(projects, func(p project) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("corpus.json has no project %q", name)
		}
		chosen = append(chosen, projects[i])
	}
	return chosen, nil
}
