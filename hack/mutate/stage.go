package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A stage has the test binaries of one module.
type stage struct{ binaries []*binary }

// A binary has the tests of one package, and knows which of them reach which mutant.
type binary struct {
	path, dir string
	// reaching are the tests that reach a mutant, the fastest first.
	reaching map[int][]string
	took     map[string]time.Duration
}

// A package whose tests share something expensive to start, such as an API server, is given as PACKAGE@REGEXP: the tests
// that match run in one process, once to learn what they reach and once for each mutant.
func splitTogether(pkg string) (path, together string) {
	path, together, _ = strings.Cut(pkg, "@")
	return path, together
}

func newStage(module string, pkgs []string, p *mutatedPackage, out string) (*stage, error) {
	s := &stage{}
	for _, pkg := range pkgs {
		pkg, together := splitTogether(pkg)
		b := &binary{dir: filepath.Join(module, pkg), reaching: map[int][]string{}, took: map[string]time.Duration{}}
		name := strings.NewReplacer("/", "_", ".", "_").Replace(b.dir) + ".test"
		b.path = filepath.Join(out, name)
		build := exec.Command("go", "test", "-c", "-overlay", p.overlay, "-o", b.path, pkg)
		build.Dir, build.Env = module, append(os.Environ(), "GOWORK=off")
		if text, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", b.dir, err, text)
		}
		if err := b.learn(out, together); err != nil {
			return nil, err
		}
		s.binaries = append(s.binaries, b)
	}
	return s, nil
}

// learn runs each test once, alone, to see which mutants it reaches.
func (b *binary) learn(out, together string) error {
	tests := []string{together}
	if together == "" {
		list, err := b.command(context.Background(), 0, "", "-test.list", ".").Output()
		if err != nil {
			return fmt.Errorf("listing the tests of %s: %w", b.dir, err)
		}
		tests = strings.Fields(string(list))
	}
	for _, test := range tests {
		if together == "" && !strings.HasPrefix(test, "Test") && !strings.HasPrefix(test, "Fuzz") {
			continue
		}
		began := time.Now()
		ids, passes := b.reached(filepath.Join(out, "reached"), test)
		if !passes {
			continue
		}
		b.took[test] = time.Since(began)
		for _, id := range ids {
			b.reaching[id] = append(b.reaching[id], test)
		}
	}
	for _, tests := range b.reaching {
		slices.SortFunc(tests, func(x, y string) int { return int(b.took[x] - b.took[y]) })
	}
	return nil
}

// reached returns the mutants that a test reaches. A test that fails without a mutant proves nothing, and is left out. Those
// that count allocations fail while reached mutants are noted, so they get a second run without.
func (b *binary) reached(notes, test string) (ids []int, passes bool) {
	_ = os.Remove(notes)
	for _, notes := range []string{notes, ""} {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		text, err := b.command(ctx, 0, notes, "-test.run", pattern(test)).CombinedOutput()
		cancel()
		if err == nil {
			passes = true
			break
		}
		if notes == "" {
			fmt.Fprintf(os.Stderr, "left out, since it fails without a mutant: %s in %s: %v\n%s\n", test, b.dir, err, tail(text))
		}
	}
	return readIDs(notes), passes
}

func pattern(tests ...string) string { return "^(" + strings.Join(tests, "|") + ")" }

func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

func readIDs(name string) (ids []int) {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if id, err := strconv.Atoi(lines.Text()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// try runs the tests that reach the mutant.
func (s *stage) try(m *mutant) verdict {
	found := unreached
	for _, b := range s.binaries {
		if tests := b.reaching[m.id]; len(tests) > 0 {
			if found = worse(found, b.try(m.id, tests)); !found.isAlive() {
				return found
			}
		}
	}
	return found
}

// fastTests is how many tests run first: most mutants are killed by them, and one that never ends is found soon.
const fastTests = 12

func (b *binary) try(id int, tests []string) verdict {
	fast := tests[:min(fastTests, len(tests))]
	found := b.run(id, fast)
	if rest := tests[len(fast):]; found == survived && len(rest) > 0 {
		found = b.run(id, rest)
	}
	return found
}

func (b *binary) run(id int, tests []string) verdict {
	limit := 10 * time.Second
	for _, test := range tests {
		limit += 2 * b.took[test]
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := b.command(ctx, id, "", "-test.failfast", "-test.run", pattern(tests...)).Run()
	switch {
	case ctx.Err() != nil:
		return timedOut
	case err != nil:
		return killed
	}
	return survived
}

func (b *binary) command(ctx context.Context, id int, notes string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, b.path, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", id), "MUTANTS_REACHED="+notes)
	c.WaitDelay = 5 * time.Second
	return c
}
