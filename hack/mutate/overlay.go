package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// mutated is a package whose code has all its mutants in it.
type mutatedPackage struct {
	mutants []*mutant
	overlay string // the file for go test -overlay
}

// runtimeCode decides at run time which mutant is alive, and notes which ones were reached.
const runtimeCode = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantAlive, _  = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached  = mutantFile(os.Getenv("MUTANTS_REACHED"))
	mutantsNoted [%d]atomic.Bool
)

func mutantFile(name string) *os.File {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}

func mutated(id int) bool {
	if mutantsReached != nil && !mutantsNoted[id].Swap(true) {
		fmt.Fprintln(mutantsReached, id)
	}
	return id == mutantAlive
}

func mutatedInt(id int) int {
	if mutated(id) {
		return 1
	}
	return 0
}
`

// mutatePackage writes the code with all mutants to out.
func mutatePackage(dir, out string) (*mutatedPackage, error) {
	loaded, err := packages.Load(&packages.Config{
		Dir: dir, Env: append(os.Environ(), "GOWORK=off"),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
	}, ".")
	if err != nil {
		return nil, err
	}
	pkg := loaded[0]
	if len(pkg.Errors) > 0 {
		return nil, fmt.Errorf("%s: %v", dir, pkg.Errors[0])
	}
	p := &mutatedPackage{overlay: filepath.Join(out, "overlay.json")}
	replace := map[string]string{}
	for _, file := range pkg.Syntax {
		m := &mutator{fset: pkg.Fset, info: pkg.TypesInfo, scope: pkg.Types.Scope(), qualify: qualifier(file, pkg.Types), mutants: &p.mutants, choices: map[ast.Node]bool{}, source: map[ast.Node]original{}}
		m.file(file)
		name := pkg.Fset.File(file.Package).Name()
		if replace[name], err = write(out, name, pkg, file); err != nil {
			return nil, err
		}
	}
	added := filepath.Join(filepath.Dir(pkg.GoFiles[0]), "zz_mutants.go")
	replace[added] = filepath.Join(out, "zz_mutants.go")
	if err := os.WriteFile(replace[added], fmt.Appendf(nil, runtimeCode, pkg.Name, len(p.mutants)+1), 0o600); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.overlay, overlay, 0o600)
}

// write prints the file without comments: the positions of what was added are unknown, and comments would land anywhere.
func write(out, name string, pkg *packages.Package, file *ast.File) (string, error) {
	file.Comments, file.Doc = nil, nil
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ImportSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var code bytes.Buffer
	if err := format.Node(&code, pkg.Fset, file); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	to := filepath.Join(out, filepath.Base(name))
	return to, os.WriteFile(to, code.Bytes(), 0o600)
}

// qualifier names packages as the file imports them.
func qualifier(file *ast.File, own *types.Package) types.Qualifier {
	return func(p *types.Package) string {
		if p == own {
			return ""
		}
		for _, imported := range file.Imports {
			if imported.Path.Value == fmt.Sprintf("%q", p.Path()) && imported.Name != nil {
				return imported.Name.Name
			}
		}
		return p.Name()
	}
}
