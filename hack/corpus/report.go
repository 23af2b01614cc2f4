package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// report prints the table, the reasons of the refusals, and what failed.
func report(out io.Writer, outcomes []outcome) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"module", "version", "kinds", "generated", "refused", "failed"})
	var kinds, generated, refused, failed int
	for _, o := range outcomes {
		n := 0
		for _, k := range o.kinds {
			if k.refused != "" {
				n++
			}
		}
		f := len(o.failed)
		if o.err != nil {
			f = max(1, len(o.kinds)-n)
		}
		t.AppendRow(table.Row{o.module, o.version, len(o.kinds), len(o.generated), n, f})
		kinds, generated, refused, failed = kinds+len(o.kinds), generated+len(o.generated), refused+n, failed+f
	}
	t.AppendFooter(table.Row{"", "", kinds, generated, refused, failed})
	fmt.Fprintln(out, t.Render())
	for _, o := range outcomes {
		for _, k := range o.kinds {
			if k.refused != "" {
				fmt.Fprintf(out, "refused %s: %s\n", k, k.refused)
			}
		}
		for _, name := range o.failed {
			fmt.Fprintf(out, "failed %s: %s\n", o.module, name)
		}
		if o.err != nil {
			fmt.Fprintf(out, "failed %s: %v\n", o.module, o.err)
		}
	}
	fmt.Fprintf(out, "tried: %d, generated: %d, refused: %d, failed: %d\n", kinds, generated, refused, failed)
	if failed > 0 {
		return fmt.Errorf("%d kinds failed", failed)
	}
	return nil
}
