package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

// edits finds what changes the status of an object in memory. What cannot be followed counts as an edit.
type edits struct {
	tracker *object.Tracker
	values  *values
	memo    map[visit]ast.Node
	busy    map[visit]bool
}

func newEdits(prog *flow.Program, tracker *object.Tracker) *edits {
	return &edits{tracker: tracker, values: newValues(prog), memo: map[visit]ast.Node{}, busy: map[visit]bool{}}
}

// in returns what in a node of f edits the status of the object at path; nil if nothing does.
func (e *edits) in(f *flow.Func, n ast.Node, path string) ast.Node {
	if n == nil {
		return nil
	}
	return e.below(f, n, path, path+".Status")
}

// below looks for edits of what is below status. object is the path of the object around it, or empty.
func (e *edits) below(f *flow.Func, n ast.Node, object, status string) (found ast.Node) {
	ast.Inspect(n, func(c ast.Node) bool {
		if found != nil {
			return false
		}
		switch c := c.(type) {
		case *ast.DeferStmt:
			return false // runs at the end
		case *ast.FuncLit:
			lit := f.Pkg.FuncAt(c)
			return ast.Node(c) == n || lit == nil || lit.RunsInPlace() || lit.HeldBy() == nil
		case *ast.AssignStmt:
			for i, lhs := range c.Lhs {
				if e.assigns(f, lhs, object, status) && !(len(c.Lhs) == len(c.Rhs) && omitted(f, lhs, c.Rhs[i])) {
					found = c
				}
			}
		case *ast.IncDecStmt:
			if e.assigns(f, c.X, object, status) {
				found = c
			}
		case *ast.CallExpr:
			if e.call(f, c, object, status) {
				found = c
			}
		}
		return found == nil
	})
	return found
}

// assigns reports whether an assignment to lhs changes the status, or the whole object through its pointer.
func (e *edits) assigns(f *flow.Func, lhs ast.Expr, object, status string) bool {
	if _, plain := ast.Unparen(lhs).(*ast.Ident); plain {
		return false // gives the variable another value
	}
	if star, ok := ast.Unparen(lhs).(*ast.StarExpr); ok && object != "" && f.Path(star.X) == object {
		return true
	}
	return flow.Within(pathBelow(f, lhs), status)
}

// omitted: an empty map or list for a field that has no JSON when it is empty, as nil has none.
func omitted(f *flow.Func, lhs, rhs ast.Expr) bool {
	sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
	if !ok || !emptyContainer(f, rhs) {
		return false
	}
	s := structOf(f.Pkg.TypeOf(sel.X))
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if s.Field(i).Name() == sel.Sel.Name {
			_, options, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
			return strings.Contains(options, "omitempty")
		}
	}
	return false
}

func emptyContainer(f *flow.Func, e ast.Expr) bool {
	t := f.Pkg.TypeOf(e)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice:
	default:
		return false
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		_, isMap := t.Underlying().(*types.Map)
		id, ok := ast.Unparen(x.Fun).(*ast.Ident)
		return ok && id.Name == "make" && isMap
	}
	return false
}

// pathBelow is the path of an expression, or of the nearest expression around it that has one.
func pathBelow(f *flow.Func, e ast.Expr) string {
	for {
		if p := f.Path(e); p != "" {
			return p
		}
		switch x := bare(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// call reports whether a call edits the status through one of its arguments or its receiver.
func (e *edits) call(f *flow.Func, call *ast.CallExpr, object, status string) bool {
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return false
	}
	fn := f.Pkg.Callee(call)
	if fn != nil && readsOnly(fn) {
		return false
	}
	on := call.Args
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn != nil && fn.Signature().Recv() != nil {
		on = append([]ast.Expr{sel.X}, on...)
	}
	for i, arg := range on {
		receiver := len(on) > len(call.Args) && i == 0
		p := f.Path(arg)
		switch {
		case p == "":
			continue
		case p == object && object != "":
			if e.calleeEdits(f, call, fn, arg, ".Status", receiver) {
				return true
			}
		case flow.Within(p, status) && canReach(f, arg, fn, receiver):
			if e.calleeEdits(f, call, fn, arg, "", receiver) {
				return true
			}
		}
	}
	return false
}

// canReach reports whether a callee can change what the argument is, and not only its copy.
func canReach(f *flow.Func, arg ast.Expr, fn *types.Func, receiver bool) bool {
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return true
	}
	if receiver && fn != nil {
		_, pointer := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
		return pointer
	}
	t := f.Pkg.TypeOf(arg)
	if t == nil {
		return true
	}
	_, pointer := t.Underlying().(*types.Pointer)
	return pointer
}

// calleeEdits reports whether what the call runs edits what it is given, at suffix below the argument.
func (e *edits) calleeEdits(f *flow.Func, call *ast.CallExpr, fn *types.Func, arg ast.Expr, suffix string, receiver bool) bool {
	fns := f.Pkg.Callees(call)
	switch {
	case fn == nil:
		values, all := f.FuncValues(call.Fun)
		if !all {
			// Any function of this type that the program uses as a value can be the one.
			values = e.values.ofType(f.Pkg.TypeOf(call.Fun))
		}
		fns = values
	case len(fns) == 0:
		return unseenEdits(fn, arg, suffix, receiver)
	}
	for _, d := range fns {
		sig := d.Signature()
		if sig == nil || d.Body() == nil {
			return true
		}
		for i := -1; i < sig.Params().Len(); i++ {
			v, given := d.Param(i), d.Argument(i, call)
			if v == nil || given != arg && !variadicGets(d, i, call, arg) {
				continue
			}
			if e.function(d, v, suffix) != nil {
				return true
			}
		}
	}
	return false
}

func variadicGets(d *flow.Func, i int, call *ast.CallExpr, arg ast.Expr) bool {
	sig := d.Signature()
	if !sig.Variadic() || i != sig.Params().Len()-1 {
		return false
	}
	for _, a := range call.Args[min(i, len(call.Args)):] {
		if a == arg {
			return true
		}
	}
	return false
}

// function returns what in a function edits what its parameter points to, and leaves it at that: an edit after which the object
// is always written, or read again, is not pending any more when the function returns.
func (e *edits) function(d *flow.Func, param *types.Var, suffix string) ast.Node {
	path := flow.VarPath(param)
	key := visit{d, nil, path + suffix}
	if n, ok := e.memo[key]; ok {
		return n
	}
	if e.busy[key] {
		return nil
	}
	e.busy[key] = true
	defer delete(e.busy, key)
	object := path
	if suffix == "" {
		object = ""
	}
	var found ast.Node
	d.Walk(d.Entry(), func(p flow.Point) bool {
		if found != nil {
			return false
		}
		n := e.below(d, p.Node(), object, path+suffix)
		if n == nil && suffix == "" {
			n = assignsThrough(d, p.Node(), path)
		}
		if n != nil && (object == "" || e.pendingAfter(d, p, path)) {
			found = n
		}
		return found == nil
	})
	e.memo[key] = found
	return found
}

// pendingAfter reports whether the function can return after p without having written the object or read it again. Where the
// edit is a call that returns an error, the way on which the error is returned right away does not count: a function that fails
// has decided nothing.
func (e *edits) pendingAfter(d *flow.Func, p flow.Point, path string) bool {
	if e.syncs(d, p.Node(), path) {
		return false
	}
	failed := failedBranch(d, p.Node())
	stop := func(q flow.Point) bool {
		n := q.Node()
		return failed != nil && failed.Pos() <= n.Pos() && n.End() <= failed.End() || e.syncs(d, n, path)
	}
	return d.Leaves(p, stop, func(*ast.ReturnStmt) bool { return true })
}

// syncs: the object in memory becomes what the server has.
func (e *edits) syncs(d *flow.Func, n ast.Node, path string) bool {
	for _, ev := range e.tracker.Events(d, n) {
		if ev.Path == path && (ev.Call == ev.At || e.alwaysSyncs(d, ev)) {
			return true
		}
	}
	return guards(d, n, path) != nil && e.syncsIn(d, guards(d, n, path), path)
}

// nested returns a call in a node that writes the object or reads it again, and can all the same leave an edit behind: where a
// step fails in between.
func (e *edits) nested(f *flow.Func, n ast.Node, path string) ast.Node {
	for _, ev := range e.tracker.Events(f, n) {
		if ev.Path == path && ev.Call != ev.At && e.call(f, ev.At, path, path+".Status") {
			return ev.At
		}
	}
	return nil
}

// alwaysSyncs reports whether the function in which an event happens never returns without an error and without having written
// the object, or read it again.
func (e *edits) alwaysSyncs(d *flow.Func, ev object.Event) bool {
	for _, callee := range d.Pkg.Callees(ev.At) {
		sig := callee.Signature()
		for i := -1; sig != nil && i < sig.Params().Len(); i++ {
			v, arg := callee.Param(i), callee.Argument(i, ev.At)
			if v == nil || arg == nil || !flow.Within(ev.Path, d.Path(arg)) || d.Path(arg) == "" {
				continue
			}
			if !e.syncsAlways(callee, flow.VarPath(v)+strings.TrimPrefix(ev.Path, d.Path(arg))) {
				return false
			}
		}
	}
	return true
}

func (e *edits) syncsAlways(d *flow.Func, path string) bool {
	key := visit{d, d.Node(), path}
	if e.busy[key] {
		return true
	}
	e.busy[key] = true
	defer delete(e.busy, key)
	stop := func(q flow.Point) bool { return e.syncs(d, q.Node(), path) }
	return !d.Leaves(d.Entry(), stop, func(ret *ast.ReturnStmt) bool { return succeeds(d, ret) })
}

// succeeds: the return statement returns no error, as far as its text says.
func succeeds(d *flow.Func, ret *ast.ReturnStmt) bool {
	sig := d.Signature()
	if sig == nil || sig.Results().Len() == 0 || !kube.IsError(sig.Results().At(sig.Results().Len()-1).Type()) {
		return true
	}
	return len(ret.Results) > 0 && isNil(ret.Results[len(ret.Results)-1])
}

// syncsIn reports whether a statement of the block writes the object or reads it again.
func (e *edits) syncsIn(d *flow.Func, block *ast.BlockStmt, path string) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			for _, ev := range e.tracker.Events(d, call) {
				found = found || ev.Path == path
			}
		}
		return !found
	})
	return found
}

// guards returns the branch that a node decides about by comparing the status: where it is not taken, there is nothing to write.
func guards(d *flow.Func, n ast.Node, path string) *ast.BlockStmt {
	cond, ok := n.(ast.Expr)
	if !ok {
		return nil
	}
	stmt, ok := d.Parent(cond).(*ast.IfStmt)
	if not, isNot := d.Parent(cond).(*ast.UnaryExpr); isNot && not.Op == token.NOT {
		cond = not
		stmt, ok = d.Parent(not).(*ast.IfStmt)
	}
	if !ok || stmt.Cond != cond {
		return nil
	}
	compares := false
	ast.Inspect(cond, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return !compares
		}
		sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if isSel && (sel.Sel.Name == "DeepEqual" || sel.Sel.Name == "Equal") && len(call.Args) == 2 {
			for _, a := range call.Args {
				p := d.Path(a)
				compares = compares || p == path+".Status" || p == path
			}
		}
		return !compares
	})
	if !compares {
		return nil
	}
	return stmt.Body
}

// failedBranch is the branch that is taken if the call in a node fails: if err := call(); err != nil { ... }.
func failedBranch(d *flow.Func, n ast.Node) *ast.BlockStmt {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return nil
	}
	stmt, ok := d.Parent(a).(*ast.IfStmt)
	if !ok || stmt.Init != ast.Stmt(a) {
		return nil
	}
	cond, ok := stmt.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || len(stmt.Body.List) == 0 {
		return nil
	}
	if _, returns := stmt.Body.List[len(stmt.Body.List)-1].(*ast.ReturnStmt); !returns || !isNil(cond.Y) || !kube.IsError(d.Pkg.TypeOf(cond.X)) {
		return nil
	}
	return stmt.Body
}

// assignsThrough finds *param = value.
func assignsThrough(d *flow.Func, node ast.Node, param string) (found ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if star, ok := ast.Unparen(lhs).(*ast.StarExpr); ok && d.Path(star.X) == param {
					found = a
				}
			}
		}
		return found == nil
	})
	return found
}

// unseenEdits judges a call of code that is not in sight. Interfaces of objects reach no status, and what is called a getter
// is one; a method of the object itself, or a pointer into its status, can do anything.
func unseenEdits(fn *types.Func, arg ast.Expr, suffix string, receiver bool) bool {
	if receiver {
		return !getterName(fn.Name())
	}
	if suffix != "" {
		return false
	}
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return !kube.IsStandard(fn)
	}
	return !looksOnly(fn)
}

// looksOnly are libraries that take the pointers in a status to read, to compare and to log them.
func looksOnly(fn *types.Func) bool {
	if kube.IsStandard(fn) {
		return true
	}
	for _, prefix := range []string{"k8s.io/", "sigs.k8s.io/", "github.com/go-logr/", "go.uber.org/zap", "github.com/sirupsen/logrus", "github.com/google/go-cmp"} {
		if strings.HasPrefix(kube.PkgPath(fn), prefix) {
			return true
		}
	}
	return false
}

func getterName(name string) bool {
	for _, prefix := range []string{"Get", "Is", "Has", "DeepCopy", "String", "Find", "Should", "Needs", "Object", "SetLabels", "SetAnnotations", "SetFinalizers",
		"SetOwnerReferences", "SetResourceVersion", "SetGroupVersionKind", "SetManagedFields", "SetNamespace", "SetName"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// readsOnly are functions that take objects and leave their status alone, whatever they are called with.
func readsOnly(fn *types.Func) bool {
	switch kube.PkgPath(fn) {
	case kube.ControllerutilPath:
		return !strings.HasPrefix(fn.Name(), "CreateOr")
	case "k8s.io/apimachinery/pkg/api/meta":
		return !strings.HasPrefix(fn.Name(), "Set") && !strings.HasPrefix(fn.Name(), "Remove")
	}
	return kube.IsCopy(fn)
}

// ofKind returns what in a function assigns to the status of any object of a type.
func (e *edits) ofKind(d *flow.Func, t types.Type) (found ast.Node) {
	if d == nil || d.Body() == nil || t == nil {
		return nil
	}
	want := kube.Named(t)
	ast.Inspect(d.Body(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || want == nil {
			return found == nil
		}
		for _, lhs := range a.Lhs {
			if statusOf(d.Pkg, lhs, want) {
				found = a
			}
		}
		return found == nil
	})
	return found
}

func statusOf(pkg *flow.Package, e ast.Expr, kind *types.Named) bool {
	for {
		switch x := bare(e).(type) {
		case *ast.SelectorExpr:
			if n := kube.Named(pkg.TypeOf(x.X)); x.Sel.Name == "Status" && n != nil && n.Obj().Name() == kind.Obj().Name() && kube.PkgPath(n.Obj()) == kube.PkgPath(kind.Obj()) {
				return true
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}
