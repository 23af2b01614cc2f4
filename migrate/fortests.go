package migrate

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// madeForTests reports whether the object of a finding is made only in set-up code for tests that is not in a _test.go file: in a
// declaration that names a fake or a test server. Production code hands over another object.
func (m *mover) madeForTests(f *class.Finding) bool {
	if len(f.Related) == 0 {
		return false
	}
	for _, r := range f.Related {
		if !m.inTestSetup(r.Pos) {
			return false
		}
	}
	return true
}

func (m *mover) inTestSetup(pos token.Pos) bool {
	for _, pkg := range m.program.Packages {
		file := fileOf(pkg, pos)
		if file == nil {
			continue
		}
		for _, d := range file.Decls {
			if d.Pos() <= pos && pos <= d.End() {
				return namesFake(pkg, d)
			}
		}
	}
	return false
}

// namesFake reports whether a declaration uses a package that is for tests, by its path.
func namesFake(pkg *flow.Package, d ast.Decl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			if obj := pkg.Info.Uses[id]; obj != nil && obj.Pkg() != nil {
				path := obj.Pkg().Path()
				found = path == "testing" || path == "net/http/httptest" || strings.HasSuffix(path, "/fake")
			}
		}
		return !found
	})
	return found
}
