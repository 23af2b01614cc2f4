package kube_test

import (
	"go/ast"
	"go/types"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

const writers = `
type embeds struct { client.Client }
type other interface { Update(ctx context.Context, obj client.Object) error }
type result struct { RequeueAfter int64 }
type Reconciler struct{}
func (Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }

func calls(ctx context.Context, c client.Client, e embeds, w client.SubResourceWriter, o other, cell *v1.Cell, k client.ObjectKey) {
	c.Status().Update(ctx, cell)
	c.Status().Patch(ctx, cell, nil)
	w.Update(ctx, cell)
	e.Status().Update(ctx, cell)
	e.Update(ctx, cell)
	c.Delete(ctx, cell)
	o.Update(ctx, cell)
	c.Get(ctx, k, cell)
	cell.DeepCopy()
	client.MergeFrom(cell)
	client.MergeFromWithOptions(cell)
	retry.RetryOnConflict(1, nil)
	apierrors.IsConflict(nil)
	apierrors.IsNotFound(nil)
}

func kinds(cell v1.Cell, c client.Client, e embeds, o other, r result, rr reconcile.Result, err error, ctx context.Context, s string, lock client.MergeFromWithOptimisticLock) {}
`

// Writes and reads are known by the shape of their methods, wherever those come from; a method of the same name is not.
func TestCalls(t *testing.T) {
	p := enginetest.Check(t, writers)
	f := enginetest.Function(t, p, "calls")
	for _, row := range []struct {
		call   string
		writer kube.Writer
		verb   kube.Verb
		says   string
	}{
		{"c.Status().Update", kube.SubResource, kube.Update, ""},
		{"c.Status().Patch", kube.SubResource, kube.Patch, ""},
		{"w.Update", kube.SubResource, kube.Update, ""},
		{"e.Status().Update", kube.SubResource, kube.Update, ""},
		{"e.Update", kube.Main, kube.Update, ""},
		{"c.Delete", kube.Main, kube.Delete, "delete"},
		{"o.Update", kube.NoWriter, "", ""},
		{"c.Get", kube.NoWriter, "", "get"},
		{"cell.DeepCopy", kube.NoWriter, "", "copy"},
		{"client.MergeFrom", kube.NoWriter, "", "merge"},
		{"client.MergeFromWithOptions", kube.NoWriter, "", "merge with options"},
		{"retry.RetryOnConflict", kube.NoWriter, "", "retry"},
		{"apierrors.IsConflict", kube.NoWriter, "", "conflict"},
		{"apierrors.IsNotFound", kube.NoWriter, "", "other reason"},
	} {
		fn := p.Callee(enginetest.Call(t, f, row.call))
		if w, v := kube.Kind(fn); w != row.writer || v != row.verb {
			t.Errorf("%s is writer %d, verb %q; expected %d, %q", row.call, w, v, row.writer, row.verb)
		}
		if got := says(fn); got != row.says {
			t.Errorf("%s is %q, expected %q", row.call, got, row.says)
		}
	}
	if _, v := kube.Kind(nil); v != "" {
		t.Error("a call of a value is a write")
	}
}

// says is what the predicates know about a function.
func says(fn *types.Func) string {
	into, _ := kube.IsGet(fn)
	merge, options := kube.MergeFrom(fn)
	switch {
	case into:
		return "get"
	case kube.IsCopy(fn):
		return "copy"
	case merge && options:
		return "merge with options"
	case merge:
		return "merge"
	case kube.IsRetry(fn):
		return "retry"
	case kube.IsConflictCheck(fn):
		return "conflict"
	case kube.IsOtherReasonCheck(fn):
		return "other reason"
	case kube.IsDelete(fn):
		return "delete"
	}
	return ""
}

// Types are known by what they can do.
func TestTypes(t *testing.T) {
	p := enginetest.Check(t, writers)
	f := enginetest.Function(t, p, "kinds")
	preds := map[string]func(types.Type) bool{
		"object": kube.IsObject, "client": kube.IsClient, "holds": kube.HoldsClient, "result": kube.IsResult, "error": kube.IsError,
		"context": kube.IsContext, "status": kube.HasStatus, "lock": kube.IsLockOption,
	}
	want := map[string][]string{
		"cell": {"object", "status"}, "c": {"client", "holds"}, "e": {"client", "holds"}, "o": nil, "r": {"result"}, "rr": {"result"},
		"err": {"error"}, "ctx": {"context"}, "s": nil, "lock": {"lock"},
	}
	for name, holds := range want {
		typ := param(f, name).Type()
		for pred, is := range preds {
			expected := false
			for _, h := range holds {
				expected = expected || h == pred
			}
			if got := is(typ); got != expected {
				t.Errorf("%s (%s): %s is %v, expected %v", name, typ, pred, got, expected)
			}
		}
	}
}

func param(f *flow.Func, name string) *types.Var {
	for i := range f.Signature().Params().Len() {
		if v := f.Param(i); v.Name() == name {
			return v
		}
	}
	return nil
}

// A Reconcile is called by the controller only if it has its signature.
func TestIsReconcile(t *testing.T) {
	p := enginetest.Check(t, writers+`
type bare struct{}
func (bare) Reconcile(ctx context.Context) error { return nil }
func Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }
`)
	for _, f := range p.Funcs() {
		if f.Decl == nil || f.Decl.Name.Name != "Reconcile" {
			continue
		}
		want := f.Decl.Recv != nil && f.Decl.Recv.List[0].Type.(*ast.Ident).Name == "Reconciler"
		if got := kube.IsReconcile(f.Obj); got != want {
			t.Errorf("%s: %v, expected %v", f.Obj.FullName(), got, want)
		}
	}
}
