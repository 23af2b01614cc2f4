package errflow

import (
	"go/ast"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// queues remembers which functions put a key into a work queue, by how deep they are looked into.
type queues map[queueing]bool

type queueing struct {
	fn    *flow.Func
	depth int
}

// in: the call puts a key into a work queue, itself or in a function that it calls.
func (q queues) in(f *flow.Func, call *ast.CallExpr) bool { return q.call(f, call, 0) }

func (q queues) call(f *flow.Func, call *ast.CallExpr, depth int) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return namedEnqueue(call)
	}
	if strings.HasPrefix(fn.Name(), "Add") && fn.Signature().Recv() != nil && kube.PkgPath(fn) == "k8s.io/client-go/util/workqueue" {
		return true
	}
	for _, d := range f.Pkg.Callees(call) {
		if q.function(d, depth+1) {
			return true
		}
	}
	return false
}

func (q queues) function(d *flow.Func, depth int) bool {
	if depth > limits.Queues {
		return false
	}
	at := queueing{d, depth}
	found, known := q[at]
	if !known {
		d.EachCall(d.Body(), func(c *ast.CallExpr) { found = found || q.call(d, c, depth) })
		q[at] = found
	}
	return found
}

// namedEnqueue: a function value cannot be looked into; one that is called enqueue is believed.
func namedEnqueue(c *ast.CallExpr) bool {
	name := ""
	switch x := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "enqueue") || strings.HasPrefix(name, "requeue")
}
