package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
	"github.com/statuspatcher/statuspatcher/lint"
)

// vetTool speaks the protocol of go vet -vettool: -V=full, -flags, and one unit.cfg a package.
//
// It is not unitchecker.Main, which type-checks every dependency down to the standard library to hand its types on. This rule has
// no facts, so dependencies cost nothing here: their types come from the compiler's export data.
func vetTool(args []string, stdout, stderr io.Writer) int {
	var opts check.Options
	fs := flag.NewFlagSet("statuspatcher-lint", flag.ContinueOnError)
	fs.SetOutput(stderr)
	opts.Register(fs)
	asJSON := fs.Bool("json", false, "print diagnostics in JSON")
	describe := fs.Bool("flags", false, "describe the flags in JSON")
	version := fs.String("V", "", "describe the executable")
	if err := fs.Parse(args); err != nil {
		return exitFailed
	}
	switch {
	case *version != "":
		unitchecker.Main(lint.Analyzer) // prints the executable's hash, by which go vet caches, and exits
	case *describe:
		return describeFlags(fs, stdout, stderr)
	}
	u, err := readUnit(fs.Arg(0))
	if err != nil {
		return fail(stderr, err)
	}
	if err := os.WriteFile(u.VetxOutput, nil, 0o666); u.VetxOutput != "" && err != nil {
		return fail(stderr, err)
	}
	if u.VetxOnly || !u.relevant() {
		return exitClean
	}
	return u.run(opts, *asJSON, stdout, stderr)
}

func describeFlags(fs *flag.FlagSet, stdout, stderr io.Writer) int {
	type jsonFlag struct {
		Name  string
		Bool  bool
		Usage string
	}
	var flags []jsonFlag
	fs.VisitAll(func(f *flag.Flag) {
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		flags = append(flags, jsonFlag{f.Name, ok && b.IsBoolFlag(), f.Usage})
	})
	if err := json.NewEncoder(stdout).Encode(flags); err != nil {
		return fail(stderr, err)
	}
	return exitClean
}

// unit is one package as go vet describes it.
type unit struct{ unitchecker.Config }

func readUnit(name string) (*unit, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	u := &unit{}
	if err := json.Unmarshal(data, &u.Config); err != nil {
		return nil, fmt.Errorf("cannot decode %s, expected the JSON of a unit from go vet: %w", name, err)
	}
	return u, nil
}

// relevant: what the package imports leads to a client at all.
func (u *unit) relevant() bool {
	for path := range u.PackageFile {
		if kube.LeadsToClient(path) {
			return true
		}
	}
	return false
}

func (u *unit) run(opts check.Options, asJSON bool, stdout, stderr io.Writer) int {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range u.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fail(stderr, err)
		}
		files = append(files, f)
	}
	pkg, info, problems := u.check(fset, files)
	ds, err := check.Diagnose(&flow.Package{Fset: fset, Files: files, Types: pkg, Info: info}, opts)
	if err != nil {
		return fail(stderr, err)
	}
	if u.Stdout != "" {
		f, err := os.Create(u.Stdout)
		if err != nil {
			return fail(stderr, err)
		}
		defer f.Close()
		stdout = f
	}
	code := exitClean
	if asJSON {
		if err := driver.WriteDiagnostics(stdout, fset, u.ID, ds); err != nil {
			return fail(stderr, err)
		}
	} else if len(ds) > 0 {
		printPlain(stderr, fset, ds)
		code = exitFailed // what go vet expects for findings
	}
	if len(problems) > 0 && !u.SucceedOnTypecheckFailure {
		return fail(stderr, fmt.Errorf("%s could not be analysed in full; what was reported for it is partial: %w", u.ImportPath, errors.Join(problems...)))
	}
	return code
}

func printPlain(w io.Writer, fset *token.FileSet, ds []analysis.Diagnostic) {
	for _, d := range ds {
		fmt.Fprintf(w, "%s: %s\n", fset.Position(d.Pos), d.Message)
	}
}

// check type-checks as far as that goes.
func (u *unit) check(fset *token.FileSet, files []*ast.File) (*types.Package, *types.Info, []error) {
	var problems []error
	conf := types.Config{
		Importer:  importer.ForCompiler(fset, "gc", u.exportData),
		Sizes:     types.SizesFor("gc", build.Default.GOARCH),
		GoVersion: u.GoVersion,
		Error:     func(err error) { problems = append(problems, err) },
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf.Importer = mapped{conf.Importer, u.ImportMap}
	path, _, _ := strings.Cut(u.ImportPath, " ")
	pkg, _ := conf.Check(path, fset, files, info) // errors went to problems
	return pkg, info, problems
}

// exportData opens what the compiler wrote for a package.
func (u *unit) exportData(path string) (io.ReadCloser, error) {
	file, ok := u.PackageFile[path]
	if !ok {
		return nil, fmt.Errorf("go vet names no export data for %q", path)
	}
	return os.Open(filepath.Clean(file))
}

// mapped resolves vendored and test variants of import paths.
type mapped struct {
	types.Importer
	paths map[string]string
}

func (m mapped) Import(path string) (*types.Package, error) {
	if p, ok := m.paths[path]; ok {
		path = p
	}
	return m.Importer.Import(path)
}
