// Command migrate-corpus migrates well-known operators from the module proxy, and prints what became of their status writes.
//
//	go run ./migrate-corpus -tool=statuspatcher-migrate -runtime=PATCHER [-cache=DIR] [-tests] [NAME ...]
//
// Each operator is copied, required to use the runtime of this checkout, and migrated with -w. What comes out must type-check and
// vet. With -tests its own tests run before and after, and a move that changes the result of one counts as left. It exits with 1 if an operator
// cannot be migrated or does not vet, and if fewer than the share of the writes is moved whose type is a kind of the operator.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

//go:embed corpus.json
var corpus []byte

// A project is one operator of the corpus.
type project struct {
	Name   string `json:"name"`
	Module string `json:"module"`
}

// share is how many of the writes of generated kinds must be moved: as the median of the operators, and of all writes together.
const share = 0.7

func main() {
	c := config{}
	flag.StringVar(&c.tool, "tool", "statuspatcher-migrate", "the `PROGRAM` to try")
	flag.StringVar(&c.runtime, "runtime", "patcher", "`DIR` of the runtime of the patchers")
	flag.StringVar(&c.cache, "cache", filepath.Join(os.TempDir(), "statuspatcher-migrate-corpus"), "`DIR` for the sources, outside any repository")
	flag.BoolVar(&c.tests, "tests", false, "run the tests of the packages that change, before and after")
	flag.Parse()
	if err := run(c, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "migrate-corpus:", err)
		os.Exit(1)
	}
}

type config struct {
	tool, runtime, cache string
	tests                bool
}

func run(c config, names []string) (err error) {
	var projects []project
	if err := json.Unmarshal(corpus, &projects); err != nil {
		return err
	}
	for _, path := range []*string{&c.tool, &c.runtime} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	var rows []row
	for _, p := range projects {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		r, err := migrate(c, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		rows = append(rows, r)
		fmt.Fprintln(os.Stderr, r)
	}
	print(os.Stdout, rows)
	if median, pooled := shares(rows); median < share || pooled < share {
		return fmt.Errorf("moved %.0f %% (median) and %.0f %% (of all), expected %.0f %%", 100*median, 100*pooled, 100*share)
	}
	return nil
}
