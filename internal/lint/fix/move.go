package fix

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// Patchers finds the package with the generated patchers of an API package; empty if there is none.
type Patchers func(apiPackage string) (path string)

// place is an object in a declared function.
type place struct {
	fn   *flow.Func
	path string
}

// move rewrites, for each function and object, the read and all status writes to the generated patcher, where fetch, base
// and flush stand in that function, or in helpers that only it calls.
func move(findings []*class.Finding, s *safety, patchers Patchers) {
	if patchers == nil {
		return
	}
	groups, order := byPlace(findings)
	helpers := map[place][]*helper{}
	for _, p := range order {
		if h, owner := asHelper(p, groups[p]); h != nil {
			helpers[owner] = append(helpers[owner], h)
			if groups[owner] == nil && len(helpers[owner]) == 1 {
				order = append(order, owner)
			}
		}
	}
	for _, p := range order {
		moveOne(p, groups[p], helpers[p], s, patchers)
	}
}

func byPlace(findings []*class.Finding) (groups map[place][]*class.Finding, order []place) {
	groups = map[place][]*class.Finding{}
	for _, f := range findings {
		if f.Site == nil || !f.Site.Status || f.Site.Object() == nil || f.Class == class.Generated {
			continue
		}
		p := place{f.Fn.Outermost(), f.Fn.Path(f.Site.Object())}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], f)
	}
	return groups, order
}

// moveOne moves a function with its helpers, or else alone.
func moveOne(p place, sites []*class.Finding, helpers []*helper, s *safety, patchers Patchers) {
	var first *doubt
	for _, with := range [][]*helper{helpers, nil} {
		m := &mover{fn: p.fn, path: p.path, sites: sites, helpers: with, safety: s, patchers: patchers}
		if len(m.all()) == 0 {
			return
		}
		edits, blocker := m.edits()
		if blocker == nil {
			for _, f := range m.all() {
				f.Fixes = append(f.Fixes, class.FixEdit{Kind: class.Moved, Message: moveMessage, Safe: true, Edits: edits})
			}
			return
		}
		first = first.or(blocker)
	}
	if !hasPatchers(sites, helpers, patchers) {
		return
	}
	for _, f := range append(slices.Clone(sites), helperSites(helpers)...) {
		f.Fixes = append(f.Fixes, class.FixEdit{Kind: class.Moved, Message: moveMessage, Doubt: first.why, DoubtPos: first.pos})
	}
}

// mover moves one object of one function.
type mover struct {
	fn       *flow.Func
	path     string
	sites    []*class.Finding
	helpers  []*helper
	safety   *safety
	patchers Patchers

	obj     *types.Var // the object's variable
	value   bool       // it is a struct, not a pointer
	kind    *types.Named
	child   string                 // import path of the patcher package
	patcher string                 // name of the patcher's variable
	errName string                 // name of the read's error, which is the function's from then on
	runtime bool                   // the code names the runtime's package
	client  string                 // the client that reads and writes it
	get     ast.Node               // the read
	moved   map[*ast.CallExpr]bool // other writes of the object that go through the patcher, too
	outer   bool                   // the object is declared around the function, which gets its own
	out     []class.Edit
	blocker *doubt // what can write the object between its read and its write
}

// edits are those of the move, or what stands in its way.
func (m *mover) edits() ([]class.Edit, *doubt) {
	for _, step := range []struct {
		run func() bool
		why string
	}{
		{m.movable, "one of the writes in this function is of another class, has options, drops its error, or runs in a retry"},
		{m.object, "the object is no local variable of the function that reads it"},
		{m.fetch, "the object is not declared empty and read by a Get of the same client whose error leaves the function at once"},
		{m.readOnce, "the object is read again"},
		{m.finalizers, ""},
		{m.uses, "the object's variable is copied or given another value"},
		{m.safe, ""},
		{m.flushes, "the base, the patch or the error of a write is used for something else, too"},
		{m.handOn, "a helper that writes the object cannot be given the patcher"},
		{m.imports, "the file's imports cannot be completed"},
	} {
		if step.run() {
			continue
		}
		if m.blocker != nil {
			return nil, m.blocker
		}
		return nil, doubtAt(m.all()[0].Site.Node, step.why)
	}
	return m.out, nil
}

const moveMessage = "Write by the generated patcher"

func helperSites(helpers []*helper) (all []*class.Finding) {
	for _, h := range helpers {
		all = append(all, h.sites...)
	}
	return all
}

// hasPatchers: the kind has a generated patcher package, so that a reader may wonder why a write was not moved to it.
func hasPatchers(sites []*class.Finding, helpers []*helper, patchers Patchers) bool {
	for _, f := range append(slices.Clone(sites), helperSites(helpers)...) {
		if n := kube.Named(f.Kind); n != nil && n.Obj().Pkg() != nil && patchers(n.Obj().Pkg().Path()) != "" {
			return true
		}
	}
	return false
}

func (m *mover) replace(from, to token.Pos, text string) {
	m.out = append(m.out, class.Edit{Pos: from, End: to, Text: text})
}

// movable: only classes whose fault, if any, the patcher cures, and none that a directive allows.
func (m *mover) movable() bool {
	if m.fn.Decl == nil || m.path == "" {
		return false
	}
	for _, f := range m.all() {
		switch f.Class {
		case class.BlindMerge, class.StaleBase, class.Locked, class.Update:
		default:
			return false
		}
		if f.Allowed != "" || f.Dropped && !m.writtenLater(f) || len(f.Site.Options()) > 0 || f.Site.Writer != kube.SubResource {
			return false
		}
		// What runs again with a fresh read each time needs Retry, not Flush.
		for fn := f.Fn; fn.Lit != nil; fn = fn.Outer {
			if call, ok := fn.Parent(fn.Lit).(*ast.CallExpr); ok && kube.IsRepeater(fn.Pkg.Callee(call)) {
				return false
			}
		}
	}
	return true
}

// object: a local variable of a concrete kind that has a patcher package.
func (m *mover) object() bool {
	objects := make([]ast.Expr, 0, len(m.sites)+len(m.helpers))
	for _, f := range m.sites {
		objects = append(objects, f.Site.Object())
	}
	for _, h := range m.helpers {
		objects = append(objects, h.argument())
	}
	for _, e := range objects {
		v := rootIdent(m.fn.Pkg, e)
		if v == nil || flow.VarPath(v) != m.path || m.obj != nil && m.obj != v {
			return false
		}
		m.obj = v
	}
	if _, param := m.fn.ParamIndex(m.obj); param || m.fn.Pkg.Owner(m.obj) != m.fn && !m.outer {
		return false
	}
	_, pointer := types.Unalias(m.obj.Type()).(*types.Pointer)
	m.value = !pointer
	m.kind = kube.Named(m.obj.Type())
	if m.kind == nil || m.kind.TypeArgs().Len() > 0 || m.kind.Obj().Pkg() == nil || types.IsInterface(m.kind) {
		return false
	}
	m.child = m.patchers(m.kind.Obj().Pkg().Path())
	return m.child != ""
}

func rootIdent(pkg *flow.Package, e ast.Expr) *types.Var {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	return pkg.Var(e)
}

// safe: nothing writes the object between the read and any of the writes, but these writes themselves.
func (m *mover) safe() bool {
	ignore := map[*ast.CallExpr]bool{}
	for _, f := range m.all() {
		ignore[f.Call] = true
	}
	for call := range m.moved {
		ignore[call] = true
	}
	for _, f := range m.all() {
		if m.blocker = m.safety.freshUntil(f, ignore); m.blocker != nil {
			return false
		}
	}
	return true
}

// uses: a struct variable becomes a pointer, so it may be used only by address or by selector; no other assignment.
func (m *mover) uses() bool {
	ok := true
	ast.Inspect(m.fn.Body(), func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || m.fn.Pkg.Info.Uses[id] != m.obj {
			return ok
		}
		switch p := m.fn.Parent(id).(type) {
		case *ast.SelectorExpr:
		case *ast.UnaryExpr:
			if m.value && p.Op == token.AND {
				m.replaceUse(p)
			} else {
				ok = ok && !m.value
			}
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				ok = ok && lhs != ast.Expr(id)
			}
			ok = ok && !m.value
		default:
			ok = ok && !m.value
		}
		return ok
	})
	return ok
}

// replaceUse turns &cell into cell, unless the statement around it is rewritten anyway.
func (m *mover) replaceUse(u *ast.UnaryExpr) {
	for _, f := range m.sites {
		if f.Call.Pos() <= u.Pos() && u.End() <= f.Call.End() {
			return
		}
	}
	for _, e := range m.out {
		if e.Pos <= u.Pos() && u.End() <= e.End {
			return
		}
	}
	m.replace(u.Pos(), u.X.Pos(), "")
}
