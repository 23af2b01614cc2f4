package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/buildversion"
	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// command is what the command line asks for.
type command struct {
	opts     check.Options
	audit    bool
	fix      bool
	diff     bool
	json     bool
	format   string
	baseline string
	explain  string
	tags     string
	version  bool
	patterns []string
}

func parse(args []string, stderr io.Writer) (*command, error) {
	c := &command{}
	fs := flag.NewFlagSet("statuspatcher-lint", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, usage)
		fs.PrintDefaults()
	}
	c.opts.Register(fs)
	fs.BoolVar(&c.audit, "audit", false, "list every site with its class, and exit 0")
	fs.BoolVar(&c.fix, "fix", false, "apply the suggested fixes, and print what was fixed and why the rest was left")
	fs.StringVar(&c.explain, "explain", "", "describe `CLASS`, with an example, and exit")
	fs.BoolVar(&c.diff, "diff", false, "show what -fix would change, and change nothing")
	fs.BoolVar(&c.json, "json", false, "print diagnostics in the JSON of analysis drivers")
	fs.StringVar(&c.format, "format", "text", "format of the audit: "+strings.Join(audit.Formats, ", "))
	fs.StringVar(&c.baseline, "baseline", "", "leave out what is in `FILE`, an earlier -audit -format=json")
	fs.StringVar(&c.tags, "tags", "", "comma-separated build tags, as in go build")
	fs.BoolVar(&c.version, "version", false, "print the version")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	c.patterns = fs.Args()
	switch {
	case !slices.Contains(audit.Formats, c.format):
		return nil, fmt.Errorf("format %q is unknown: expected one of %s", c.format, strings.Join(audit.Formats, ", "))
	case c.format != "text" && !c.audit:
		return nil, fmt.Errorf("-format=%s needs -audit; for diagnostics there is -json", c.format)
	case c.audit && (c.fix || c.diff):
		return nil, errors.New("-audit lists and -fix changes: ask for one of them")
	}
	if len(c.patterns) == 0 {
		c.patterns = []string{"."}
	}
	return c, nil
}

func standalone(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitClean
	}
	if err != nil {
		return fail(stderr, err)
	}
	if c.explain != "" {
		return c.explained(stdout, stderr)
	}
	if c.version {
		fmt.Fprintln(stdout, buildversion.Line("statuspatcher-lint"))
		return exitClean
	}
	var base *audit.Baseline
	if c.baseline != "" {
		if base, err = audit.ReadBaseline(c.baseline); err != nil {
			return fail(stderr, err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return fail(stderr, err)
	}
	load := driver.Load{Dir: dir, Patterns: c.patterns, Tags: c.tags, Tests: c.opts.Tests}
	stop := announceOn(stderr, "loading packages")
	m, err := load.Run()
	stop()
	if err != nil {
		return fail(stderr, fmt.Errorf("cannot load %s: %w", strings.Join(c.patterns, " "), err))
	}
	notes, err := c.opts.CheckWrappers(m.Program)
	if err != nil {
		return fail(stderr, err)
	}
	for _, note := range notes {
		fmt.Fprintln(stderr, "statuspatcher-lint: "+note)
	}
	for _, p := range m.Problems {
		fmt.Fprintln(stderr, "statuspatcher-lint: "+p.Error())
	}
	return c.report(m, load, base, stdout, stderr)
}

func (c *command) explained(stdout, stderr io.Writer) int {
	doc := class.DocOf(class.Class(c.explain))
	if doc.Class == "" {
		return fail(stderr, fmt.Errorf("class %q is unknown: expected one of %v", c.explain, class.All()))
	}
	fmt.Fprint(stdout, doc.Explain())
	return exitClean
}

func (c *command) report(m *driver.Module, load driver.Load, base *audit.Baseline, stdout, stderr io.Writer) int {
	res := m.Check(c.opts)
	res.Without(base)
	if c.audit {
		for i := range res.Directives {
			fmt.Fprintln(stderr, c.line(m, res.Directives[i]))
		}
		if err := audit.Write(stdout, c.format, res.Records()); err != nil {
			return fail(stderr, err)
		}
		return exitOf(m, exitClean)
	}
	items := res.Reported(c.opts)
	if c.json {
		if err := driver.WriteJSON(stdout, m.Fset, items, res.Directives); err != nil {
			return fail(stderr, err)
		}
		return exitOf(m, exitClean)
	}
	if c.fix || c.diff {
		return c.applyFixes(m, load, items, stdout, stderr)
	}
	for _, it := range items {
		fmt.Fprintln(stdout, driver.Line(m, it))
	}
	for _, d := range res.Directives {
		fmt.Fprintln(stdout, c.line(m, d))
	}
	if len(items)+len(res.Directives) > 0 {
		return exitOf(m, exitFindings)
	}
	return exitOf(m, exitClean)
}

func (c *command) line(m *driver.Module, d driver.Directive) string {
	return m.Position(d.Pos) + ": " + d.Message
}

// exitOf is code, unless something could not be looked at.
func exitOf(m *driver.Module, code int) int {
	if len(m.Problems) > 0 {
		return exitFailed
	}
	return code
}

const useMigrate = "-fix makes small local changes only; to move writes to generated patchers, run statuspatcher-migrate"

// applyFixes writes, or shows, what the safe fixes come to, and then reports what is left.
func (c *command) applyFixes(m *driver.Module, load driver.Load, items []driver.Item, stdout, stderr io.Writer) int {
	fixed, err := m.Fix(load, items)
	if err != nil {
		return fail(stderr, err)
	}
	for _, p := range fixed.Failed {
		fmt.Fprintf(stderr, "statuspatcher-lint: %s does not compile after the fix, and was left unchanged: %s\n", p.Package, strings.Join(p.Errors, "\n\t"))
	}
	if c.opts.Ban {
		fmt.Fprintln(stderr, "statuspatcher-lint: "+useMigrate)
	}
	for _, f := range fixed.Files {
		if c.diff {
			fmt.Fprint(stdout, m.Diff(f))
			continue
		}
		if err := f.Write(); err != nil {
			return fail(stderr, err)
		}
	}
	fmt.Fprintf(stderr, "statuspatcher-lint: %s\n", m.Summary(fixed, items))
	left := 0
	for _, it := range items {
		if fixed.Done[it.Finding] && !c.diff {
			continue
		}
		left++
		if !c.diff {
			fmt.Fprintln(stdout, driver.Line(m, it))
		} else if !fixed.Done[it.Finding] {
			fmt.Fprintln(stderr, driver.Line(m, it))
		}
	}
	if left > 0 {
		return exitOf(m, exitFindings)
	}
	return exitOf(m, exitClean)
}
