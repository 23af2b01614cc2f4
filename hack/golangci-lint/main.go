// Command golangci-lint is golangci-lint with the statuspatcher plugin in it, built from the module proxy:
//
//	go build -C hack/golangci-lint -o ../../bin/golangci-lint .
package main

import (
	"fmt"
	"os"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"

	_ "github.com/statuspatcher/statuspatcher/lint/gclplugin"
)

func main() {
	info := commands.BuildInfo{GoVersion: "built from the module proxy", Version: "with statuspatcher"}
	if err := commands.Execute(info); err != nil {
		fmt.Fprintf(os.Stderr, "golangci-lint: %v\n", err)
		os.Exit(exitcodes.Failure)
	}
}
