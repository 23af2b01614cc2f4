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
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := mutatePackage(args[0], dir)
	if err != nil {
		return err
	}
	chosen := sample(p.mutants, only, n, seed)
	fmt.Printf("%d mutants, of which %d are tried\n", len(p.mutants), len(chosen))
	score := map[verdict]int{}
	pending := chosen
	deadline := time.Now().Add(budget)
	for _, group := range stagesOf(args[1:]) {
		s, err := newStage(group[0], group[1:], p, dir)
		if err != nil {
			return err
		}
		var alive []*mutant
		for _, m := range pending {
			if time.Now().After(deadline) {
				m.verdict = untried
				continue
			}
			if m.verdict = worse(m.verdict, s.try(m)); m.verdict.isAlive() {
				alive = append(alive, m)
			}
		}
		pending = alive
	}
	for _, m := range chosen {
		score[m.verdict]++
		if m.verdict.isAlive() {
			fmt.Printf("%s: %s: %s -> %s\n", m.position, m.verdict, m.before, m.after)
		}
	}
	tried := len(chosen) - score[untried]
	fmt.Printf("killed %d, timed out %d, survived %d, not reached by any test %d, not tried %d\n",
		score[killed], score[timedOut], score[survived], score[unreached], score[untried])
	if tried > 0 {
		fmt.Printf("score %.1f %% of %d\n", 100*float64(score[killed]+score[timedOut])/float64(tried), tried)
	}
	return nil
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
