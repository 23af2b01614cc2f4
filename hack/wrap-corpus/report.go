package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// report prints the table, each test whose result changed, and each blind write by its place.
func report(out io.Writer, outcomes []outcome) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"operator", "tests", "pass bare", "pass wrapped", "changed", "locked", "unchanged, dropped", "had a lock", "apply", "no version", "other kind"})
	unexpected := 0
	for _, o := range outcomes {
		t.AppendRow(table.Row{o.Name, len(o.bare), o.bare.count("pass"), o.wrapped.count("pass"), len(o.changes()),
			o.sum("locked", ""), o.sum("passed unchanged", ""), o.sum("passed locked", ""), o.sum("sent", "blind-apply"),
			o.sum("sent", "") - o.sum("sent", "blind-apply"), o.sum("passed other kind", "")})
	}
	fmt.Fprintln(out, t.Render())
	for _, o := range outcomes {
		unexpected += o.printChanges(out)
	}
	for _, o := range outcomes {
		o.printSites(out)
	}
	if unexpected > 0 {
		return fmt.Errorf("%d tests changed that corpus.json does not expect to, or did not change that it does", unexpected)
	}
	return nil
}

// sum counts the events of a kind; class may be empty.
func (o outcome) sum(what, class string) (n int) {
	for e, count := range o.events {
		if e.What == what && (class == "" || e.Class == class) {
			n += count
		}
	}
	return n
}

// changes are the tests whose results differ.
func (o outcome) changes() map[string]string {
	changes := map[string]string{}
	for name, bare := range o.bare {
		if wrapped := cmp.Or(o.wrapped[name], "not run"); wrapped != bare {
			changes[name] = bare + " -> " + wrapped
		}
	}
	for name, wrapped := range o.wrapped {
		if _, known := o.bare[name]; !known {
			changes[name] = "not run -> " + wrapped
		}
	}
	return changes
}

// printChanges prints the changes and returns how many are not expected.
func (o outcome) printChanges(out io.Writer) (unexpected int) {
	changes := o.changes()
	for _, name := range sortedKeys(changes) {
		reason := o.Changed[name]
		if why := o.Unstable[name]; why != "" {
			reason = "unstable: " + why
		}
		if reason == "" {
			reason = "NOT EXPECTED"
			unexpected++
		}
		fmt.Fprintf(out, "%s: %s: %s: %s\n", o.Name, name, changes[name], reason)
	}
	for _, name := range sortedKeys(o.Changed) {
		if changes[name] == "" {
			fmt.Fprintf(out, "%s: %s: %q in both runs, but corpus.json expects a change: NOT EXPECTED\n", o.Name, name, o.bare[name])
			unexpected++
		}
	}
	return unexpected
}

func (o outcome) printSites(out io.Writer) {
	lines := map[string]int{}
	for e, count := range o.events {
		if e.Site != "" {
			_, site, _ := strings.Cut(e.Site, "/"+o.Name+"/")
			lines[fmt.Sprintf("%s: %s: %s of %s, %s", o.Name, site, e.Class, e.Kind, e.What)] += count
		}
	}
	for _, line := range sortedKeys(lines) {
		fmt.Fprintf(out, "%s: %d times\n", line, lines[line])
	}
}
