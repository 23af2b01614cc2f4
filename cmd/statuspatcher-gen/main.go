// Command statuspatcher-gen writes a typed status patcher for each Kubernetes API type that is marked with
// +statuspatcher:generate=true. statuspatcher-gen -h lists its options.
package main

import (
	"os"

	"github.com/statuspatcher/statuspatcher/generator"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	o, err := generator.ParseOptions(args)
	if err == nil {
		err = generator.Run(o, os.Stdout)
	}
	return report(err, os.Stderr)
}
