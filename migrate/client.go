package migrate

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// clientOf returns the expression of the client.Client behind the call c.Status() of a write.
func (m *mover) clientOf(s *write) (string, *reason) {
	sel, ok := ast.Unparen(s.Call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", because(s.Call, hintClient, "the write is called through a function value")
	}
	writer, ok := ast.Unparen(sel.X).(*ast.CallExpr)
	if !ok {
		return "", because(sel.X, hintClient, "the client is not in sight, only its status writer")
	}
	on, ok := ast.Unparen(writer.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", because(writer, hintClient, "the status writer comes from a function")
	}
	pkg := s.Fn.Pkg
	iface := clientInterface(pkg.Types)
	if iface == nil {
		return "", because(writer, hintClient, "the package does not know the type client.Client")
	}
	text := m.src.text(on.X)
	if chosen := pkg.Info.Selections[on]; chosen != nil {
		if path, ok := embeddedClient(pkg, chosen, iface); ok {
			return text + path, nil
		}
	}
	if t := pkg.TypeOf(on.X); t != nil && types.Implements(t, iface) {
		return text, nil
	}
	return "", because(on.X, hintClient, "%s is not a client.Client", text)
}

// embeddedClient returns the selectors of the embedded field that has the method Status: .Client.
func embeddedClient(pkg *flow.Package, chosen *types.Selection, iface *types.Interface) (string, bool) {
	t, path := chosen.Recv(), ""
	index := chosen.Index()
	for _, i := range index[:len(index)-1] {
		s := structOf(t)
		if s == nil {
			return "", false
		}
		field := s.Field(i)
		if !field.Exported() && field.Pkg() != pkg.Types {
			return "", false
		}
		path, t = path+"."+field.Name(), field.Type()
	}
	return path, types.Implements(t, iface)
}

func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

// clientInterface is controller-runtime's client.Client, as the package sees it.
func clientInterface(pkg *types.Package) *types.Interface {
	found := imported(pkg, kube.ClientPath, map[*types.Package]bool{})
	if found == nil {
		return nil
	}
	tn, ok := found.Scope().Lookup("Client").(*types.TypeName)
	if !ok {
		return nil
	}
	iface, _ := tn.Type().Underlying().(*types.Interface)
	return iface
}

// imported finds a package among all that pkg imports, directly or not.
func imported(pkg *types.Package, path string, seen map[*types.Package]bool) *types.Package {
	if seen[pkg] {
		return nil
	}
	seen[pkg] = true
	for _, imp := range pkg.Imports() {
		if imp.Path() == path {
			return imp
		}
	}
	for _, imp := range pkg.Imports() {
		if found := imported(imp, path, seen); found != nil {
			return found
		}
	}
	return nil
}
