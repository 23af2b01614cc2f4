package check

import (
	"flag"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// Options say what is looked at and what is reported.
type Options struct {
	Ban      bool     // report every handwritten status write, right or wrong
	Tests    bool     // look at test code, too
	Wrappers []string // full names of functions whose calls count as status writes: example.com/op/pkg.Write, (*example.com/op/pkg.T).Write
}

// Register adds the options to a command line.
func (o *Options) Register(fs *flag.FlagSet) {
	fs.BoolVar(&o.Ban, "ban", o.Ban, "report every handwritten status write, whatever its class")
	fs.BoolVar(&o.Tests, "tests", o.Tests, "look at test code, too: test files, and what names a test framework")
	fs.Func("wrappers", "comma-separated full names of functions whose calls count as status writes", func(s string) error {
		for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			if _, err := site.ParseWrapper(name); err != nil {
				return err
			}
			o.Wrappers = append(o.Wrappers, name)
		}
		return nil
	})
}
