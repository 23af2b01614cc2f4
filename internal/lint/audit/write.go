package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Formats are the names that Write knows.
var Formats = []string{"text", "markdown", "json", "sarif"}

// Write prints records in a format.
func Write(w io.Writer, format string, records []Record) error {
	switch format {
	case "json":
		return writeJSON(w, records)
	case "sarif":
		return writeSARIF(w, records)
	case "text", "markdown":
		return writeTables(w, format == "markdown", records)
	}
	return fmt.Errorf("format %q is unknown: expected one of %v", format, Formats)
}

func writeJSON(w io.Writer, records []Record) error {
	if records == nil {
		records = []Record{} // an array, even an empty one
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(records)
}

// verdicts in the order in which a reader wants them.
var verdicts = []struct {
	verdict class.Verdict
	title   string
}{
	{class.Fix, "To fix"},
	{class.NotKnown, "Unknown: look here"},
	{class.OK, "OK"},
	{class.Info, "Allowed by a directive"},
	{class.OutOfScope, "Out of scope"},
}

func writeTables(w io.Writer, markdown bool, records []Record) error {
	for _, v := range verdicts {
		rows := withVerdict(records, v.verdict)
		if len(rows) == 0 {
			continue
		}
		title := v.title
		if markdown {
			title = "### " + title
		}
		if _, err := fmt.Fprintf(w, "%s\n\n%s\n\n", title, render(siteTable(rows, markdown), markdown)); err != nil {
			return err
		}
	}
	title := "Counts"
	if markdown {
		title = "### " + title
	}
	if _, err := fmt.Fprintf(w, "%s\n\n%s\n", title, render(countTable(records), markdown)); err != nil {
		return err
	}
	if partial(records) {
		_, err := fmt.Fprintln(w, "\n* partial: the package does not type-check, there may be more")
		return err
	}
	return nil
}

func partial(records []Record) bool {
	for _, r := range records {
		if r.Partial {
			return true
		}
	}
	return false
}

func render(t table.Writer, markdown bool) string {
	if markdown {
		return t.RenderMarkdown()
	}
	return t.Render()
}

func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	// Column names are those of the JSON, so they are not shouted.
	t.Style().Format.Header = text.FormatDefault
	t.Style().Format.Footer = text.FormatDefault
	t.AppendHeader(table.Row(header))
	return t
}

func siteTable(rows []Record, markdown bool) table.Writer {
	t := newTable("site", "function", "call", "kind", "class", "reason")
	if !markdown {
		t.SetColumnConfigs([]table.ColumnConfig{{Name: "reason", WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}})
	}
	for _, r := range rows {
		site := r.File + ":" + strconv.Itoa(r.Line)
		if r.Partial {
			site += " *"
		}
		t.AppendRow(table.Row{site, r.Function, r.Call, r.Kind, string(r.Class), r.Reason})
	}
	return t
}

func countTable(records []Record) table.Writer {
	t := newTable("verdict", "class", "sites")
	for _, v := range verdicts {
		counts := map[class.Class]int{}
		var order []class.Class
		for _, r := range withVerdict(records, v.verdict) {
			if counts[r.Class] == 0 {
				order = append(order, r.Class)
			}
			counts[r.Class]++
		}
		class.Sort(order)
		for _, c := range order {
			t.AppendRow(table.Row{string(v.verdict), string(c), counts[c]})
		}
	}
	t.AppendFooter(table.Row{"all", "", len(records)})
	return t
}

func withVerdict(records []Record, v class.Verdict) []Record {
	var out []Record
	for _, r := range records {
		if r.Verdict == v {
			out = append(out, r)
		}
	}
	return out
}
