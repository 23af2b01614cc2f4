package fix

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// A subject is the object that a question of safety is about, in the names of one function.
type subject struct {
	path   string     // the object
	kind   types.Type // its type; nil if that is not known
	keys   []string   // what it is read by
	others string     // the path of a list's item: in the loop over the list it stands for the other items
}

// in is the subject under the name that it has in another function.
func (sub subject) in(path string) subject {
	sub.path = path
	return sub
}

// other reports whether path is that of a list's item in its own turn of the loop, and not the one in question.
func (sub subject) other(path string) bool { return sub.others != "" && flow.Within(path, sub.others) }

// othersIn is the name that a list's other items have in a function that gets one of them.
func (sub subject) othersIn(f *flow.Func, call *ast.CallExpr, d *flow.Func) string {
	sig := d.Signature()
	for i := 0; sub.others != "" && sig != nil && i < sig.Params().Len(); i++ {
		v, arg := d.Param(i), d.Argument(i, call)
		if v != nil && arg != nil && f.Path(arg) == sub.others {
			return flow.VarPath(v)
		}
	}
	return ""
}

// nameIn is the name that the subject has in a function that a call hands it to; its own name if the function does not get it.
func (sub subject) nameIn(f *flow.Func, call *ast.CallExpr, d *flow.Func) string {
	sig := d.Signature()
	for i := 0; sig != nil && i < sig.Params().Len(); i++ {
		v, arg := d.Param(i), d.Argument(i, call)
		if v != nil && arg != nil && f.Path(arg) == sub.path && sub.path != "" {
			return flow.VarPath(v)
		}
	}
	return sub.path
}

// sameKind reports whether an object of type t can be the subject on the server. Types that say nothing about the kind
// (interfaces, unstructured objects, partial metadata, apply configurations) can be anything; two types of one name in
// different packages can be two versions of one kind.
func (sub subject) sameKind(t types.Type) bool {
	mine, its := kube.Named(sub.kind), kube.Named(t)
	if mine == nil || its == nil || kube.AnyKind(mine) || kube.AnyKind(its) {
		return true
	}
	if kind, applied := kube.AppliedKind(its); applied {
		return kind == mine.Obj().Name()
	}
	return mine.Obj().Name() == its.Obj().Name()
}

// related are the variables of a declaration through which a call can get at the subject: the object, its key, what
// holds the key, and what is made of any of them. What only comes from the spec or the status identifies no object.
type related map[*types.Var]bool

// relatedIn finds them for the function that the subject is in.
func (sub subject) relatedIn(f *flow.Func) related {
	outer := f.Outermost()
	rel := related{}
	paths := append([]string{sub.path}, sub.keys...)
	ast.Inspect(outer.Node(), func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := outer.Pkg.Info.ObjectOf(id).(*types.Var)
		if !ok || v.IsField() || v == outer.Param(-1) {
			return true
		}
		for _, p := range paths {
			if flow.Within(p, flow.VarPath(v)) || sub.others == "" && flow.Within(f.Path(id), p) {
				rel[v] = true
			}
		}
		return true
	})
	rel.grow(outer)
	return rel
}

// grow adds what is made of the variables, until nothing is added.
func (rel related) grow(f *flow.Func) {
	for before := -1; before != len(rel); {
		before = len(rel)
		ast.Inspect(f.Node(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					rhs := n.Rhs[0]
					if len(n.Lhs) == len(n.Rhs) {
						rhs = n.Rhs[i]
					}
					if rel.mentions(f, rhs) {
						rel.add(f, lhs)
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && rel.mentions(f, n.Values[i]) {
						rel.add(f, name)
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil && rel.mentions(f, n.X) {
					rel.add(f, n.Value)
				}
			}
			return true
		})
	}
}

// add takes the variable at the root of an expression, unless it can hold no object and no key.
func (rel related) add(f *flow.Func, e ast.Expr) {
	t := f.Pkg.TypeOf(e)
	if t == nil || kube.IsError(t) || kube.IsContext(t) || kube.IsResult(t) || kube.HoldsClient(t) {
		return
	}
	if b, basic := t.Underlying().(*types.Basic); basic && b.Info()&types.IsString == 0 {
		return
	}
	if v := rootOf(f.Pkg, e); v != nil && v != f.Param(-1) && !kube.HoldsClient(v.Type()) {
		rel[v] = true
	}
}

// mentions reports whether an expression names the subject, or something made of it that identifies it.
func (rel related) mentions(f *flow.Func, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if found {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if partOnly(f, n) {
				return false
			}
			if b, basic := basicOf(f.Pkg.TypeOf(n)); basic && (b.Info()&types.IsString == 0 || n.Sel.Name != "Name") {
				return false // a number, or a text that is no name
			}
		case *ast.Ident:
			v, ok := f.Pkg.Info.Uses[n].(*types.Var)
			found = ok && rel[v]
		}
		return !found
	})
	return found
}

// partOnly: the spec or the status of an object, or something in them.
func partOnly(f *flow.Func, sel *ast.SelectorExpr) bool {
	if sel.Sel.Name != "Spec" && sel.Sel.Name != "Status" {
		return false
	}
	v, ok := f.Pkg.Info.Uses[sel.Sel].(*types.Var)
	return ok && v.IsField() && kube.IsObject(f.Pkg.TypeOf(sel.X))
}

func basicOf(t types.Type) (*types.Basic, bool) {
	if t == nil {
		return nil, false
	}
	b, ok := t.Underlying().(*types.Basic)
	return b, ok
}

// rootOf is the variable at the root of an expression: x of x.f[i].
func rootOf(pkg *flow.Package, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.Ident:
			return pkg.Var(x)
		default:
			return nil
		}
	}
}

// concern are the parameters of d through which a call hands over the subject.
func (rel related) concern(f *flow.Func, call *ast.CallExpr, d *flow.Func) related {
	out := related{}
	sig := d.Signature()
	for i := 0; sig != nil && i < sig.Params().Len(); i++ {
		v, arg := d.Param(i), d.Argument(i, call)
		variadic := sig.Variadic() && i == sig.Params().Len()-1
		if v != nil && (arg != nil && rel.mentions(f, arg) || arg == nil && variadic && rel.anyOf(f, call.Args)) {
			out[v] = true
		}
	}
	if v := d.Param(-1); v != nil {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && rel.mentions(f, sel.X) && !kube.HoldsClient(v.Type()) {
			out[v] = true
		}
	}
	out.grow(d)
	return out
}

func (rel related) anyOf(f *flow.Func, args []ast.Expr) bool {
	for _, a := range args {
		if rel.mentions(f, a) {
			return true
		}
	}
	return false
}

// key tells two sets of variables apart.
func (rel related) key() string {
	var names []string
	for v := range rel {
		names = append(names, flow.VarPath(v))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
