package fix

import (
	"go/ast"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// local: the object is declared in the block, or around it and not used any more after it: then the block's own may have
// its name.
func (b *retryBlock) local() bool {
	v := rootIdent(b.fn.Pkg, b.site.Site.Object())
	if v == nil {
		return false
	}
	owner := b.fn.Pkg.Owner(v)
	if owner == b.fn {
		return true
	}
	if owner == nil || owner != b.fn.Outer || owner.Lit != nil {
		return false
	}
	if _, param := owner.ParamIndex(v); param || looped(owner, b.call) {
		return false
	}
	b.outer = true
	free := true
	ast.Inspect(owner.Body(), func(n ast.Node) bool {
		if _, deferred := n.(*ast.DeferStmt); deferred || n != nil && n.Pos() > b.fn.Lit.End() {
			free = free && !mentions(b.fn.Pkg, n, v)
		}
		return free
	})
	return free
}

func looped(fn *flow.Func, n ast.Node) bool {
	for ; n != nil && n != fn.Node(); n = fn.Parent(n) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		}
	}
	return false
}

// outerDecl is the declaration around the block, if only the block uses it.
func (b *retryBlock) outerDecl() ast.Stmt {
	var decl ast.Stmt
	used := false
	ast.Inspect(b.fn.Outer.Body(), func(n ast.Node) bool {
		if n == ast.Node(b.fn.Lit) {
			return false
		}
		if stmt, ok := n.(ast.Stmt); ok && b.declares(stmt) {
			decl = stmt
			return false
		}
		id, ok := n.(*ast.Ident)
		used = used || ok && b.fn.Pkg.Info.Uses[id] == b.obj
		return true
	})
	if used {
		return nil
	}
	return decl
}

// firstGet is the Get, if it is the first that the block does with the object.
func (b *retryBlock) firstGet() ast.Stmt {
	for _, stmt := range b.fn.Body().List {
		if call, _, _ := getOf(b.fn, stmt); call != nil && len(call.Args) == 3 && rootIdent(b.fn.Pkg, call.Args[2]) == b.obj {
			return stmt
		}
		if mentions(b.fn.Pkg, stmt, b.obj) {
			return nil
		}
	}
	return nil
}
