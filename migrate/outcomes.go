package migrate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sort"
	"strings"
)

// A testKey names a test: a package and a function, or a package alone for what did not build.
type testKey struct{ pkg, test string }

func (k testKey) String() string {
	if k.test == "" {
		return k.pkg
	}
	return k.test
}

// outcomes are the results of a run of tests.
type outcomes struct {
	passed map[testKey]bool
	// said is the first line of a failure that looks like its reason.
	said map[testKey]string
}

// runTests runs the tests of packages.
func runTests(dir, tags string, pkgs []string) (*outcomes, error) {
	if len(pkgs) == 0 {
		return &outcomes{}, nil
	}
	args := []string{"test", "-json"}
	if tags != "" {
		args = append(args, "-tags="+tags)
	}
	cmd := exec.Command("go", append(args, pkgs...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	o := parseOutcomes(out)
	if err != nil && len(o.passed) == 0 {
		return nil, fmt.Errorf("running the tests: %w\n%s", err, stderr.String())
	}
	return o, nil
}

// parseOutcomes reads the events of go test -json.
func parseOutcomes(events []byte) *outcomes {
	o := &outcomes{passed: map[testKey]bool{}, said: map[testKey]string{}}
	scanner := bufio.NewScanner(bytes.NewReader(events))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			continue // a line of the go command itself
		}
		k := testKey{e.Package, e.Test}
		switch e.Action {
		case "pass", "skip":
			o.passed[k] = true
		case "fail":
			o.passed[k] = false
		case "output":
			if line := strings.TrimSpace(e.Output); o.said[k] == "" && strings.Contains(line, ".go:") {
				o.said[k] = line
			}
		}
	}
	return o
}

// counts returns how many tests passed and failed, without those that are only a part of another one.
func (o *outcomes) counts() (passed, failed int) {
	for k, ok := range o.passed {
		switch {
		case k.test == "" || strings.Contains(k.test, "/"):
		case ok:
			passed++
		default:
			failed++
		}
	}
	return passed, failed
}

// replace returns the outcomes with those of some packages from another run.
func (o *outcomes) replace(pkgs []string, with *outcomes) *outcomes {
	out := &outcomes{passed: map[testKey]bool{}, said: with.said}
	for k, ok := range o.passed {
		if !slices.Contains(pkgs, k.pkg) {
			out.passed[k] = ok
		}
	}
	maps.Copy(out.passed, with.passed)
	return out
}

// worse are the tests that passed before and do not any more, the innermost ones.
func worse(before, after *outcomes) []testKey {
	var out []testKey
	for k, passed := range before.passed {
		if passed && !after.passed[k] {
			out = append(out, k)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := strings.Count(out[i].test, "/"), strings.Count(out[j].test, "/"); a != b {
			return a > b
		}
		if (out[i].test == "") != (out[j].test == "") {
			return out[j].test == ""
		}
		return out[i].pkg+out[i].test < out[j].pkg+out[j].test
	})
	return out
}

// why says which test a move breaks, in the words of the test.
func (o *outcomes) why(broken []testKey) string {
	k := broken[0]
	text := "the move changes the result of " + k.String()
	if said := o.said[k]; said != "" {
		text += ": " + said
	}
	return text
}

// culprits are the items of a list without which fails returns nothing: as few as halving finds. fails is given what is left in.
func culprits(all []string, fails func([]string) (string, error)) (map[string]string, error) {
	text, err := fails(all)
	if err != nil || text == "" {
		return nil, err
	}
	if len(all) == 1 {
		return map[string]string{all[0]: text}, nil
	}
	found := map[string]string{}
	for _, half := range [][]string{all[:len(all)/2], all[len(all)/2:]} {
		part, err := culprits(half, fails)
		if err != nil {
			return nil, err
		}
		for k, v := range part {
			found[k] = v
		}
	}
	if len(found) == 0 { // each half passes: only together they fail
		for _, k := range all {
			found[k] = text
		}
	}
	return found, nil
}
