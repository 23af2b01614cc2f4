package patchers_test

import (
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/patchers"
)

const programs = `
type R struct { client.Client; cells *v1status.CellStatusClient }

func (r *R) flushed(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}
func (r *R) unflushed(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	cell.Status.Phase = "Ready"
	if cell.Size > 1 { return nil }
	_, err = p.Flush(ctx)
	return err
}
func (r *R) unchanged(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	cell.Status.Phase = "Ready"
	if !p.Changed() { return nil }
	_, err = p.Flush(ctx)
	return err
}
func (r *R) writtenByHand(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil || p == nil { return err }
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell)
}
func (r *R) otherWrittenByHand(ctx context.Context, k client.ObjectKey, second *v1.Cell) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil || p == nil { return err }
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, second)
}
func (r *R) deferred(ctx context.Context, k client.ObjectKey) (err error) {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	defer func() { _, err = p.Flush(ctx) }()
	cell.Status.Phase = "Ready"
	return nil
}
func (r *R) specOnly(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil || p == nil { return err }
	cell.Size = 2
	return nil
}
func (r *R) behind(ctx context.Context, k client.ObjectKey) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	if err := r.Update(ctx, cell); err != nil { return err }
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}
func (r *R) before(ctx context.Context, cell *v1.Cell) error {
	if err := r.Update(ctx, cell); err != nil { return err }
	p, err := r.cells.For(cell)
	if err != nil { return err }
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}
func (r *R) other(ctx context.Context, k client.ObjectKey, second *v1.Cell) error {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return err }
	if err := r.Update(ctx, second); err != nil { return err }
	cell.Status.Phase = "Ready"
	_, err = p.Flush(ctx)
	return err
}
func (r *R) handedOn(ctx context.Context, k client.ObjectKey) (*v1status.CellStatusPatcher, error) {
	cell, p, err := r.cells.Fetch(ctx, k)
	if err != nil { return nil, err }
	cell.Status.Phase = "Ready"
	return p, nil
}
`

// A status that changes is flushed on every way out, and no client touches the object in between. A patcher that is handed
// on is somebody else's concern.
func TestFind(t *testing.T) {
	p := enginetest.Check(t, programs)
	want := map[string]class.Class{"unflushed": class.Unflushed, "otherWrittenByHand": class.Unflushed, "behind": class.BehindThePatcher}
	for _, f := range p.Funcs() {
		if f.Decl == nil {
			continue
		}
		var got class.Class
		for _, finding := range patchers.Find(f, object.NewTracker()) {
			got = finding.Class
		}
		if name := f.Decl.Name.Name; got != want[name] {
			t.Errorf("%s: %q, expected %q", name, got, want[name])
		}
	}
}
