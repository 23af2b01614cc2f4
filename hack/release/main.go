// The release command tags the published modules of this repository at one version:
//
//	go run ./release [-dry-run] v0.2.0
//
// It works in a clone, so that the repository is as it was until everything has succeeded: there it commits the module files in which
// published modules require each other at the version, tags that commit once for each module, consumes what it tagged through a
// file proxy, and commits the module files of development again. Then it brings commits and tags into the repository; with -dry-run
// it does not. Nothing is pushed.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dryRun := flag.Bool("dry-run", false, "do everything but bring the commits and tags into the repository")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: release [-dry-run] VERSION")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run("..", flag.Arg(0), *dryRun, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
