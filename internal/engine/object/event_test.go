package object_test

import (
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/object"
)

const reading = `
func read(ctx context.Context, c client.Client, k client.ObjectKey) { cell := &v1.Cell{}; _ = c.Get(ctx, k, cell) }
func update(ctx context.Context, c client.Client, cell *v1.Cell) { _ = c.Update(ctx, cell) }
func status(ctx context.Context, c client.Client, cell *v1.Cell) { _ = c.Status().Update(ctx, cell) }
func patch(ctx context.Context, c client.Client, cell *v1.Cell) { _ = c.Patch(ctx, cell, client.MergeFrom(cell)) }
func nothing(ctx context.Context, c client.Client, cell *v1.Cell) { _ = cell.GetName() }
func byHelper(ctx context.Context, c client.Client, cell *v1.Cell) { update(ctx, c, cell) }
func otherByHelper(ctx context.Context, c client.Client, cell, other *v1.Cell) { update(ctx, c, other) }
func inPlace(ctx context.Context, c client.Client, cell *v1.Cell) { func() { _ = c.Update(ctx, cell) }() }
func held(ctx context.Context, c client.Client, cell *v1.Cell) { f := func() { _ = c.Update(ctx, cell) }; f() }
func deferred(ctx context.Context, c client.Client, cell *v1.Cell) { defer func() { _ = c.Update(ctx, cell) }() }
func started(ctx context.Context, c client.Client, cell *v1.Cell) { go c.Update(ctx, cell) }
func both(ctx context.Context, c client.Client, k client.ObjectKey, cell *v1.Cell) { _ = c.Get(ctx, k, cell); _ = c.Update(ctx, cell) }
type holder struct { cell *v1.Cell }
func arguments(ctx context.Context, c client.Client, k client.ObjectKey, cell *v1.Cell) { keep(c.Update(ctx, cell), c.Get(ctx, k, cell)) }
func keep(a, b error) {}
func field(ctx context.Context, c client.Client, h *holder) { _ = c.Update(ctx, h.cell) }
func fieldByHelper(ctx context.Context, c client.Client, h *holder) { field(ctx, c, h) }
func loops(ctx context.Context, c client.Client, cell *v1.Cell) { _ = c.Update(ctx, cell); loops(ctx, c, cell) }
`

// What happens to an object is found where it happens, also through helpers and literals that run in place; what is
// deferred or started is left to those who ask for it.
func TestEvents(t *testing.T) {
	p := enginetest.Check(t, reading)
	tracker := object.NewTracker()
	for name, want := range map[string]string{
		"read": "read cell", "update": "write cell", "status": "write cell", "patch": "write cell", "nothing": "",
		"byHelper": "write cell", "otherByHelper": "write other", "inPlace": "write cell", "deferred": "", "started": "",
		"arguments": "read cell, write cell", "both": "read cell, write cell", "field": "write h.cell", "fieldByHelper": "write h.cell",
	} {
		f := enginetest.Function(t, p, name)
		var got []string
		f.Walk(f.Entry(), func(at flow.Point) bool {
			for _, ev := range tracker.Events(f, at.Node()) {
				got = append(got, [...]string{"read", "write"}[ev.Kind]+" "+path(ev.Path))
			}
			return true
		})
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %q, expected %q", name, text, want)
		}
	}
	f := enginetest.Function(t, p, "held")
	if evs := tracker.Events(f, enginetest.Call(t, f, "f")); len(evs) != 1 || evs[0].Kind != object.Write {
		t.Errorf("the call of a variable that holds a literal has %d events, expected its write", len(evs))
	}
	if evs := tracker.Events(enginetest.Function(t, p, "loops"), enginetest.Function(t, p, "loops").Body()); len(evs) == 0 {
		t.Error("a function that calls itself has no events")
	}
}

// path drops what tells variables of one name apart.
func path(p string) string {
	root, field, _ := strings.Cut(p, ".")
	root, _, _ = strings.Cut(root, "#")
	return strings.TrimSuffix(root+"."+field, ".")
}
