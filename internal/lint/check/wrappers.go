package check

import (
	"errors"
	"fmt"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// CheckWrappers says which of the wrappers are no functions of the packages that they name, and notes those whose package
// is neither in the program nor imported by it. A vet tool sees one package at a time, so there the notes mean nothing.
func (o Options) CheckWrappers(prog *flow.Program) (notes []string, err error) {
	var errs []error
	for _, name := range o.Wrappers {
		w, err := site.ParseWrapper(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		seen := false
		for _, pkg := range prog.Packages {
			here, err := w.In(pkg.Types)
			seen = seen || here
			if err != nil {
				errs = append(errs, err)
				break
			}
		}
		if !seen {
			notes = append(notes, fmt.Sprintf("wrapper %q: no package that was loaded is, or imports, %s", name, w.Package))
		}
	}
	return notes, errors.Join(errs...)
}
