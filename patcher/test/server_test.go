package patcher_test

import (
	"encoding/json"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// newGauge creates the kind with required fields. No status was ever written to it.
func newGauge(t *testing.T, w *wire) *v1.Gauge {
	t.Helper()
	gauge := &v1.Gauge{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
	// The Go type would send its zero status along, which a create ignores.
	if err := w.Create(t.Context(), gauge); err != nil {
		t.Fatal(err)
	}
	return gauge
}

func TestS17_RequiredFieldsTravel(t *testing.T) {
	t.Run("rule: the first write, where only the phase changed", func(t *testing.T) {
		w := newWire(t)
		gauge, p, err := v1status.NewGaugeStatusClient(w, w).Fetch(t.Context(), client.ObjectKeyFromObject(newGauge(t, w)))
		if err != nil {
			t.Fatal(err)
		}
		gauge.Status.Phase = "Ready"
		status := patchOf(t, w.during(func() { flushGauge(t, p) }))["status"]
		want := map[string]any{
			"phase": "Ready",
			"ready": false, "count": 0.0, "reason": "", "items": []any{}, "links": map[string]any{}, "limit": "0",
			"nested": map[string]any{"on": false, "level": 0.0, "deep": map[string]any{"marks": []any{}}},
			"soft":   map[string]any{},
		}
		if !reflect.DeepEqual(status, want) {
			t.Errorf("sent %v, want %v", status, want)
		}
	})
	t.Run("rule: a later write carries those that are still zero, and no other", func(t *testing.T) {
		w := newWire(t)
		gauge, p, err := v1status.NewGaugeStatusClient(w, w).Fetch(t.Context(), client.ObjectKeyFromObject(newGauge(t, w)))
		if err != nil {
			t.Fatal(err)
		}
		gauge.Status = v1.GaugeStatus{
			Ready: true, Count: 3, Items: []string{"a"}, Links: map[string]string{"a": "b"}, Limit: resource.MustParse("5"),
			Nested: v1.Nested{Level: 2}, Entries: []v1.Entry{{Name: "one"}},
		}
		flushGauge(t, p)
		gauge.Status.Phase = "Ready"
		status := patchOf(t, w.during(func() { flushGauge(t, p) }))["status"]
		want := map[string]any{
			"phase": "Ready", "reason": "", "soft": map[string]any{},
			"nested": map[string]any{"on": false, "deep": map[string]any{"marks": []any{}}},
		}
		if !reflect.DeepEqual(status, want) {
			t.Errorf("sent %v, want %v", status, want)
		}
	})
	t.Run("rule: a nil list inside a list item goes as []", func(t *testing.T) {
		w := newWire(t)
		gauge, p, err := v1status.NewGaugeStatusClient(w, w).Fetch(t.Context(), client.ObjectKeyFromObject(newGauge(t, w)))
		if err != nil {
			t.Fatal(err)
		}
		gauge.Status.Entries = []v1.Entry{{Name: "one"}}
		if result, err := p.Flush(t.Context()); err != nil || result != patcher.ResultPatched {
			t.Fatalf("Flush: %q, %v", result, err)
		}
		if gauge.Status.Entries[0].Tags != nil {
			t.Error("the status was replaced, though the server stored what was sent")
		}
	})
	t.Run("rule: clearing a required field", func(t *testing.T) {
		w := newWire(t)
		key := client.ObjectKeyFromObject(newGauge(t, w))
		gauge, p, err := v1status.NewGaugeStatusClient(w, w).Fetch(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		gauge.Status.Items, gauge.Status.Nested.Deep.Marks, gauge.Status.Soft.Hint = []string{"a"}, []int32{1}, "x"
		flushGauge(t, p)
		gauge.Status.Items, gauge.Status.Nested.Deep.Marks, gauge.Status.Soft.Hint = nil, nil, ""
		flushGauge(t, p)
		live := &v1.Gauge{}
		if err := w.Get(t.Context(), key, live); err != nil {
			t.Fatal(err)
		}
		if len(live.Status.Items) != 0 || len(live.Status.Nested.Deep.Marks) != 0 || live.Status.Soft.Hint != "" {
			t.Errorf("the server has %+v", live.Status)
		}
	})
	t.Run("control: the plain locked patch is refused", func(t *testing.T) {
		w := newWire(t)
		gauge := newGauge(t, w)
		base := gauge.DeepCopy()
		gauge.Status.Phase = "Ready"
		err := w.Status().Patch(t.Context(), gauge, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsInvalid(err) {
			t.Errorf("%v, want a 422: the tests above prove nothing", err)
		}
	})
}

func TestS17_AtEveryLevelOfObjects(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) {
		s.Plan = &v1.Plan{ID: "p-1"}
		s.Shares = map[string]v1.Share{"zero": {Owner: "o"}, "one": {Weight: 1}}
	})
	cell, p := b.fetch()
	cell.Status.Phase = "Ready"
	status := patchOf(t, b.wire.during(func() { b.flush(p, patcher.ResultPatched) }))["status"]
	want := map[string]any{
		"phase":  "Ready",
		"plan":   map[string]any{"done": false},
		"shares": map[string]any{"zero": map[string]any{"weight": 0.0}},
	}
	if !reflect.DeepEqual(status, want) {
		t.Errorf("sent %v, want %v", status, want)
	}
}

// A Dial is compared field by field, without trees, and must send the same.
func TestS17_AtEveryLevelOfObjectsThatNeedNoTrees(t *testing.T) {
	w := newWire(t)
	dial := &v1.Dial{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
	if err := w.Create(t.Context(), dial); err != nil {
		t.Fatal(err)
	}
	dial, p, err := v1status.NewDialStatusClient(w, w).Fetch(t.Context(), client.ObjectKeyFromObject(dial))
	if err != nil {
		t.Fatal(err)
	}
	nested := func(level float64) map[string]any {
		return map[string]any{"on": false, "level": level, "deep": map[string]any{"marks": []any{}}}
	}
	for _, row := range []struct {
		name   string
		mutate func(*v1.DialStatus)
		want   map[string]any
	}{
		{"the first write", func(s *v1.DialStatus) { s.Phase = "Ready" },
			map[string]any{"phase": "Ready", "ready": false, "nested": nested(0), "soft": map[string]any{}}},
		{"an object that is new", func(s *v1.DialStatus) { s.Turn = &v1.Turn{Angle: 3} },
			map[string]any{"ready": false, "nested": nested(0), "soft": map[string]any{},
				"turn": map[string]any{"angle": 3.0, "nested": nested(0), "soft": map[string]any{}}}},
		{"a field inside it", func(s *v1.DialStatus) { s.Ready, s.Nested.On, s.Nested.Level, s.Turn.Nested.Level = true, true, 1, 2 },
			map[string]any{"ready": true, "nested": map[string]any{"on": true, "level": 1.0, "deep": map[string]any{"marks": []any{}}}, "soft": map[string]any{},
				"turn": map[string]any{"nested": nested(2), "soft": map[string]any{}}}},
		{"an object that omitzero left out", func(s *v1.DialStatus) { s.Idle.Level = 5 },
			map[string]any{"idle": nested(5), "nested": map[string]any{"deep": map[string]any{"marks": []any{}}}, "soft": map[string]any{},
				"turn": map[string]any{"nested": map[string]any{"on": false, "deep": map[string]any{"marks": []any{}}}, "soft": map[string]any{}}}},
		{"an object that goes", func(s *v1.DialStatus) { s.Turn = nil },
			map[string]any{"turn": nil, "idle": map[string]any{"on": false, "deep": map[string]any{"marks": []any{}}}, "nested": map[string]any{"deep": map[string]any{"marks": []any{}}}, "soft": map[string]any{}}},
	} {
		row.mutate(&dial.Status)
		sent := w.during(func() {
			for _, want := range []patcher.Result{patcher.ResultPatched, patcher.ResultUnchanged} {
				if result, err := p.Flush(t.Context()); err != nil || result != want {
					t.Fatalf("%s: Flush: %q, %v, want %q", row.name, result, err, want)
				}
			}
		})
		if status := patchOf(t, sent)["status"]; !reflect.DeepEqual(status, row.want) {
			t.Errorf("%s: sent %v, want %v", row.name, status, row.want)
		}
	}
	t.Run("control: the plain locked patch is refused", func(t *testing.T) {
		bare := &v1.Dial{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
		if err := w.Create(t.Context(), bare); err != nil {
			t.Fatal(err)
		}
		base := bare.DeepCopy()
		bare.Status.Phase = "Ready"
		err := w.Status().Patch(t.Context(), bare, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsInvalid(err) {
			t.Errorf("%v, want a 422", err)
		}
	})
}

func flushGauge(t *testing.T, p *v1status.GaugeStatusPatcher) {
	t.Helper()
	if result, err := p.Flush(t.Context()); err != nil || result != patcher.ResultPatched {
		t.Fatalf("Flush: %q, %v", result, err)
	}
	if result, err := p.Flush(t.Context()); err != nil || result != patcher.ResultUnchanged {
		t.Fatalf("Flush again: %q, %v", result, err)
	}
}

func TestS18_NullsInFreeFormFields(t *testing.T) {
	withNull := func(s *v1.CellStatus) {
		s.Free = &runtime.RawExtension{Raw: []byte(`{"kept":1,"empty":null,"list":[{"empty":null,"kept":2}]}`)}
	}
	t.Run("rule: it is a value, and sent once", func(t *testing.T) {
		b := newBed(t)
		for i, want := range []patcher.Result{patcher.ResultPatched, patcher.ResultUnchanged, patcher.ResultUnchanged} {
			cell, p := b.fetch()
			withNull(&cell.Status)
			sent := b.wire.during(func() { b.flush(p, want) })
			if i > 0 && len(sent) > 0 {
				t.Errorf("reconcile %d sent %v", i, sent)
			}
		}
		requireFree(t, b, `{"kept":1,"empty":null,"list":[{"empty":null,"kept":2}]}`)
	})
	t.Run("rule: a value that becomes null stays as null", func(t *testing.T) {
		b := newBed(t, func(s *v1.CellStatus) { s.Free = &runtime.RawExtension{Raw: []byte(`{"a":1,"b":2}`)} })
		cell, p := b.fetch()
		cell.Status.Free.Raw = []byte(`{"a":1,"b":null}`)
		b.flush(p, patcher.ResultPatched)
		requireFree(t, b, `{"a":1,"b":null}`)
	})
	t.Run("rule: a null that goes is removed", func(t *testing.T) {
		b := newBed(t, func(s *v1.CellStatus) { s.Free = &runtime.RawExtension{Raw: []byte(`{"a":1,"b":null}`)} })
		cell, p := b.fetch()
		cell.Status.Free.Raw = []byte(`{"a":1}`)
		b.flush(p, patcher.ResultPatched)
		requireFree(t, b, `{"a":1}`)
	})
	t.Run("control: the locked merge patch drops it, and sends it at every reconcile", func(t *testing.T) {
		b := newBed(t)
		for range 2 {
			cell := b.live()
			base := cell.DeepCopy()
			withNull(&cell.Status)
			data, err := lockedMerge(base).Data(cell)
			b.must(err)
			var body struct {
				Status map[string]any `json:"status"`
			}
			b.must(json.Unmarshal(data, &body))
			if len(body.Status) == 0 {
				t.Error("nothing to send: the test above proves nothing")
			}
			b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		}
		requireFree(t, b, `{"kept":1,"list":[{"kept":2}]}`)
	})
}

func requireFree(t *testing.T, b *bed, want string) {
	t.Helper()
	var got, wanted any
	b.must(json.Unmarshal(b.live().Status.Free.Raw, &got))
	b.must(json.Unmarshal([]byte(want), &wanted))
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("the server has %v, want %v", got, wanted)
	}
}

func TestS16_FieldsThatTheGoTypeDoesNotKnow(t *testing.T) {
	unknown := `{"status":{"newer":{"a":1},"free":{"x":1},"plan":{"id":"p-1","done":false,"newer":"n","tasks":[{"name":"one","newer":"n"}]}}}`
	seed := func(t *testing.T) *bed {
		b := newBed(t)
		b.must(b.wire.Create(b.ctx, newerCell(b)))
		return b
	}
	read := func(b *bed) map[string]any {
		obj := newerCell(b)
		b.must(b.wire.Get(b.ctx, b.key, obj))
		status, _ := obj.Object["status"].(map[string]any)
		return status
	}
	write := func(b *bed, body string) {
		b.must(b.wire.Status().Patch(b.ctx, newerCell(b), client.RawPatch(types.MergePatchType, []byte(body))))
	}
	t.Run("rule: a Flush keeps them, except inside a list that it replaces", func(t *testing.T) {
		b := seed(t)
		write(b, unknown)
		c := olderClient(t)
		cell, p, err := v1status.NewCellStatusClient(c, c).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase, cell.Status.Plan.Done = "Ready", true
		b.flush(p, patcher.ResultPatched)
		status := read(b)
		plan := status["plan"].(map[string]any)
		if status["newer"] == nil || plan["newer"] == nil || status["phase"] != "Ready" || plan["done"] != true {
			t.Errorf("the server has %v", status)
		}
		if task := plan["tasks"].([]any)[0].(map[string]any); task["newer"] == nil {
			t.Errorf("a list that did not change was replaced: %v", task)
		}
		cell.Status.Plan.Tasks[0].Note = "changed"
		b.flush(p, patcher.ResultPatched)
		if task := read(b)["plan"].(map[string]any)["tasks"].([]any)[0].(map[string]any); task["newer"] != nil {
			t.Errorf("the list was not replaced whole, and the documentation says so: %v", task)
		}
	})
	t.Run("control: Update drops them", func(t *testing.T) {
		b := seed(t)
		write(b, unknown)
		c := olderClient(t)
		cell := &v1.Cell{}
		b.must(c.Get(b.ctx, b.key, cell))
		cell.Status.Phase = "Ready"
		b.must(c.Status().Update(b.ctx, cell))
		if status := read(b); status["newer"] != nil {
			t.Errorf("the server has %v: the test above proves nothing", status)
		}
	})
}

// What no client can hold: with conversion None, the server prunes what the schema of the requested version does not have.
func TestS16_AnOlderVersionUnderConversionNonePrunes(t *testing.T) {
	flushed := func(t *testing.T, through schema.GroupVersionKind) map[string]any {
		b := newBed(t)
		stored := newerCell(b)
		stored.SetGroupVersionKind(through)
		if through == splitCells {
			stored.SetAPIVersion(splitCells.Group + "/v2") // the storage version, which has the field
		}
		b.must(b.wire.Create(b.ctx, stored))
		b.must(b.wire.Status().Patch(b.ctx, stored, client.RawPatch(types.MergePatchType, []byte(`{"status":{"newer":{"a":1}}}`))))
		if status, _ := stored.Object["status"].(map[string]any); status["newer"] == nil {
			t.Fatalf("the server has %v: it never stored the field", status)
		}
		w := &wire{}
		w.WithWatch = server.Client(t, schemeWith(t, through), w.recorder.Wrap)
		cell, p, err := v1status.NewCellStatusClient(w, w).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "Ready"
		body := patchOf(t, w.during(func() { b.flush(p, patcher.ResultPatched) }))
		if sent := body["status"].(map[string]any); len(sent) != 1 {
			t.Errorf("sent %v, want the phase alone", sent)
		}
		b.must(b.wire.Get(b.ctx, b.key, stored))
		status, _ := stored.Object["status"].(map[string]any)
		return status
	}
	t.Run("rule: a field of the storage version is lost, though it was not sent", func(t *testing.T) {
		if status := flushed(t, splitCells); status["newer"] != nil || status["phase"] != "Ready" {
			t.Errorf("the server has %v: the documentation can promise more", status)
		}
	})
	t.Run("control: where the requested version is the storage version, it is kept", func(t *testing.T) {
		if status := flushed(t, newerCells); status["newer"] == nil || status["phase"] != "Ready" {
			t.Errorf("the server has %v", status)
		}
	})
}

func TestS13_AKindWithoutTheSubresource(t *testing.T) {
	b := newBed(t)
	cell := newerCell(b)
	cell.SetGroupVersionKind(bareCells)
	b.must(b.wire.Create(b.ctx, cell))
	c := server.Client(t, schemeWith(t, bareCells))
	requireNoSubresource(t, c, b.key)
	if _, _, err := v1status.NewCellStatusClient(c, c).Fetch(b.ctx, client.ObjectKey{Namespace: b.key.Namespace, Name: "none"}); !apierrors.IsNotFound(err) {
		t.Errorf("control: %v", err)
	}
}
