// Command bench measures the generated patcher beside what people use today, and the generator beside controller-gen, and
// prints the ratios. See docs/performance.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A row is one figure of one contestant in one case.
type row struct {
	Table string `json:"table"`
	Case  string `json:"case"`
	By    string `json:"by"`
	// Metrics are medians over the rounds, by unit.
	Metrics map[string]float64 `json:"metrics"`
	// Ratios are to the table's first contestant, taken within each round; the medians of those.
	Ratios map[string]float64 `json:"ratios"`
}

var tables = []struct {
	name    string
	measure func(rounds int) ([]row, error)
}{
	{"flush", func(rounds int) ([]row, error) { return flushTable("Flush", rounds, overMemory) }},
	{"request", func(rounds int) ([]row, error) { return flushTable("Request", rounds, overWire) }},
	{"server", serverTable},
	{"generator", generatorTable},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == launchFlag {
		exit(launch(os.Args[2:]))
	}
	testing.Init()
	log.SetLogger(logr.Discard())
	rounds := flag.Int("rounds", 6, "how often each figure is taken; the contestants take turns within a round")
	only := flag.String("tables", "flush,request,server,generator", "which tables to measure")
	out := flag.String("out", "bench.json", "where to write all figures")
	raw := flag.String("samples", os.DevNull, "where to write the benchmarks' samples, for benchstat")
	flag.Parse()
	var err error
	if samplesFile, err = os.Create(*raw); err == nil {
		err = run(*rounds, strings.Split(*only, ","), *out)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(rounds int, only []string, out string) error {
	var all []row
	for _, table := range tables {
		if !slices.Contains(only, table.name) {
			continue
		}
		rows, err := table.measure(rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
		print(os.Stdout, rows)
		all = append(all, rows...)
	}
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(data, '\n'), 0o644)
}
