package patchertest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// cellKind is what generated code would declare.
var cellKind = &patcher.Kind[*cell.Cell, cell.Status]{
	Name:         "Cell",
	New:          func() *cell.Cell { return &cell.Cell{} },
	Assign:       func(dst, src *cell.Cell) { *dst = *src },
	Status:       func(obj *cell.Cell) *cell.Status { return &obj.Status },
	DeepCopyInto: func(in, out *cell.Status) { *out = (&cell.Cell{Status: *in}).DeepCopyObject().(*cell.Cell).Status },
	Equal:        func(a, b *cell.Status) bool { return reflect.DeepEqual(a, b) },
	Trim:         func(_, _ *cell.Status) {},
}

// recordingTB is a test whose failures are kept.
type recordingTB struct {
	testing.TB
	cleanups []func()
	failures []string
}

// Helper does nothing.
func (r *recordingTB) Helper() {}

// Cleanup keeps f.
func (r *recordingTB) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// Errorf keeps the message.
func (r *recordingTB) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf keeps the message.
func (r *recordingTB) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// end runs the cleanups and returns the failures.
func (r *recordingTB) end() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.failures, "\n")
}

func TestNoBlindWrites(t *testing.T) {
	blind := func(base client.Object) client.Patch { return client.MergeFrom(base) }
	locked := func(base client.Object) client.Patch {
		return client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	for _, row := range []struct {
		name  string
		mode  patcher.Mode
		opts  []patcher.WrapOption
		patch func(client.Object) client.Patch
		want  string
	}{
		{"a blind write", patcher.Report, nil, blind, "blind_writes_test.go:"},
		{"a locked write", patcher.Report, nil, locked, ""},
		{"a write that the client locked", patcher.Lock, nil, blind, ""},
		{"a write that is allowed", patcher.Report, []patcher.WrapOption{patcher.AllowBlind(cellKind, "patchertest_test.writePhase")}, blind, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			scheme := cell.NewScheme()
			stored := &cell.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			c := patcher.Wrap(fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).WithStatusSubresource(stored).Build(), row.mode, cellKind).With(row.opts...)
			recorder := &recordingTB{TB: t}
			patchertest.NoBlindWrites(recorder, c)
			writePhase(t, c, row.patch)
			got := recorder.end()
			if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("the test fails with %q, expected %q", got, row.want)
			}
		})
	}
	t.Run("a client that checks nothing", func(t *testing.T) {
		recorder := &recordingTB{TB: t}
		patchertest.NoBlindWrites(recorder, struct{ client.Client }{})
		if got := strings.Join(recorder.failures, ""); !strings.Contains(got, "patcher.Wrap") {
			t.Errorf("the test fails with %q, expected advice", got)
		}
	})
}

func writePhase(t *testing.T, c client.Client, patch func(client.Object) client.Patch) {
	t.Helper()
	obj := &cell.Cell{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, obj); err != nil {
		t.Fatal(err)
	}
	base := obj.DeepCopyObject().(client.Object)
	obj.Status.Phase = "Ready"
	if err := c.Status().Patch(t.Context(), obj, patch(base)); err != nil {
		t.Fatal(err)
	}
}
