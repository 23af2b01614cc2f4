package migrate

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/journal"
)

// putBack runs the operator's own tests, and puts back every move that changes the result of one. before are the results without
// any move.
func (p *Plan) putBack(j *journal.Journal, before *outcomes, pkgs []string, notes io.Writer) error {
	after, err := runTests(p.options.Dir, p.options.Tags, pkgs)
	if err != nil {
		return err
	}
	if broken := worse(before, after); len(broken) > 0 {
		// A test that fails now and then is not the move's fault.
		fmt.Fprintf(notes, "%d tests have another result after the move: running their packages again\n", len(broken))
		again, err := runTests(p.options.Dir, p.options.Tags, packagesOf(broken))
		if err != nil {
			return err
		}
		after = after.replace(packagesOf(broken), again)
		if broken = worse(before, after); len(broken) > 0 {
			if after, err = p.findCulprits(j, before, after, broken, notes); err != nil {
				return err
			}
		}
	}
	report(before, after, notes)
	return nil
}

// report says how many tests passed and failed before and after.
func report(before, after *outcomes, notes io.Writer) {
	passed, failed := before.counts()
	passedNow, failedNow := after.counts()
	fmt.Fprintf(notes, "tests: %d passed and %d failed before, %d passed and %d failed after\n", passed, failed, passedNow, failedNow)
}

// findCulprits puts back the moves without which the broken tests pass, and returns the outcomes at the end.
func (p *Plan) findCulprits(j *journal.Journal, before, after *outcomes, broken []testKey, notes io.Writer) (*outcomes, error) {
	fmt.Fprintf(notes, "%d tests fail again: looking for the writes\n", len(broken))
	var sites []string
	for _, s := range p.Sites {
		if s.Verdict == Moved {
			sites = append(sites, s.At)
		}
	}
	last := after
	fails := func(moved []string) (string, error) {
		if err := p.only(j, sites, moved, nil); err != nil {
			return "", err
		}
		now, err := runTests(p.options.Dir, p.options.Tags, packagesOf(broken))
		if err != nil {
			return "", err
		}
		last = after.replace(packagesOf(broken), now)
		if bad := worse(only(before, packagesOf(broken)), now); len(bad) > 0 {
			return now.why(bad), nil
		}
		return "", nil
	}
	if text, err := fails(nil); err != nil {
		return nil, err
	} else if text != "" {
		// The test fails without any move, too: it is flaky, or the generated code or the wrapped client changes it.
		fmt.Fprintf(notes, "without any move, too, %s\n", strings.TrimPrefix(text, "the move changes "))
		return last, p.only(j, sites, sites, nil)
	}
	held, err := culprits(sites, fails)
	if err != nil {
		return nil, err
	}
	if err := p.only(j, sites, sites, held); err != nil {
		return nil, err
	}
	now, err := runTests(p.options.Dir, p.options.Tags, packagesOf(broken))
	if err != nil {
		return nil, err
	}
	return last.replace(packagesOf(broken), now), nil
}

// only writes the files with some of the moves: those that are listed, without those that are held.
func (p *Plan) only(j *journal.Journal, all, moved []string, held map[string]string) error {
	stay := map[string]string{}
	for k, v := range held {
		stay[k] = v
	}
	listed := map[string]bool{}
	for _, at := range moved {
		listed[at] = true
	}
	for _, at := range all {
		if !listed[at] && stay[at] == "" {
			stay[at] = "not tried"
		}
	}
	for at, text := range p.held {
		stay[at] = text
	}
	p.decide(stay)
	return p.writeChanges(j)
}

// writeChanges writes every file that the plan changes, and puts back those that it does not change any more.
func (p *Plan) writeChanges(j *journal.Journal) error {
	resources := resourcesOf(p.kinds())
	now := map[string]bool{}
	for _, c := range p.Changes {
		now[c.Name] = true
		text, _ := rbacText(c.After, resources)
		if err := j.Write(c.Name, text); err != nil {
			return err
		}
		p.written[c.Name] = c.Before
	}
	for name, before := range p.written {
		if now[name] {
			continue
		}
		text, _ := rbacText(before, resources)
		if err := j.Write(name, text); err != nil {
			return err
		}
	}
	return nil
}

func packagesOf(keys []testKey) []string {
	seen := map[string]bool{}
	var out []string
	for _, k := range keys {
		if !seen[k.pkg] {
			seen[k.pkg] = true
			out = append(out, k.pkg)
		}
	}
	sort.Strings(out)
	return out
}

// only are the outcomes of some packages.
func only(o *outcomes, pkgs []string) *outcomes {
	wanted := map[string]bool{}
	for _, p := range pkgs {
		wanted[p] = true
	}
	out := &outcomes{passed: map[testKey]bool{}, said: o.said}
	for k, v := range o.passed {
		if wanted[k.pkg] {
			out.passed[k] = v
		}
	}
	return out
}

// testedPackages are the packages that change, and those that import them.
func (p *Plan) testedPackages() []string {
	changed := map[string]bool{}
	for _, c := range p.Changes {
		changed[c.pkg] = true
	}
	tested := map[string]bool{}
	for _, pkg := range p.module.Packages {
		if changed[pkg.PkgPath] || importsAny(pkg, changed) {
			tested[pkg.PkgPath] = true
		}
	}
	var out []string
	for path := range tested {
		out = append(out, path)
	}
	sort.Strings(out)
	return out
}

func importsAny(pkg *packages.Package, paths map[string]bool) bool {
	for path := range pkg.Imports {
		if paths[path] {
			return true
		}
	}
	return false
}
