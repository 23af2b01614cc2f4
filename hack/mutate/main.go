// Command mutate changes the code of a package in many small ways, one at a time, and reports which changes no test notices.
//
// All mutants are compiled into one test binary for each module that tests the package, with go test -overlay, so the tree is
// never touched, and a mutant costs no compilation. An environment variable says which mutant is alive. The tool first runs
// every test once to learn which mutants it reaches, and then runs each mutant against those tests only: the tests of the
// first stage, and what survives them against the next stage.
//
//	go run ./mutate -n 200 -seed 1 ../patcher -- ../patcher . -- ../patcher/test ./guard ./statusfuzz ./fuzz .@TestS
//
// The first argument is the directory of the package to mutate. Each -- starts a stage: the directory of a module, and the
// packages in it whose tests to run.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", 0, "how many mutants to try, spread over all files; 0 for all")
	seed := flag.Int64("seed", 1, "which ones")
	only := flag.String("files", "", "try mutants of these files only, separated by commas")
	budget := flag.Duration("budget", time.Hour, "stop after this time; what was not tried is not counted")
	flag.Parse()
	if err := run(*n, *seed, *only, *budget, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(n int, seed int64, only string, budget time.Duration, args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return fmt.Errorf("want DIR -- MODULE PACKAGES... [-- MODULE PACKAGES...], got %q", args)
	}
	chosen, err := tryAll(args[0], stagesOf(args[1:]), time.Now().Add(budget), func(all []*mutant) []*mutant {
		return sample(all, only, n, seed)
	})
	if err != nil {
		return err
	}
	fmt.Print(report(chosen))
	return nil
}

// tryAll runs the tests of each stage against the mutants that choose picks and that are still alive. The order of the
// mutants is that of the choice, so that a budget that ends early leaves a sample of all files.
func tryAll(pkg string, stages [][]string, deadline time.Time, choose func([]*mutant) []*mutant) ([]*mutant, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p, err := mutatePackage(pkg, dir)
	if err != nil {
		return nil, err
	}
	chosen := choose(p.mutants)
	for _, group := range stages {
		s, err := newStage(group[0], group[1:], p, dir)
		if err != nil {
			return nil, err
		}
		for _, m := range chosen {
			switch {
			case !m.verdict.isAlive():
			case time.Now().After(deadline):
				m.verdict = untried
			default:
				m.verdict = worse(m.verdict, s.try(m))
			}
		}
	}
	return chosen, nil
}

// report lists the mutants that are alive, and the score.
func report(chosen []*mutant) string {
	var out strings.Builder
	count := map[verdict]int{}
	for _, m := range chosen {
		count[m.verdict]++
		if m.verdict.isAlive() {
			fmt.Fprintf(&out, "%s: %s: %s -> %s\n", m.position, m.verdict, m.before, m.after)
		}
	}
	fmt.Fprintf(&out, "%d mutants: killed %d, timed out %d, survived %d, not reached by any test %d, not tried %d\n",
		len(chosen), count[killed], count[timedOut], count[survived], count[unreached], count[untried])
	if tried := len(chosen) - count[untried]; tried > 0 {
		fmt.Fprintf(&out, "score: %.1f %% of %d\n", 100*float64(count[killed]+count[timedOut])/float64(tried), tried)
	}
	return out.String()
}

// stagesOf splits what follows each "--".
func stagesOf(args []string) (stages [][]string) {
	for _, arg := range args {
		if arg == "--" {
			stages = append(stages, nil)
			continue
		}
		stages[len(stages)-1] = append(stages[len(stages)-1], arg)
	}
	return stages
}

// sample takes n mutants, in turns from each file.
func sample(all []*mutant, only string, n int, seed int64) (chosen []*mutant) {
	byFile := map[string][]*mutant{}
	var files []string
	for _, m := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), m.file) {
			continue
		}
		if byFile[m.file] == nil {
			files = append(files, m.file)
		}
		byFile[m.file] = append(byFile[m.file], m)
	}
	r := rand.New(rand.NewSource(seed))
	for _, file := range files {
		r.Shuffle(len(byFile[file]), func(i, j int) { byFile[file][i], byFile[file][j] = byFile[file][j], byFile[file][i] })
	}
	for left := true; left && (n == 0 || len(chosen) < n); {
		left = false
		for _, file := range files {
			if len(byFile[file]) > 0 && (n == 0 || len(chosen) < n) {
				chosen, byFile[file], left = append(chosen, byFile[file][0]), byFile[file][1:], true
			}
		}
	}
	return chosen
}
