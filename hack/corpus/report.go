package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A result is what the summary says of a source.
type result struct {
	Name, Module, Version string
	// Tried and Generated count kinds. Generated ones were compiled, vetted, verified, and passed the behavior test unless they are among
	// Failed.
	Tried, Generated int
	// Refused are the reasons by kind.
	Refused map[string]string
	Failed  []string
	// Error is why the source could not be tried to the end.
	Error string
}

func (o outcome) result() result {
	r := result{Name: o.name, Module: o.module, Version: o.version, Tried: len(o.kinds), Generated: len(o.generated), Refused: map[string]string{}, Failed: o.failed}
	for _, k := range o.kinds {
		if k.refused != "" {
			r.Refused[k.String()] = k.refused
		}
	}
	if o.err != nil {
		r.Error = o.err.Error()
	}
	return r
}

// failures counts the kinds that failed: those that were not tried to the end too.
func (r result) failures() int {
	if r.Error != "" {
		return max(1, r.Tried-len(r.Refused))
	}
	return len(r.Failed)
}

// readRecord returns the results in a file: none, if there is no file yet.
func readRecord(name string) (all []result, err error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("-record=%s: %w: name another file, or delete this one", name, err)
	}
	return all, nil
}

// addTo puts results into a file beside those of other sources, and returns all of them. The file is replaced whole, so that a full
// disk costs one part and not all of them.
func addTo(name string, results []result) ([]result, error) {
	all, err := readRecord(name)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		all = slices.DeleteFunc(all, func(old result) bool { return old.Name == r.Name })
		all = append(all, r)
	}
	order := func(name string) int { return slices.IndexFunc(sources, func(s source) bool { return s.name == name }) }
	slices.SortFunc(all, func(a, b result) int { return order(a.Name) - order(b.Name) })
	content, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(name+".new", content, 0o666); err != nil {
		return nil, errors.Join(err, os.Remove(name+".new"))
	}
	return all, os.Rename(name+".new", name)
}

// report prints the table, the reasons of the refusals, and what failed.
func report(out io.Writer, results []result) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"module", "version", "tried", "generated", "refused", "failed"})
	var tried, generated, refused, failed int
	for _, r := range results {
		t.AppendRow(table.Row{r.Module, r.Version, r.Tried, r.Generated, len(r.Refused), r.failures()})
		tried, generated, refused, failed = tried+r.Tried, generated+r.Generated, refused+len(r.Refused), failed+r.failures()
	}
	t.AppendFooter(table.Row{fmt.Sprintf("%d sources", len(results)), "", tried, generated, refused, failed})
	fmt.Fprintln(out, t.Render())
	vet := "clean"
	for _, r := range results {
		for _, name := range sorted(r.Refused) {
			fmt.Fprintf(out, "refused %s: %s\n", name, r.Refused[name])
		}
		for _, name := range r.Failed {
			fmt.Fprintf(out, "failed %s: %s\n", r.Module, name)
		}
		if r.Error != "" {
			fmt.Fprintf(out, "failed %s: %s\n", r.Module, r.Error)
		}
		if strings.HasPrefix(r.Error, vetting) {
			vet = "not clean"
		}
	}
	fmt.Fprintf(out, "tried: %d, generated: %d, refused: %d, failed: %d, vet: %s\n", tried, generated, refused, failed, vet)
	if failed > 0 {
		return fmt.Errorf("%d kinds failed", failed)
	}
	return nil
}
