// Command statuspatcher-lint finds handwritten status writes in Kubernetes controllers.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/statuspatcher/statuspatcher/lint"
	"github.com/statuspatcher/statuspatcher/lint/audit"
	"github.com/statuspatcher/statuspatcher/lint/driver"
)

func main() {
	dir, _ := os.Getwd()
	m, err := driver.Load{Dir: dir, Patterns: os.Args[len(os.Args)-1:]}.Run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := lint.NewCheck(m.Program, lint.Options{})
	out := []audit.Record{}
	for _, p := range m.Packages {
		for _, f := range c.Findings(m.Flow[p]) {
			out = append(out, audit.New(m.Fset, m.Root, f))
		}
	}
	json.NewEncoder(os.Stdout).Encode(out)
}
