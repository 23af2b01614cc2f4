package site_test

import (
	"go/types"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

const writes = `
type R struct { client.Client }

func (r *R) status(ctx context.Context, cell *v1.Cell) { r.Status().Update(ctx, cell) }
func (r *R) main(ctx context.Context, cell *v1.Cell) { r.Update(ctx, cell) }
func (r *R) scale(ctx context.Context, cell *v1.Cell) { r.SubResource("scale").Update(ctx, cell) }
func (r *R) named(ctx context.Context, cell *v1.Cell) { r.SubResource("status").Update(ctx, cell) }
func (r *R) variable(ctx context.Context, cell *v1.Cell) { w := r.Status(); w.Patch(ctx, cell, client.MergeFrom(cell)) }
func (r *R) value() any { return r.Status().Update }
func (r *R) reads(ctx context.Context, cell *v1.Cell) { r.Get(ctx, client.ObjectKey{}, cell) }
func helper(ctx context.Context, cell *v1.Cell) {}
func callsHelper(ctx context.Context, cell *v1.Cell) { helper(ctx, cell) }

// Its callers are the writes.
type writer struct { client.SubResourceWriter }
func (w writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return w.SubResourceWriter.Update(ctx, obj, opts...)
}
`

// Each write is found once, with its subresource; reads, and clients that hand a write on, are not.
func TestFind(t *testing.T) {
	p := enginetest.Check(t, writes)
	type found struct {
		status bool
		sub    string
		object string
		value  bool
	}
	want := map[string]found{
		"status": {true, "status", "cell", false}, "named": {true, "status", "cell", false}, "scale": {false, "scale", "cell", false},
		"main": {false, "", "cell", false}, "variable": {true, "status", "cell", false}, "value": {true, "status", "", true},
		"callsHelper": {true, "status", "", false},
	}
	for _, s := range site.Find(p, p.Files, []string{"example.com/p.helper"}) {
		name := s.Fn.Decl.Name.Name
		w, ok := want[name]
		delete(want, name)
		if !ok {
			t.Errorf("%s is a site, expected none", name)
			continue
		}
		if s.Status != w.status || (s.Call == nil) != w.value || s.Wrapper != (name == "callsHelper") {
			t.Errorf("%s: status %v, wrapper %v, a value %v; expected %v", name, s.Status, s.Wrapper, s.Call == nil, w)
		}
		if s.Wrapper || w.value {
			continue
		}
		if !s.Status && s.Subresource != w.sub {
			t.Errorf("%s: subresource %q, expected %q", name, s.Subresource, w.sub)
		}
		if got := types.ExprString(s.Object()); got != w.object {
			t.Errorf("%s writes %s, expected %s", name, got, w.object)
		}
		if (s.Patch() != nil) != (s.Verb == kube.Patch) {
			t.Errorf("%s: patch %v, verb %s", name, s.Patch(), s.Verb)
		}
	}
	for name := range want {
		t.Errorf("%s is no site, expected one", name)
	}
}
