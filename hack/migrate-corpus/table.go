package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A row is what became of the writes of one operator.
type row struct {
	name string
	// own are the writes of kinds of the operator through a client.Client; clientset those of the same kinds through a clientset, which
	// have no client.Client to flush with.
	writes, checked, own, clientset, moved, left int
	shapes, reasons                              map[string]int
	tests                                        string // passed and failed, before / after
}

func newRow(name string, sites []site) row {
	r := row{name: name, shapes: map[string]int{}, reasons: map[string]int{}}
	for _, s := range sites {
		r.writes++
		if s.Checked {
			r.checked++
		}
		r.shapes[s.Shape]++
		switch {
		case s.Own && strings.HasPrefix(s.Shape, "clientset"):
			r.clientset++
		case s.Own:
			r.own++
		}
		if s.Verdict == "moved" {
			r.moved++
			continue
		}
		r.left++
		r.reasons[s.Reason]++
	}
	return r
}

// share is the part of the writes of generated kinds that is moved; all of them if there are none.
func (r row) share() float64 {
	if r.own == 0 {
		return 1
	}
	return float64(r.moved) / float64(r.own)
}

func (r row) String() string {
	share, tests := "none", r.tests
	if r.own > 0 {
		share = fmt.Sprintf("%.0f %%", 100*r.share())
	}
	if tests == "" {
		tests = "not run"
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %s | %s | %s |", r.name, r.writes, r.checked, r.clientset, r.own, r.moved, share, counted(r.shapes), tests)
}

// counted lists what was counted, the most frequent first.
func counted(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(out, ", ")
}

// shares are the median share of the operators that write kinds of their own, and the share of all their writes.
func shares(rows []row) (median, pooled float64) {
	var each []float64
	own, moved := 0, 0
	for _, r := range rows {
		if r.own > 0 {
			each = append(each, r.share())
			own, moved = own+r.own, moved+r.moved
		}
	}
	if len(each) == 0 {
		return 1, 1
	}
	slices.Sort(each)
	return (each[(len(each)-1)/2] + each[len(each)/2]) / 2, float64(moved) / float64(own)
}

func print(w io.Writer, rows []row) {
	fmt.Fprintln(w, "Each operator builds after the move, and the packages that changed vet.")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| operator | writes | checked by Wrap | of own kinds: by clientset | by client.Client | moved | share | all writes by shape | tests before / after |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
	median, pooled := shares(rows)
	checked, writes := 0, 0
	for _, r := range rows {
		checked, writes = checked+r.checked, writes+r.writes
	}
	fmt.Fprintf(w, "\nmoved: %.0f %% (median), %.0f %% (of all); checked by Wrap: %d of %d\n\nleft:\n", 100*median, 100*pooled, checked, writes)
	for _, r := range rows {
		for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
			fmt.Fprintf(w, "- %s: %d: %s\n", r.name, r.reasons[reason], reason)
		}
	}
}
