// Command statuspatcher-migrate moves the handwritten status writes of an operator to generated patchers.
//
//	statuspatcher-migrate ./...         print the plan, and change nothing
//	statuspatcher-migrate -diff ./...   show what -w would change
//	statuspatcher-migrate -w ./...      do it
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/statuspatcher/statuspatcher/internal/buildversion"
	"github.com/statuspatcher/statuspatcher/migrate"
)

// Exit codes.
const (
	exitClean  = 0
	exitFailed = 1
	exitLeft   = 3
)

func main() { os.Exit(run("", os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `statuspatcher-migrate moves the handwritten status writes of an operator to generated patchers.

Without -w it prints the plan and changes nothing: where the client of the manager is wrapped, which patchers are
generated, and for each status write whether it is moved or left, with the reason.

Usage: statuspatcher-migrate [flags] [packages]

Exit status: 0 nothing to move, 3 something to move or left, 1 could not look at everything.

Flags:
`

type command struct {
	options migrate.Options
	diff    bool
	write   bool
	apply   migrate.ApplyOptions
	json    bool
	version bool
}

func parse(args []string, stderr io.Writer) (*command, error) {
	c := &command{}
	fs := flag.NewFlagSet("statuspatcher-migrate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, usage)
		fs.PrintDefaults()
	}
	fs.BoolVar(&c.write, "w", false, "apply the plan")
	fs.BoolVar(&c.diff, "diff", false, "show what -w would change, and change nothing")
	fs.BoolVar(&c.apply.Force, "force", false, "with -w, go on though git shows changes that are not committed")
	fs.BoolVar(&c.apply.Test, "test", false, "with -w, run the tests of the packages that change before and after, and put back each move that changes a result")
	fs.StringVar(&c.options.Only, "only", "", "move only the writes of this `PACKAGE, KIND or FUNCTION`")
	fs.StringVar(&c.options.Tags, "tags", "", "comma-separated build tags, as in go build")
	fs.BoolVar(&c.json, "json", false, "print the writes of the plan as JSON")
	fs.BoolVar(&c.version, "version", false, "print the version")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case !c.write && (c.apply.Test || c.apply.Force):
		return nil, errors.New("-test and -force are for -w")
	case c.write && c.diff:
		return nil, errors.New("-w changes files and -diff shows what it would change: give one of them")
	}
	c.options.Patterns = fs.Args()
	if len(c.options.Patterns) == 0 {
		c.options.Patterns = []string{"./..."}
	}
	return c, nil
}

// run is main without the process; dir is the directory to run in.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitClean
	case err != nil:
		return fail(stderr, err)
	case c.version:
		fmt.Fprintln(stdout, buildversion.Line("statuspatcher-migrate"))
		return exitClean
	}
	if c.options.Dir = dir; dir == "" {
		if c.options.Dir, err = os.Getwd(); err != nil {
			return fail(stderr, err)
		}
	}
	if recovered, err := migrate.Recover(c.options.Dir); err != nil {
		return fail(stderr, err)
	} else if recovered {
		fmt.Fprintln(stderr, "statuspatcher-migrate: the last run was interrupted; its files are as they were before it")
	}
	plan, err := migrate.Make(c.options)
	if err != nil {
		return fail(stderr, err)
	}
	for _, problem := range plan.Problems {
		fmt.Fprintln(stderr, "statuspatcher-migrate: "+problem.Error())
	}
	if c.write {
		if err := plan.Apply(c.apply, stderr); err != nil {
			return fail(stderr, err)
		}
	}
	if err := c.print(plan, stdout); err != nil {
		return fail(stderr, err)
	}
	switch {
	case len(plan.Problems) > 0:
		return exitFailed
	case c.write && plan.Counts().Left == 0:
		return exitClean
	case len(plan.Sites) > 0:
		return exitLeft
	}
	return exitClean
}

func (c *command) print(plan *migrate.Plan, stdout io.Writer) error {
	switch {
	case c.diff:
		_, err := io.WriteString(stdout, plan.Diff())
		return err
	case c.json:
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "\t")
		enc.SetEscapeHTML(false)
		return enc.Encode(plan.Sites)
	}
	return plan.Print(stdout)
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "statuspatcher-migrate: "+err.Error())
	return exitFailed
}
