package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// edits finds what changes the status of an object in memory. What cannot be followed counts as an edit.
type edits struct {
	memo map[visit]ast.Node
	busy map[visit]bool
}

func newEdits() *edits { return &edits{memo: map[visit]ast.Node{}, busy: map[visit]bool{}} }

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
			for _, lhs := range c.Lhs {
				if e.assigns(f, lhs, object, status) {
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
	if fn == nil {
		values, all := f.FuncValues(call.Fun)
		if !all {
			return true
		}
		fns = values
	}
	if len(fns) == 0 {
		return unseenEdits(f, fn, arg, suffix, receiver)
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
			if e.function(d, flow.VarPath(v), suffix) != nil {
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

// function returns what in a function edits what its parameter points to.
func (e *edits) function(d *flow.Func, param, suffix string) ast.Node {
	key := visit{d, nil, param + suffix}
	if n, ok := e.memo[key]; ok {
		return n
	}
	if e.busy[key] {
		return nil
	}
	e.busy[key] = true
	defer delete(e.busy, key)
	object := param
	if suffix == "" {
		object = ""
	}
	n := e.below(d, d.Body(), object, param+suffix)
	if n == nil && suffix == "" {
		n = assignsThrough(d, param)
	}
	e.memo[key] = n
	return n
}

// assignsThrough finds *param = value.
func assignsThrough(d *flow.Func, param string) (found ast.Node) {
	ast.Inspect(d.Body(), func(n ast.Node) bool {
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
func unseenEdits(f *flow.Func, fn *types.Func, arg ast.Expr, suffix string, receiver bool) bool {
	if fn == nil {
		return true
	}
	if receiver {
		return !getterName(fn.Name())
	}
	if suffix == "" {
		return !kube.IsStandard(fn)
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
