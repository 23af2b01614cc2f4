package fix

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const recaptureMessage = "Capture the base again after the other write, and lock it"

// recapture fixes a stale base: after each write that lies between its capture and the patch, the base is captured again.
// That is safe where such a write decodes the response into the object, ends the function when it fails, and comes before
// any edit of the status: then the new base is what the old one would have been.
func recapture(f *class.Finding, s *safety) {
	if f.Class != class.StaleBase || f.Merge == nil || f.Base == nil || f.Base.Fn != f.Fn || f.Merge.Frame.Fn != f.Fn {
		return
	}
	merge, ok := f.Merge.Expr.(*ast.CallExpr)
	if !ok || len(merge.Args) == 0 || merge.Ellipsis.IsValid() {
		return
	}
	r := &recapturer{finding: f, fn: f.Fn, path: f.Fn.Path(f.Site.Object()), merge: merge}
	if r.path == "" || !r.held() || !r.between(s) {
		return
	}
	edits := r.out
	if _, locked := lockedText(f.Fn.Pkg, merge); !locked {
		edits = append(edits, lockEdits(f.Fn.Pkg, merge)...)
	}
	d := s.freshUntil(f)
	if f.Dropped {
		d = doubtAt(f.Site.Node, droppedDoubt)
	}
	f.Fixes = append(f.Fixes, suggestion(class.Recaptured, recaptureMessage, d, edits))
}

type recapturer struct {
	finding *class.Finding
	fn      *flow.Func
	path    string
	merge   *ast.CallExpr

	def   *ast.AssignStmt // where the base, or the patch made of it, is captured
	again string          // the statement that captures it again
	out   []class.Edit
}

// held: base := obj.DeepCopy(), or patch := client.MergeFrom(obj.DeepCopy()), once and in this function.
func (r *recapturer) held() bool {
	v := r.fn.Pkg.Var(r.merge.Args[0])
	if v == nil {
		v = r.fn.Pkg.Var(r.finding.Site.Patch())
	}
	if v == nil {
		return false
	}
	defs := r.fn.Outermost().AllDefs(v)
	if len(defs) != 1 || defs[0].Fn != r.fn || defs[0].Rhs == nil || r.finding.Base.Node == nil {
		return false
	}
	def, ok := defs[0].Node.(*ast.AssignStmt)
	if !ok || len(def.Lhs) != 1 || r.finding.Base.Node.Pos() < def.Pos() || r.finding.Base.Node.End() > def.End() {
		return false
	}
	text := types.ExprString(def.Rhs[0])
	if def.Rhs[0] == ast.Expr(r.merge) {
		text, _ = lockedText(r.fn.Pkg, r.merge)
	}
	r.def, r.again = def, v.Name()+" = "+text
	return text != ""
}

// between finds the writes, and captures again after each.
func (r *recapturer) between(s *safety) bool {
	from, to := r.fn.At(r.def), r.fn.At(r.finding.Site.Node)
	ok := true
	r.fn.Between(from, to, func(p flow.Point) {
		for _, ev := range s.tracker.Events(r.fn, p.Node()) {
			if ev.Kind == object.Write && (ev.Path == r.path || flow.Within(ev.Path, r.path)) {
				ok = ok && inPlace(r.fn, ev, r.path) && r.before(s, from, p) && r.after(ev.Call)
			}
		}
	})
	return ok && len(r.out) > 0
}

// before: nothing edits the status from the capture to the write at p, or there is another write in between.
func (r *recapturer) before(s *safety, from, p flow.Point) bool {
	clean := true
	r.fn.Between(from, p, func(q flow.Point) { clean = clean && !edits(r.fn, r.path, ".Status", q.Node()) })
	return clean && !edits(r.fn, r.path, ".Status", p.Node())
}

// after captures again where the write has succeeded: behind the check of its error, which must leave.
func (r *recapturer) after(write *ast.CallExpr) bool {
	check := errorCheck(r.fn, write)
	if check == nil || !leaves(check.Body) {
		return false
	}
	r.out = append(r.out, class.Edit{Pos: check.End(), End: check.End(), Text: "\n" + r.again})
	return true
}

// errorCheck is the statement that asks for the error of a call: `if err := call; err != nil` or the one right after
// `err := call`.
func errorCheck(fn *flow.Func, call *ast.CallExpr) *ast.IfStmt {
	a, ok := fn.Parent(call).(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	check, ok := fn.Parent(a).(*ast.IfStmt)
	if !ok {
		check = nextIf(fn, a)
	}
	if check == nil || check.Else != nil || !isNotNil(fn.Pkg, check.Cond, fn.Pkg.Var(a.Lhs[0])) {
		return nil
	}
	if _, inBlock := fn.Parent(check).(*ast.BlockStmt); !inBlock {
		return nil
	}
	return check
}

func nextIf(fn *flow.Func, stmt ast.Stmt) *ast.IfStmt {
	block, ok := fn.Parent(stmt).(*ast.BlockStmt)
	if !ok {
		return nil
	}
	for i, s := range block.List[:len(block.List)-1] {
		if s == stmt {
			next, _ := block.List[i+1].(*ast.IfStmt)
			if next != nil && next.Init != nil {
				return nil
			}
			return next
		}
	}
	return nil
}

// isNotNil: v != nil.
func isNotNil(pkg *flow.Package, cond ast.Expr, v *types.Var) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && v != nil && b.Op == token.NEQ && pkg.Var(b.X) == v && types.ExprString(b.Y) == "nil"
}

// leaves: control does not go on behind the block.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	}
	return false
}
