package patchers

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// clearedEarly are the fields of the status that are cleared before a write that can fail, where a deferred FlushOnReturn writes them
// also if it fails.
func (h *handle) clearedEarly() []*class.Finding {
	if !h.flushesOnReturn() || h.object == "" {
		return nil
	}
	start := h.f.At(h.call)
	if !start.Valid() {
		return nil
	}
	var out []*class.Finding
	h.f.Walk(start, func(p flow.Point) bool {
		field := h.clears(p.Node())
		if field == "" || len(out) > 0 {
			return true
		}
		if step := h.stepAfter(p, field); step != nil {
			out = append(out, &class.Finding{
				Fn: h.f, Pos: h.call.Pos(), End: h.call.End(), Class: class.ClearedEarly, Kind: h.kind(), Call: h.call,
				Reason: "a field of the status is cleared before a write that can fail, and the deferred FlushOnReturn writes it also then: clear it after the write, or defer FlushOnSuccess",
				Related: []class.Related{
					{Pos: p.Node().Pos(), Message: "the field is cleared here"},
					{Pos: step.Pos(), Message: "this write can fail"},
				},
			})
		}
		return true
	})
	return out
}

// flushesOnReturn: FlushOnReturn of the patcher is deferred.
func (h *handle) flushesOnReturn() bool {
	found := false
	ast.Inspect(h.f.Body(), func(n ast.Node) bool {
		if d, ok := n.(*ast.DeferStmt); ok && h.isMethod(d.Call, "FlushOnReturn") {
			found = true
		}
		return !found
	})
	return found
}

// clears is the path of the field below the status that a node sets to nil or to an empty value.
func (h *handle) clears(n ast.Node) string {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !h.isEmpty(a.Rhs[0]) {
		return ""
	}
	if path := h.f.Path(a.Lhs[0]); flow.Within(path, h.object+".Status") {
		return path
	}
	return ""
}

func (h *handle) isEmpty(e ast.Expr) bool {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		if _, null := h.f.Pkg.Info.Uses[id].(*types.Nil); null {
			return true
		}
	}
	tv := h.f.Pkg.Info.Types[e]
	return tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == ""
}

// stepAfter is a write that can run after p, before the field is set again or the status is flushed.
func (h *handle) stepAfter(p flow.Point, field string) ast.Node {
	var step ast.Node
	h.f.Walk(p, func(q flow.Point) bool {
		n := q.Node()
		if step != nil || h.sets(n, field) || h.flushes(n) {
			return false
		}
		h.f.EachCall(n, func(call *ast.CallExpr) {
			writer, _ := kube.Kind(h.f.Pkg.Callee(call))
			if step == nil && (writer != kube.NoWriter && writer != kube.Generated || h.isMethod(call, "PatchMetadata", "PatchSpec")) && h.returnsItsError(n, call) {
				step = call
			}
		})
		return step == nil
	})
	return step
}

func (h *handle) sets(n ast.Node, field string) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, lhs := range a.Lhs {
		if h.f.Path(lhs) == field {
			return true
		}
	}
	return false
}

// returnsItsError: the call stands in a return statement, or its error is assigned, and not dropped.
func (h *handle) returnsItsError(n ast.Node, call *ast.CallExpr) bool {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.AssignStmt:
		last, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		return ok && last.Name != "_" && len(n.Rhs) == 1 && ast.Unparen(n.Rhs[0]) == ast.Expr(call)
	}
	return false
}
