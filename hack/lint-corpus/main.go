// Command lint-corpus runs statuspatcher-lint over well-known operators from the module proxy and holds its audit
// against lists of their status-write sites that were judged by reading the code.
//
//	go run ./hack/lint-corpus [-tool=statuspatcher-lint] [-cache=DIR] [NAME ...]
//
// It exits with 1 when a site is missed, when a class is wrong, or when a site is listed that is not in the truth. Packages
// whose dependencies the proxy does not serve are looked at as far as they type-check, and counted.
package main

import (
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

//go:embed corpus.json truth/*.json
var data embed.FS

// A project is one operator of the corpus.
type project struct {
	Name   string `json:"name"`
	Module string `json:"module"`
	// Nested are modules that the project's go.mod replaces by a directory of its own, which the proxy's zip leaves out.
	Nested       map[string]string `json:"nested"`
	DropReplaces []string          `json:"dropReplaces"`
}

// A site is a row of the truth, or of an audit.
type site struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Class    string `json:"class"`
	Verdict  string `json:"verdict,omitempty"`
}

func main() {
	tool := flag.String("tool", "statuspatcher-lint", "the `PROGRAM` to judge")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "statuspatcher-lint-corpus"), "`DIR` for the sources, outside any repository")
	flag.Parse()
	if err := run(*tool, *cache, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "lint-corpus:", err)
		os.Exit(1)
	}
}

func run(tool, cache string, names []string) error {
	var projects []project
	if err := load("corpus.json", &projects); err != nil {
		return err
	}
	tool, err := filepath.Abs(tool)
	if err != nil {
		return err
	}
	var total score
	for _, p := range projects {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		s, err := judge(tool, cache, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		total.add(s)
	}
	fmt.Printf("%-26s %s\n", "all", total)
	if total.bad() {
		return fmt.Errorf("the audit differs from the truth")
	}
	return nil
}

func judge(tool, cache string, p project) (score, error) {
	dir := filepath.Join(cache, p.Name)
	if err := fetch(dir, p); err != nil {
		return score{}, err
	}
	start := time.Now()
	a, err := runAudit(tool, dir)
	if err != nil {
		return score{}, err
	}
	var truth []site
	if err := load(filepath.Join("truth", p.Name+".json"), &truth); err != nil {
		return score{}, err
	}
	s := compare(p.Name, truth, a.found)
	fmt.Printf("%-26s %s  %5.1fs %4d MB", p.Name, s, time.Since(start).Seconds(), a.memory>>20)
	if a.partial > 0 {
		fmt.Printf("  (%d packages in part)", a.partial)
	}
	fmt.Println()
	return s, nil
}

func load(name string, into any) error {
	b, err := data.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
