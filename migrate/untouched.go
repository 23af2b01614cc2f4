package migrate

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// untouched decides whether an object has at some point still the status that it was read with.
type untouched struct {
	tracker *object.Tracker
	edits   *edits
	seen    map[visit]bool
}

type visit struct {
	fn   *flow.Func
	at   ast.Node
	path string
}

// callersFollowed is how many callers up the read of an object is looked for.
const callersFollowed = 10

// at returns nil if, on every way that leads to the node, nothing has edited the status of the object since it was read or
// since the response to a write was decoded into it.
func (u *untouched) at(in place, node ast.Node) *reason {
	return u.before(in, node, 0)
}

func (u *untouched) before(in place, node ast.Node, depth int) *reason {
	key := visit{in.fn, node, in.path}
	if u.seen[key] {
		return nil
	}
	u.seen[key] = true
	f := in.fn
	at := f.At(node)
	if !at.Valid() || in.path == "" {
		return because(node, hintEarly, "what the object is here cannot be followed")
	}
	var found *reason
	turn := turnOf(f, node, in.path)
	entry := f.WalkBack(at, func(p flow.Point) bool {
		if found != nil {
			return false
		}
		if n := p.Node(); turn != nil && n.Pos() >= at.Node().Pos() && n.End() <= turn.End() {
			return false // an earlier turn of the loop, which is about another object
		}
		more, why := u.node(in, p.Node(), depth)
		found = why
		return more && why == nil
	})
	switch {
	case found != nil:
		return found
	case !entry:
		return nil
	}
	return u.above(in, node, depth)
}

func editedEarly(n ast.Node) *reason {
	return because(n, hintEarly, "the status is edited before the base is captured, so that the patch leaves this edit out")
}

// node looks at one step back. more is false where the object becomes what the server has, or is another one before.
func (u *untouched) node(in place, n ast.Node, depth int) (more bool, why *reason) {
	f := in.fn
	if u.edits.syncs(f, n, in.path) {
		if early := u.edits.nested(f, n, in.path); early != nil {
			return false, editedEarly(early)
		}
		return false, nil
	}
	if list := listOf(f, n, in.path); list != "" {
		return false, u.otherItems(f, list, in.path)
	}
	if value, defined := definition(f, n, in.path); defined {
		return false, u.defined(in, n, value, depth)
	}
	if early := u.edits.in(f, n, in.path); early != nil {
		return false, editedEarly(early)
	}
	return true, nil
}

// turnOf is the body of the range loop around a node whose variable the path goes through: each turn has another object.
func turnOf(f *flow.Func, node ast.Node, path string) *ast.BlockStmt {
	for n := f.Parent(node); n != nil && n != f.Node(); n = f.Parent(n) {
		r, ok := n.(*ast.RangeStmt)
		if !ok {
			continue
		}
		for _, e := range []ast.Expr{r.Key, r.Value} {
			if e == nil {
				continue
			}
			if v := f.Pkg.Var(e); v != nil && (flow.Within(path, flow.VarPath(v)) || strings.Contains(path, "["+flow.VarPath(v)+"]")) {
				return r.Body
			}
		}
	}
	return nil
}

// listOf is the path of the list that the object is an item of, where a node changes the index: before it, the path names another
// item.
func listOf(f *flow.Func, n ast.Node, path string) string {
	var changed []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		changed = n.Lhs
	case *ast.IncDecStmt:
		changed = []ast.Expr{n.X}
	case *ast.Ident:
		if r, ok := f.Parent(n).(*ast.RangeStmt); ok && (r.Key == n || r.Value == n) {
			changed = []ast.Expr{n}
		}
	}
	for _, e := range changed {
		if v := f.Pkg.Var(e); v != nil {
			if i := strings.Index(path, "["+flow.VarPath(v)+"]"); i >= 0 {
				return path[:i]
			}
		}
	}
	return ""
}

// otherItems looks for edits of the status of items of a list under other names than the object's.
func (u *untouched) otherItems(f *flow.Func, list, path string) (why *reason) {
	outer := f.Outermost()
	item := func(e ast.Expr) string {
		p := pathBelow(outer, e)
		if !strings.HasPrefix(p, list+"[") || flow.Within(p, path) {
			return ""
		}
		return p[:len(list)+strings.Index(p[len(list):], "]")+1]
	}
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if p := item(lhs); p != "" && why == nil && u.edits.assigns(outer, lhs, p, p+".Status") {
					why = editedEarly(n)
				}
			}
		case *ast.CallExpr:
			for _, arg := range n.Args {
				if p := item(arg); p != "" && why == nil && u.edits.call(outer, n, p, p+".Status") {
					why = editedEarly(n)
				}
			}
		}
		return why == nil
	})
	return why
}

// definition is the value that a node gives to the object's variable.
func definition(f *flow.Func, n ast.Node, path string) (value ast.Expr, defined bool) {
	given := func(lhs ast.Expr) bool {
		v := f.Pkg.Var(lhs)
		return v != nil && flow.Within(path, flow.VarPath(v))
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if !given(lhs) {
				continue
			}
			if len(n.Lhs) == len(n.Rhs) {
				return n.Rhs[i], true
			}
			return n.Rhs[0], true
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if !given(name) {
				continue
			}
			if i < len(n.Values) {
				return n.Values[i], true
			}
			return nil, true
		}
	case *ast.Ident:
		if r, ok := f.Parent(n).(*ast.RangeStmt); ok && (r.Key == n || r.Value == n) && given(n) {
			return nil, true
		}
	}
	return nil, false
}

// defined judges the value that the object's variable gets: a copy is as untouched as what it copies, and what a function
// returns is what it was read as, if that function does not edit it.
func (u *untouched) defined(in place, n ast.Node, value ast.Expr, depth int) *reason {
	if value == nil {
		return nil
	}
	value = bare(value)
	if of, ok := copied(in.fn.Pkg, value); ok {
		return u.before(place{in.fn, in.fn.Path(of)}, n, depth)
	}
	call, ok := value.(*ast.CallExpr)
	if !ok {
		if path := in.fn.Path(value); path != "" && path != in.path {
			return u.before(place{in.fn, path}, n, depth)
		}
		return nil
	}
	for _, callee := range in.fn.Pkg.Callees(call) {
		if early := u.edits.ofKind(callee, in.fn.Pkg.TypeOf(rootIdent(n, in, value))); early != nil {
			return editedEarly(early)
		}
	}
	return nil
}

// rootIdent is the expression whose type is the object's: the left side of the definition.
func rootIdent(n ast.Node, in place, value ast.Expr) ast.Expr {
	if a, ok := n.(*ast.AssignStmt); ok {
		for _, lhs := range a.Lhs {
			if v := in.fn.Pkg.Var(lhs); v != nil && flow.Within(in.path, flow.VarPath(v)) {
				return lhs
			}
		}
	}
	return value
}

// above goes on in the function around a literal, or in the callers.
func (u *untouched) above(in place, node ast.Node, depth int) *reason {
	f := in.fn
	root := rootedIn(f, in.path)
	switch {
	case f.Lit != nil && root == "":
		return u.aroundLiteral(in, depth)
	case root == "":
		return because(node, hintEarly, "where the object comes from cannot be seen")
	case isObjectReconcile(f):
		return nil
	case depth >= callersFollowed:
		return because(f.Node(), hintEarly, "the object is handed on through more than %d functions", callersFollowed)
	}
	calls := f.CallsSeen()
	if f.Obj != nil && f.UsedAsValue() {
		calls = append(calls[:len(calls):len(calls)], u.edits.values.callsOf(f)...)
	}
	if len(calls) == 0 {
		return because(f.Node(), hintEarly, "not all callers of %s can be seen", f.Name())
	}
	for _, c := range calls {
		if c.In == f {
			continue
		}
		path, ok := handedOver(f, c.Expr, c.In, in.path)
		if !ok {
			if fresh(f, c, in.path) {
				continue
			}
			return because(c.Expr, hintEarly, "which object this call hands over cannot be seen")
		}
		if why := u.before(place{c.In, path}, c.Expr, depth+1); why != nil {
			return why
		}
	}
	return nil
}

// fresh: the call hands over what another call returns, which nobody had the time to edit.
func fresh(f *flow.Func, c *flow.Call, path string) bool {
	sig := f.Signature()
	for i := -1; i < sig.Params().Len(); i++ {
		v := f.Param(i)
		if v == nil || flow.VarPath(v) != path {
			continue
		}
		_, isCall := bare(f.Argument(i, c.Expr)).(*ast.CallExpr)
		return isCall
	}
	return false
}

// aroundLiteral goes on where the literal runs: where it stands, or where the variable that holds it is called.
func (u *untouched) aroundLiteral(in place, depth int) *reason {
	lit := in.fn
	if lit.Outer == nil {
		return because(lit.Node(), hintEarly, "the function is a package variable, and its callers cannot be seen")
	}
	outer := place{lit.Outer, in.path}
	if lit.RunsInPlace() {
		return u.before(outer, lit.Lit, depth)
	}
	calls := lit.CalledAt()
	switch {
	case startedHere(lit):
		return because(lit.Node(), hintGoroutine, "it runs in a goroutine, while the code that started it may edit the status")
	case len(calls) == 0:
		return because(lit.Node(), hintEarly, "when this function runs cannot be seen")
	}
	for _, call := range calls {
		if why := u.before(outer, call, depth); why != nil {
			return why
		}
	}
	return nil
}

// startedHere: the literal is the function of a go statement.
func startedHere(lit *flow.Func) bool {
	call, ok := lit.Parent(lit.Lit).(*ast.CallExpr)
	if !ok || call.Fun != ast.Expr(lit.Lit) {
		return false
	}
	_, started := lit.Parent(call).(*ast.GoStmt)
	return started
}

// isObjectReconcile: controller-runtime calls it with the object that it has just read.
func isObjectReconcile(f *flow.Func) bool {
	if f.Obj == nil || f.Obj.Name() != "Reconcile" || f.Obj.Signature().Recv() == nil || f.Obj.Signature().Params().Len() != 2 {
		return false
	}
	params := f.Obj.Signature().Params()
	return kube.IsContext(params.At(0).Type()) && kube.IsObject(params.At(1).Type()) && !types.IsInterface(params.At(1).Type())
}
