// Command statuspatcher is an external plugin of kubebuilder, statuspatcher/v1, which adds status patchers to a project:
//
//	kubebuilder init --plugins go/v4,statuspatcher/v1
//
// kubebuilder looks for it in $HOME/.config/kubebuilder/plugins/statuspatcher/v1, or below $EXTERNAL_PLUGINS_PATH.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/statuspatcher/statuspatcher/internal/buildversion"
	"github.com/statuspatcher/statuspatcher/internal/scaffold"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintln(out, buildversion.Line("statuspatcher"))
		return 0
	}
	if len(args) > 0 {
		fmt.Fprintf(errs, "statuspatcher: %q: this program has no arguments but --version: kubebuilder runs it, see docs/kubebuilder.md\n", args)
		return 2
	}
	if err := scaffold.Serve(in, out, errs, buildversion.Released()); err != nil {
		fmt.Fprintf(errs, "statuspatcher: %v\n", err)
		return 1
	}
	return 0
}
