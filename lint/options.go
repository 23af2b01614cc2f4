package lint

import (
	"flag"

	"github.com/statuspatcher/statuspatcher/internal/lint/check"
)

// Options select what the analyzer looks at and what it reports.
type Options struct {
	Ban      bool     // report every handwritten status write, right or wrong
	Tests    bool     // look at test code, too
	Wrappers []string // full names of functions whose calls count as status writes: example.com/op/pkg.Write, (*example.com/op/pkg.T).Write
}

// register adds the options to a command line.
func (o *Options) register(fs *flag.FlagSet) { (*check.Options)(o).Register(fs) }
