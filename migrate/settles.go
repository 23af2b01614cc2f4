package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// settles reports whether a write of the object, made through another variable before a blind write w, stands in the way of a
// locked w at most once. Three things must hold:
//
//   - it is a status write or a diff, so that it changes nothing when it is made again with the same values;
//   - the values are the same each time: no counter, no clock, nothing random. Otherwise the object has another version each time,
//     and the locked write never lands;
//   - what it writes does not decide whether w is reached. Otherwise it lands, w conflicts, and the next reconcile passes w by.
//
// Then the first reconcile ends with the conflict, and the next one, in which the write in between changes nothing, lands. Callers
// farther up, which may look at the status, too, are not searched: a reconcile can end between the two writes at any time, and code
// that does not get past that loses the second one today.
func (m *mover) settles(w *write, in *flow.Func, call *ast.CallExpr) bool {
	if !repeatable(in, call) || len(call.Args) < 2 {
		return false
	}
	s := &steady{edits: m.edits, before: runsBefore(w), fields: map[string]bool{}, busy: map[visit]bool{}}
	if !s.object(in, in.Path(call.Args[1])) {
		return false
	}
	return !decides(w, in, s.fields)
}

// repeatable: a status write, or a diff. An Update of the whole object, and a patch that is written by hand, may change something
// each time.
func repeatable(f *flow.Func, call *ast.CallExpr) bool {
	writer, verb := kube.Kind(f.Pkg.Callee(call))
	switch {
	case writer == kube.SubResource && verb == kube.Update:
		return true
	case writer != kube.SubResource && writer != kube.Main || verb != kube.Patch || len(call.Args) < 3:
		return false
	}
	diff := false
	for _, v := range flow.Trace(call.Args[2], &flow.Frame{Fn: f}, nil) {
		made, ok := v.Expr.(*ast.CallExpr)
		if !ok {
			return false
		}
		merge, _ := kube.MergeFrom(v.Frame.Fn.Pkg.Callee(made))
		if diff = merge; !diff {
			return false
		}
	}
	return diff
}

// steady decides whether the edits of an object give it the same values each time, and collects the fields that they give values to.
type steady struct {
	edits  *edits
	before map[*flow.Func]bool // the declarations that can run before the blind write, in its own reconcile
	fields map[string]bool     // paths below the object, such as .Status.Phase
	busy   map[visit]bool
}

// object looks at all edits of the object at path in the declaration around f, and in the functions that get it.
func (s *steady) object(f *flow.Func, path string) bool {
	if path == "" {
		return false
	}
	outer := f.Outermost()
	key := visit{outer, nil, path}
	if s.busy[key] {
		return true
	}
	s.busy[key] = true
	same := true
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			same = same && s.assign(outer, n, path)
		case *ast.IncDecStmt:
			same = same && !flow.Within(pathBelow(outer, n.X), path)
		case *ast.CallExpr:
			same = same && s.call(outer, n, path)
		}
		return same
	})
	return same
}

func (s *steady) assign(f *flow.Func, a *ast.AssignStmt, path string) bool {
	for i, lhs := range a.Lhs {
		to := pathBelow(f, lhs)
		if _, plain := ast.Unparen(lhs).(*ast.Ident); plain || !flow.Within(to, path) {
			continue
		}
		rhs := a.Rhs[0]
		if len(a.Lhs) == len(a.Rhs) {
			rhs = a.Rhs[i]
		}
		if a.Tok != token.ASSIGN || varies(f, rhs, to, 0) {
			return false
		}
		s.fields[field(strings.TrimPrefix(to, path))] = true
	}
	return true
}

// field is the path of a field of the status, or of a part of the object, without what is below it.
func field(path string) string {
	parts := strings.SplitN(path, ".", 4)
	return strings.Join(parts[:min(len(parts), 3)], ".")
}

// call: a function that gets the object, or a pointer into it.
func (s *steady) call(f *flow.Func, call *ast.CallExpr, path string) bool {
	if tv, ok := f.Pkg.Info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return true
	}
	fn := f.Pkg.Callee(call)
	into, _ := kube.IsGet(fn)
	if writer, _ := kube.Kind(fn); writer != kube.NoWriter || into || fn != nil && readsOnly(fn) {
		return true
	}
	on := call.Args
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn != nil && fn.Signature().Recv() != nil {
		on = append([]ast.Expr{sel.X}, on...)
	}
	for i, arg := range on {
		p := f.Path(arg)
		receiver := len(on) > len(call.Args) && i == 0
		if !flow.Within(p, path) || p != path && !canReach(f, arg, fn, receiver) {
			continue
		}
		if !s.callee(f, call, fn, arg, strings.TrimPrefix(p, path), receiver) {
			return false
		}
	}
	return true
}

func (s *steady) callee(f *flow.Func, call *ast.CallExpr, fn *types.Func, arg ast.Expr, suffix string, receiver bool) bool {
	fns := f.Pkg.Callees(call)
	if fn == nil {
		all := false
		if fns, all = f.FuncValues(call.Fun); !all {
			fns = s.handedIn(f, call.Fun)
		}
	} else if len(fns) == 0 {
		return s.unseen(f, call, fn, arg, suffix, receiver)
	}
	for _, d := range fns {
		sig := d.Signature()
		for i := -1; sig != nil && i < sig.Params().Len(); i++ {
			v, given := d.Param(i), d.Argument(i, call)
			if v == nil || given != arg && !variadicGets(d, i, call, arg) {
				continue
			}
			inner := &steady{edits: s.edits, before: s.before, fields: map[string]bool{}, busy: s.busy}
			if !inner.object(d, flow.VarPath(v)) {
				return false
			}
			for name := range inner.fields {
				s.fields[field(suffix+name)] = true
			}
		}
	}
	return true
}

// handedIn are the functions that a call of a function value can run. A value that was handed in as an argument was made by a
// declaration that runs before the blind write.
func (s *steady) handedIn(f *flow.Func, fun ast.Expr) []*flow.Func {
	all := s.edits.values.ofType(f.Pkg.TypeOf(fun))
	v := f.Pkg.Var(fun)
	if v == nil || f.Pkg.Owner(v) == nil || !isHandedIn(f.Pkg, v) {
		return all
	}
	var out []*flow.Func
	for _, d := range all {
		if s.before[d.Outermost()] {
			out = append(out, d)
		}
	}
	return out
}

// isHandedIn: a parameter, or an element of one.
func isHandedIn(pkg *flow.Package, v *types.Var) bool {
	owner := pkg.Owner(v)
	if _, param := owner.ParamIndex(v); param {
		return true
	}
	defs := owner.AllDefs(v)
	if len(defs) != 1 || !defs[0].Range {
		return false
	}
	list := pkg.Var(defs[0].Rhs)
	if list == nil || pkg.Owner(list) == nil {
		return false
	}
	_, param := pkg.Owner(list).ParamIndex(list)
	return param
}

// unseen: the setters of conditions and finalizers, which change nothing if it is there already, and what edits nothing.
func (s *steady) unseen(f *flow.Func, call *ast.CallExpr, fn *types.Func, arg ast.Expr, suffix string, receiver bool) bool {
	below := suffix
	if below == "" {
		below = ".Status"
	}
	if !unseenEdits(fn, arg, suffix, receiver) && kube.PkgPath(fn) != "k8s.io/apimachinery/pkg/api/meta" {
		return true
	}
	s.fields[field(below)] = true
	if kube.PkgPath(fn) != "k8s.io/apimachinery/pkg/api/meta" {
		return false
	}
	for _, a := range call.Args {
		if a != arg && varies(f, a, f.Path(arg), 0) {
			return false
		}
	}
	return true
}

// variesDepth is how many definitions of local variables and functions are followed to what a value is made of.
const variesDepth = 4

// varies reports whether an expression can have another value each time: it is made of what it is assigned to, or of a clock or
// something random.
func varies(f *flow.Func, e ast.Node, to string, depth int) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if p := f.Path(n); to != "" && flow.Within(p, to) {
				found = true
			}
		case *ast.Ident:
			v := f.Pkg.Var(n)
			if v == nil || f.Pkg.Owner(v) == nil || depth > variesDepth {
				break
			}
			for _, d := range f.Pkg.Owner(v).AllDefs(v) {
				if d.Rhs != nil && !found && !contains(d.Rhs, n) {
					found = varies(f, d.Rhs, to, depth+1)
				}
			}
		case *ast.CallExpr:
			found = found || variesCall(f, n, depth)
		}
		return !found
	})
	return found
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// variesCall: a clock, something random, or a function that uses one. What is not in sight goes by its name.
func variesCall(f *flow.Func, call *ast.CallExpr, depth int) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return false
	}
	callees := f.Pkg.Callees(call)
	if len(callees) == 0 {
		return timeOrChance(fn)
	}
	found := false
	for _, d := range callees {
		if d.Body() == nil || depth > variesDepth {
			continue
		}
		ast.Inspect(d.Body(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IncDecStmt:
				_, counter := ast.Unparen(n.X).(*ast.SelectorExpr)
				found = found || counter
			case *ast.CallExpr:
				found = found || variesCall(d, n, depth+1)
			}
			return !found
		})
	}
	return found
}

func timeOrChance(fn *types.Func) bool {
	switch path := kube.PkgPath(fn); {
	case strings.HasSuffix(path, "math/rand"), strings.HasSuffix(path, "math/rand/v2"), path == "crypto/rand", path == "sync/atomic" && fn.Name() != "Load", strings.HasSuffix(path, "/uuid"), strings.HasSuffix(path, "/rand"):
		return true
	}
	for _, word := range []string{"Now", "Timestamp", "Since", "Until", "UUID", "Random"} {
		if strings.Contains(fn.Name(), word) {
			return true
		}
	}
	return false
}

// runsBefore are the declarations that can run before a write: those that its own declaration and its callers call before it.
func runsBefore(w *write) map[*flow.Func]bool {
	out := map[*flow.Func]bool{}
	var called func(d *flow.Func, before token.Pos)
	called = func(d *flow.Func, before token.Pos) {
		if d.Body() == nil {
			return
		}
		ast.Inspect(d.Body(), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && (!before.IsValid() || call.Pos() < before) {
				for _, callee := range d.Pkg.Callees(call) {
					if c := callee.Outermost(); !out[c] {
						out[c] = true
						called(c, token.NoPos)
					}
				}
			}
			return true
		})
	}
	seen := map[*flow.Func]bool{}
	var up func(f *flow.Func, node ast.Node, depth int)
	up = func(f *flow.Func, node ast.Node, depth int) {
		out[f] = true
		called(f, node.Pos())
		if seen[f] || depth > callersFollowed {
			return
		}
		seen[f] = true
		for _, c := range f.CallsSeen() {
			up(c.In.Outermost(), c.Expr, depth+1)
		}
	}
	up(w.Fn.Outermost(), w.Call, 0)
	return out
}

// decides reports whether one of the fields is looked at before w, in a function that makes both writes: its own, or one that calls it.
func decides(w *write, in *flow.Func, fields map[string]bool) bool {
	f, node := w.Fn.Outermost(), ast.Node(w.Call)
	for range callersFollowed {
		if leadsTo(f, in.Outermost(), node) {
			return looksAt(f, node, fields)
		}
		calls := f.CallsSeen()
		if len(calls) != 1 {
			for _, c := range calls {
				if leadsTo(c.In.Outermost(), in.Outermost(), c.Expr) && looksAt(c.In.Outermost(), c.Expr, fields) {
					return true
				}
			}
			return false
		}
		f, node = calls[0].In.Outermost(), calls[0].Expr
	}
	return false
}

// leadsTo reports whether the declaration f is the one that writes, or calls it before node, perhaps through others.
func leadsTo(f, writer *flow.Func, node ast.Node) bool {
	if f == writer {
		return true
	}
	seen := map[*flow.Func]bool{}
	var reaches func(d *flow.Func, before token.Pos) bool
	reaches = func(d *flow.Func, before token.Pos) bool {
		if d == writer {
			return true
		}
		if seen[d] || d.Body() == nil {
			return false
		}
		seen[d] = true
		found := false
		ast.Inspect(d.Body(), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || found || before.IsValid() && call.Pos() >= before {
				return !found
			}
			for _, callee := range d.Pkg.Callees(call) {
				found = found || reaches(callee.Outermost(), token.NoPos)
			}
			return !found
		})
		return found
	}
	return reaches(f, node.Pos())
}

// looksAt reports whether a condition before a node looks at one of the fields, of whatever object.
func looksAt(f *flow.Func, node ast.Node, fields map[string]bool) (found bool) {
	check := func(cond ast.Expr) {
		if cond == nil {
			return
		}
		ast.Inspect(cond, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && !found {
				for name := range fields {
					found = found || strings.HasSuffix(f.Path(sel), name)
				}
			}
			return !found
		})
	}
	ast.Inspect(f.Node(), func(n ast.Node) bool {
		if n == nil || n.Pos() >= node.Pos() {
			return false
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			check(n.Cond)
		case *ast.SwitchStmt:
			check(n.Tag)
		case *ast.CaseClause:
			for _, e := range n.List {
				check(e)
			}
		case *ast.ForStmt:
			check(n.Cond)
		}
		return !found
	})
	return found
}
