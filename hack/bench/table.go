package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// A sample is what one contestant measured in one round.
type sample map[string]float64

// summarise makes a row a contestant of the samples, which are by contestant and round. The first is what others are
// compared with.
func summarise(table, name string, by []string, samples map[string][]sample) []row {
	var rows []row
	for _, who := range by {
		r := row{Table: table, Case: name, By: who, Metrics: sample{}, Ratios: sample{}}
		if len(samples[who]) == 0 {
			continue
		}
		for unit := range samples[who][0] {
			var values, ratios []float64
			for round, s := range samples[who] {
				values = append(values, s[unit])
				if first := samples[by[0]][round][unit]; first > 0 {
					ratios = append(ratios, s[unit]/first)
				}
			}
			r.Metrics[unit] = median(values)
			if len(ratios) > 0 {
				r.Ratios[unit] = median(ratios)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func median(values []float64) float64 {
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}

// ratioUnits are what depends on the machine: the table shows its ratio.
var ratioUnits = map[string]bool{"cpu-ns/op": true, "cpu-s": true, "wall-s": true, "peak-MB": true, "landed/s": true, "p50-ms": true, "p99-ms": true}

// print writes a table for each of the cases' sets of units.
func print(w io.Writer, rows []row) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var units []string
	for _, r := range rows {
		if now := slices.Sorted(maps.Keys(r.Metrics)); !slices.Equal(now, units) {
			units = now
			fmt.Fprintf(tab, "\n%s\tby\t", r.Table)
			for _, unit := range units {
				if ratioUnits[unit] {
					unit += " ratio"
				}
				fmt.Fprintf(tab, "%s\t", unit)
			}
			fmt.Fprintln(tab)
		}
		fmt.Fprintf(tab, "%s\t%s\t", r.Case, r.By)
		for _, unit := range units {
			if ratio, ok := r.Ratios[unit]; ok && ratioUnits[unit] {
				fmt.Fprintf(tab, "%.2f x\t", ratio)
			} else {
				fmt.Fprintf(tab, "%.4g\t", r.Metrics[unit])
			}
		}
		fmt.Fprintln(tab)
	}
	_ = tab.Flush()
}
