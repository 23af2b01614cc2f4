package lint

import (
	"golang.org/x/tools/go/analysis"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Name is the analyzer's name, for vet tools and golangci-lint alike.
const Name = check.Name

// Analyzer reports the status writes that are wrong; its flags are the fields of Options.
var Analyzer = New(&Options{})

// New makes an analyzer. It reads the options when it runs, so a command line may still set them.
func New(opts *Options) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: Name,
		Doc:  Doc,
		URL:  class.DocsURL,
		// Packages with errors are analyzed as far as they go. No other analyzer is required and no fact: either would
		// make drivers load the syntax of every dependency.
		RunDespiteErrors: true,
	}
	opts.register(&a.Flags)
	a.Run = func(pass *analysis.Pass) (any, error) {
		return nil, run(pass, *opts)
	}
	return a
}

func run(pass *analysis.Pass, opts Options) error {
	ds, err := check.Diagnose(&flow.Package{Fset: pass.Fset, Files: pass.Files, Types: pass.Pkg, Info: pass.TypesInfo, TypeErrors: pass.TypeErrors}, check.Options(opts))
	for _, d := range ds {
		pass.Report(d)
	}
	return err
}
