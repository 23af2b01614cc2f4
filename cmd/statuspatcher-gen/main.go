// Command statuspatcher-gen writes a typed status patcher for each Kubernetes API type that is marked with
// +statuspatcher:generate=true. statuspatcher-gen -h lists its options.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/statuspatcher/statuspatcher/generator"
	"github.com/statuspatcher/statuspatcher/internal/buildversion"
)

func main() { os.Exit(run("", os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process, for tests: dir is the directory to run in.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("statuspatcher-gen", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(io.Discard)
	helpLevel := flags.CountP("help", "h", "")
	markerLevel := flags.CountP("which-markers", "w", "")
	version := flags.Bool("version", false, "")
	if err := flags.Parse(args); err != nil {
		return report(generator.UsageError{Text: err.Error() + withoutDashes(args)}, stderr)
	}
	switch {
	case *helpLevel > 0:
		return report(printUsage(stdout, *helpLevel), stderr)
	case *markerLevel > 0:
		return report(printMarkers(stdout, *markerLevel), stderr)
	case *version:
		return report(printVersion(stdout), stderr)
	}
	o, err := generator.ParseOptions(flags.Args())
	o.Dir = dir
	if err == nil {
		err = generator.Run(o, stdout, stderr)
	}
	return report(err, stderr)
}

// withoutDashes is the advice to somebody who wrote an option as a flag.
func withoutDashes(args []string) string {
	for _, arg := range args {
		option := strings.TrimLeft(arg, "-")
		name, _, _ := strings.Cut(option, "=")
		for _, def := range generator.OptionsRegistry().AllDefinitions() {
			if option != arg && def.Name == name {
				return ": options have no dashes: write " + option
			}
		}
	}
	return ""
}

func printVersion(out io.Writer) error {
	_, err := fmt.Fprintln(out, buildversion.Line("statuspatcher-gen"))
	return err
}
