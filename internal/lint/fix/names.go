package fix

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
	"unicode"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// statusesNames are names for the variable that holds a kind's generated client.
func statusesNames(kind *types.Named) []string {
	return []string{lowerFirst(kind.Obj().Name()) + "Statuses", "statuses"}
}

// lowerFirst makes the first word of a name lower case, as a whole where it is an initialism: hcpAuth, not hCPAuth.
func lowerFirst(name string) string {
	upper := 0
	for upper < len(name) && unicode.IsUpper(rune(name[upper])) {
		upper++
	}
	if upper > 1 && upper < len(name) {
		upper-- // the last one begins the next word
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}

// freshIn is the first of the names that the function does not use.
func (m *mover) freshIn(fn *flow.Func, names ...string) string {
	used := map[string]bool{}
	ast.Inspect(fn.Node(), func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for _, n := range names {
		if !used[n] && m.fn.Pkg.Types.Scope().Lookup(n) == nil {
			return n
		}
	}
	return ""
}

// imports adds the patcher package and, where it is named, the runtime, beside the import of the API package.
func (m *mover) imports() bool {
	file := m.file()
	api := importOf(file, m.kind.Obj().Pkg().Path())
	if api == nil {
		return false
	}
	names := map[string]string{path.Base(m.child): m.child}
	if m.runtime {
		names["patcher"] = kube.PatcherPath
	}
	for name, p := range names {
		spec := importOf(file, p)
		switch {
		case spec == nil && !m.nameTaken(file, name):
			m.replace(api.End(), api.End(), "\n\t\""+p+"\"")
		case spec == nil || spec.Name != nil && spec.Name.Name != name:
			return false
		}
	}
	return true
}

func (m *mover) file() *ast.File {
	for _, f := range m.fn.Pkg.Files {
		if f.FileStart <= m.fn.Node().Pos() && m.fn.Node().Pos() < f.FileEnd {
			return f
		}
	}
	return nil
}

func importOf(file *ast.File, p string) *ast.ImportSpec {
	for _, imp := range file.Imports {
		if strings.Trim(imp.Path.Value, "`\"") == p {
			return imp
		}
	}
	return nil
}

// nameTaken: something in the package or the file has the name already.
func (m *mover) nameTaken(file *ast.File, name string) bool {
	if m.fn.Pkg.Types.Scope().Lookup(name) != nil || m.fn.Outermost().Param(-1) != nil && m.fn.Outermost().Param(-1).Name() == name {
		return true
	}
	for _, imp := range file.Imports {
		if imp.Name != nil && imp.Name.Name == name || imp.Name == nil && path.Base(strings.Trim(imp.Path.Value, "`\"")) == name {
			return true
		}
	}
	return false
}

// typeName is the kind as the file names it.
func (m *mover) typeName() string {
	api := m.kind.Obj().Pkg()
	name := api.Name()
	if imp := importOf(m.file(), api.Path()); imp != nil && imp.Name != nil {
		name = imp.Name.Name
	}
	return name + "." + m.kind.Obj().Name()
}
