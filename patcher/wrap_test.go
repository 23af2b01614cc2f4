package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// sent records the status writes that reach the client below a wrapped one.
type sent struct{ writes []string }

func (s *sent) recording(c client.WithWatch) client.WithWatch {
	return &pointer{interceptor.NewClient(c, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			data, err := patch.Data(obj)
			format := strings.TrimPrefix(string(patch.Type()), "application/")
			s.writes = append(s.writes, fmt.Sprintf("%s %s", format[:strings.IndexByte(format, '+')], data))
			if err != nil || patch.Type() == types.ApplyPatchType {
				return err
			}
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			s.writes = append(s.writes, "update at "+obj.GetResourceVersion())
			return c.SubResource(sub).Update(ctx, obj, opts...)
		},
	})}
}

// newWrapped wraps a client over one cell, which it reads.
func newWrapped(t *testing.T, mode patcher.Mode, opts ...patcher.WrapOption) (*patcher.WrappedClient, *v1.Cell, *sent) {
	t.Helper()
	s := &sent{}
	w := patcher.Wrap(s.recording(newFake(t, newCell(0))), mode, v1status.Kinds()...).With(opts...)
	cell := &v1.Cell{}
	mustNot(t, w.Get(t.Context(), client.ObjectKeyFromObject(newCell(0)), cell))
	return w, cell, s
}

// phase changes the status, and returns the base.
func phase(cell *v1.Cell) *v1.Cell {
	base := cell.DeepCopy()
	cell.Status.Phase = "Ready"
	return base
}

type wrapRow struct {
	name  string
	write func(context.Context, client.Client, *v1.Cell) error
	// reported and locked are what is sent in the modes Report and Lock, with {V} for the version of the object; * is anything.
	reported, locked string
	// class or passed is what Report says.
	class  patcher.BlindClass
	passed patcher.Passed
}

// check requires that the report has the write.
func (row wrapRow) check(t *testing.T, mode patcher.Mode, got patcher.WriteReport) {
	t.Helper()
	if row.class == "" {
		passed := row.passed
		if mode == patcher.Report && passed == patcher.PassedUnchanged {
			return // nothing is compared
		}
		if got.Passed[passed] != 1 || len(got.Blind) != 0 {
			t.Errorf("the report is %v, expected one %q", got, passed)
		}
		return
	}
	if len(got.Blind) != 1 || got.Blind[0].Class != row.class || got.Blind[0].Count != 1 || got.Blind[0].Kind != "Cell" {
		t.Fatalf("the report is %v, expected one %s", got, row.class)
	}
	if site := got.Blind[0].Site; !strings.HasSuffix(site.File, "wrap_test.go") || !strings.Contains(site.Function, "TestWrap_WhatIsSent") {
		t.Errorf("the site is %s, expected the caller", site)
	}
}

// applyPatch is server-side apply, as far as the type goes: the fake client's would need a schema.
type applyPatch struct{}

// Type is that of server-side apply.
func (applyPatch) Type() types.PatchType { return types.ApplyPatchType }

// Data is empty.
func (applyPatch) Data(client.Object) ([]byte, error) { return []byte("{}"), nil }

func TestWrap_WhatIsSent(t *testing.T) {
	merge := func(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }
	operations := func(patch string) client.Patch { return client.RawPatch(types.JSONPatchType, []byte(patch)) }
	for _, row := range []wrapRow{
		{"a blind merge patch", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			base := phase(cell)
			return c.Status().Patch(ctx, cell, client.MergeFrom(base))
		}, `merge-patch {"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"a locked merge patch", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			base := phase(cell)
			return c.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		}, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, "", patcher.PassedLocked},
		{"through SubResource", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			base := phase(cell)
			return c.SubResource("status").Patch(ctx, cell, client.MergeFrom(base))
		}, `merge-patch {"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"a merge patch with metadata", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, merge(`{"metadata":{"labels":{"a":"b"}},"status":{"phase":"Ready"}}`))
		}, `merge-patch {"metadata":{"labels":{"a":"b"}},"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"labels":{"a":"b"},"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"a version of null", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			_ = c.Status().Patch(ctx, cell, merge(`{"metadata":{"resourceVersion":null},"status":{"phase":"Ready"}}`)) // the fake client refuses it
			return nil
		}, `merge-patch {"metadata":{"resourceVersion":null},"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"a version of 0", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return client.IgnoreNotFound(c.Status().Patch(ctx, cell, merge(`{"metadata":{"resourceVersion":"0"},"status":{"phase":"Ready"}}`)))
		}, "*", `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"a patch that changes nothing", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, client.MergeFrom(cell.DeepCopy()))
		}, `merge-patch {}`, "", "", patcher.PassedUnchanged},
		{"a patch of nothing but metadata", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, merge(`{"metadata":{"labels":{"a":"b"}}}`))
		}, `merge-patch {"metadata":{"labels":{"a":"b"}}}`, `merge-patch {"metadata":{"labels":{"a":"b"}}}`, "", patcher.PassedNoStatus},
		{"a JSON patch of nothing but metadata", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, operations(`[{"op":"test","path":"/status","value":{}},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`))
		}, "*", `json-patch [{"op":"test","path":"/status","value":{}},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`, "", patcher.PassedNoStatus},
		{"a JSON patch that moves the status away", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			_ = c.Status().Patch(ctx, cell, operations(`[{"op":"move","from":"/status/phase","path":"/metadata/labels/a"}]`)) // there is no phase
			return nil
		}, "*", `json-patch [{"op":"move","from":"/status/phase","path":"/metadata/labels/a"},{"op":"add","path":"/metadata/resourceVersion","value":"{V}"}]`, patcher.BlindJSON, ""},
		{"a status of null", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, merge(`{"status":null}`))
		}, `merge-patch {"status":null}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":null}`, patcher.BlindMerge, ""},
		{"a patch that is no JSON object", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			_ = c.Status().Patch(ctx, cell, merge(`["status"]`)) // the API server refuses it
			return nil
		}, `merge-patch ["status"]`, `merge-patch ["status"]`, "", patcher.PassedOtherFormat},
		{"a blind JSON patch", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, operations(`[{"op":"add","path":"/status","value":{"phase":"Ready"}}]`))
		}, `json-patch [{"op":"add","path":"/status","value":{"phase":"Ready"}}]`,
			`json-patch [{"op":"add","path":"/status","value":{"phase":"Ready"}},{"op":"add","path":"/metadata/resourceVersion","value":"{V}"}]`, patcher.BlindJSON, ""},
		{"a JSON patch that tests the version", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Patch(ctx, cell, operations(`[{"op":"test","path":"/metadata/resourceVersion","value":"`+cell.ResourceVersion+`"},{"op":"add","path":"/status","value":{"phase":"Ready"}}]`))
		}, `json-patch [{"op":"test","path":"/metadata/resourceVersion","value":"{V}"},{"op":"add","path":"/status","value":{"phase":"Ready"}}]`,
			`json-patch [{"op":"test","path":"/metadata/resourceVersion","value":"{V}"},{"op":"add","path":"/status","value":{"phase":"Ready"}}]`, "", patcher.PassedLocked},
		{"an Update", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			phase(cell)
			return c.Status().Update(ctx, cell)
		}, `update at {V}`, `update at {V}`, "", patcher.PassedLocked},
		{"an Update that changes nothing of an empty status, which may have required fields", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			return c.Status().Update(ctx, cell)
		}, `update at {V}`, `update at {V}`, "", patcher.PassedLocked},
		{"an Update that changes metadata only", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			cell.Labels = map[string]string{"a": "b"}
			return c.Status().Update(ctx, cell)
		}, `update at {V}`, `update at {V}`, "", patcher.PassedLocked},
		{"an Update of a version that was never read", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			cell.ResourceVersion = "4711"
			_ = c.Status().Update(ctx, cell)
			return nil
		}, `update at 4711`, `update at 4711`, "", patcher.PassedLocked},
		{"an Update without a version", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			cell.ResourceVersion = ""
			_ = c.Status().Update(ctx, cell) // the fake client refuses it
			return nil
		}, `update at `, `update at `, patcher.BlindUpdate, ""},
		{"a patch of an object without a version", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			bare := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: cell.Namespace, Name: cell.Name}}
			return c.Status().Patch(ctx, bare, merge(`{"status":{"phase":"Ready"}}`))
		}, `merge-patch {"status":{"phase":"Ready"}}`, `merge-patch {"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"an unstructured object", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(v1.GroupVersion.WithKind("Cell"))
			if err := c.Get(ctx, client.ObjectKeyFromObject(cell), u); err != nil {
				return err
			}
			base := u.DeepCopy()
			if err := unstructured.SetNestedField(u.Object, "Ready", "status", "phase"); err != nil {
				return err
			}
			return c.Status().Patch(ctx, u, client.MergeFrom(base))
		}, `merge-patch {"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
		{"server-side apply", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			cell.Status.Phase = "Ready"
			return c.Status().Patch(ctx, cell, applyPatch{}, client.FieldOwner("me"))
		}, `apply-patch {}`, `apply-patch {}`, patcher.BlindApply, ""},
		{"another kind", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			_ = c.Status().Patch(ctx, &metav1.PartialObjectMetadata{}, merge(`{"status":{}}`))
			return nil
		}, `merge-patch {"status":{}}`, `merge-patch {"status":{}}`, "", patcher.PassedOtherKind},
		{"an Update of another kind", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			_ = c.Status().Update(ctx, &metav1.PartialObjectMetadata{}) // the fake client does not know it
			return nil
		}, `update at `, `update at `, "", patcher.PassedOtherKind},
		{"a helper behind an interface", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			var writer interface {
				Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error
			} = client.WithFieldOwner(c, "me").Status()
			base := phase(cell)
			return writer.Patch(ctx, cell, client.MergeFrom(base))
		}, `merge-patch {"status":{"phase":"Ready"}}`, `merge-patch {"metadata":{"resourceVersion":"{V}"},"status":{"phase":"Ready"}}`, patcher.BlindMerge, ""},
	} {
		for mode, want := range map[patcher.Mode]string{patcher.Report: row.reported, patcher.Lock: row.locked} {
			t.Run(fmt.Sprint(row.name, " in mode ", mode), func(t *testing.T) {
				w, cell, s := newWrapped(t, mode)
				want := strings.ReplaceAll(want, "{V}", cell.ResourceVersion)
				if err := row.write(t.Context(), w, cell); err != nil && want != "*" {
					t.Error(err)
				}
				if got := strings.Join(s.writes, "; "); got != want && want != "*" {
					t.Errorf("sent %q, expected %q", got, want)
				}
				row.check(t, mode, w.Report())
			})
		}
	}
}

func TestWrap_Refuse(t *testing.T) {
	w, cell, s := newWrapped(t, patcher.Refuse)
	base := phase(cell)
	err := w.Status().Patch(t.Context(), cell, client.MergeFrom(base))
	if !errors.Is(err, patcher.ErrBlindStatusWrite) || !strings.Contains(err.Error(), "wrap_test.go") || !strings.Contains(err.Error(), "Cell default/cell-0") || len(s.writes) != 0 {
		t.Errorf("%v, and sent %q; expected an ErrBlindStatusWrite that names the object and this file", err, s.writes)
	}
	mustNot(t, w.Status().Patch(t.Context(), cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})))
	if len(s.writes) != 1 {
		t.Errorf("control: a locked patch is sent, too: %q", s.writes)
	}
}

func TestWrap_AllowBlind(t *testing.T) {
	for _, row := range []struct {
		name    string
		option  patcher.WrapOption
		allowed bool
	}{
		{"by function", patcher.AllowBlind(v1status.CellKind, "patcher_test.blindly"), true},
		{"by the whole name of the function", patcher.AllowBlind(v1status.CellKind, "github.com/statuspatcher/statuspatcher/patcher_test.blindly"), true},
		{"by field owner", patcher.AllowBlind(v1status.CellKind, "me"), true},
		{"control: the end of a name", patcher.AllowBlind(v1status.CellKind, "lindly"), false},
		{"control: another owner", patcher.AllowBlind(v1status.CellKind, "you"), false},
		{"control: another kind", patcher.AllowBlind(v1status.DialKind, "me"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w, cell, s := newWrapped(t, patcher.Lock, row.option)
			mustNot(t, blindly(t.Context(), w, cell))
			if blind := !strings.Contains(strings.Join(s.writes, ""), "resourceVersion"); blind != row.allowed {
				t.Errorf("sent %q, expected it to be blind: %v", s.writes, row.allowed)
			}
			want := patcher.ActionLocked
			if row.allowed {
				want = patcher.ActionAllowed
			}
			if got := w.Report(); len(got.Blind) != 1 || got.Blind[0].Action != want {
				t.Errorf("the report is %v, expected one that was %s", got, want)
			}
		})
	}
}

func blindly(ctx context.Context, c client.Client, cell *v1.Cell) error {
	base := phase(cell)
	return func() error { return c.Status().Patch(ctx, cell, client.MergeFrom(base), client.FieldOwner("me")) }()
}

func TestWrap_PatchUpdates(t *testing.T) {
	w, cell, s := newWrapped(t, patcher.Lock, patcher.PatchUpdates())
	version := cell.ResourceVersion
	phase(cell)
	mustNot(t, w.Status().Update(t.Context(), cell))
	if want := `merge-patch {"metadata":{"resourceVersion":"` + version + `"},"status":{"phase":"Ready"}}`; len(s.writes) != 1 || s.writes[0] != want {
		t.Errorf("sent %q, expected %q", s.writes, want)
	}
	if cell.ResourceVersion == version || w.Report().Passed[patcher.PassedPatchedUpdate] != 1 {
		t.Errorf("the object has version %s, and the report is %v", cell.ResourceVersion, w.Report())
	}
	phase(cell)
	mustNot(t, w.Status().Update(t.Context(), cell))
	if len(s.writes) != 1 {
		t.Errorf("what changes nothing was sent: %q", s.writes)
	}
}

// A cache may hand out its own objects. An edit whose write failed is then in what the next reconcile reads, and is still to be written.
func TestWrap_AnEditOfASharedObjectIsWritten(t *testing.T) {
	for _, uid := range []types.UID{"uid-0", ""} {
		seed := newCellWithStatus(0)
		seed.UID = uid
		bare := newFake(t, seed)
		shared, failed := &v1.Cell{}, false
		mustNot(t, bare.Get(t.Context(), client.ObjectKeyFromObject(seed), shared))
		shared.Status.Shares = map[string]v1.Share{}
		w := patcher.Wrap(interceptor.NewClient(bare, interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
				*obj.(*v1.Cell) = *shared
				return nil
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
				if !failed {
					failed = true
					return errors.New("not now")
				}
				return c.SubResource(name).Update(ctx, obj, opts...)
			},
		}), patcher.Lock, v1status.Kinds()...)
		for range 2 {
			cell := &v1.Cell{}
			mustNot(t, w.Get(t.Context(), client.ObjectKeyFromObject(seed), cell))
			cell.Status.Shares["a"] = v1.Share{Weight: 1}
			_ = w.Status().Update(t.Context(), cell)
		}
		mustNot(t, bare.Get(t.Context(), client.ObjectKeyFromObject(seed), shared))
		if shared.Status.Shares["a"].Weight != 1 {
			t.Errorf("with UID %q the edit was dropped", uid)
		}
	}
}

// What a Create returns is captured: the status is compared with it.
func TestWrap_CapturesCreate(t *testing.T) {
	s := &sent{}
	w := patcher.Wrap(s.recording(newFake(t)), patcher.Lock, v1status.Kinds()...).With(patcher.PatchUpdates())
	cell := newCell(1)
	mustNot(t, w.Create(t.Context(), cell))
	phase(cell)
	mustNot(t, w.Status().Update(t.Context(), cell))
	if report := w.Report().Passed; report[patcher.PassedPatchedUpdate] != 1 {
		t.Errorf("the Update was not made a patch: %v, sent %q", report, s.writes)
	}
}

// A write of this process is captured: what changes nothing after it is dropped.
func TestWrap_Captures(t *testing.T) {
	for name, read := range map[string]func(context.Context, client.Client) (*v1.Cell, error){
		"List": func(ctx context.Context, c client.Client) (*v1.Cell, error) {
			list := &v1.CellList{}
			err := c.List(ctx, list)
			return list.Items[0].DeepCopy(), err
		},
		"Update": func(ctx context.Context, c client.Client) (*v1.Cell, error) {
			cell := newCell(0)
			err := c.Get(ctx, client.ObjectKeyFromObject(cell), cell)
			cell.Spec.Image = "other"
			return cell, errors.Join(err, c.Update(ctx, cell))
		},
		"Patch": func(ctx context.Context, c client.Client) (*v1.Cell, error) {
			cell := newCell(0)
			return cell, c.Patch(ctx, cell, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"image":"other"}}`)))
		},
		"Status().Update": func(ctx context.Context, c client.Client) (*v1.Cell, error) {
			cell := newCell(0)
			err := c.Get(ctx, client.ObjectKeyFromObject(cell), cell)
			cell.Status.Phase = "Ready"
			return cell, errors.Join(err, c.Status().Update(ctx, cell))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sent{}
			w := patcher.Wrap(s.recording(newFake(t, newCellWithStatus(0))), patcher.Lock, v1status.Kinds()...)
			cell, err := read(t.Context(), w)
			mustNot(t, err)
			s.writes = nil
			mustNot(t, w.Status().Update(t.Context(), cell))
			if len(s.writes) != 0 {
				t.Errorf("sent %q, though nothing changed", s.writes)
			}
			cell.Status.Phase = "Other"
			mustNot(t, w.Status().Update(t.Context(), cell))
			if len(s.writes) != 1 {
				t.Errorf("control: sent %q, expected one update", s.writes)
			}
		})
	}
}

// A generated StatusClient on top of a wrapped client captures and checks once.
func TestWrap_StatusClientOnTop(t *testing.T) {
	w, cell, s := newWrapped(t, patcher.Refuse)
	statuses := v1status.NewCellStatusClient(w, w)
	phase(cell)
	if result, err := statuses.Flush(t.Context(), cell); err != nil || result != patcher.ResultPatched {
		t.Errorf("Flush of an object that the wrapped client read: %q, %v", result, err)
	}
	if got := w.Report(); len(s.writes) != 1 || len(got.Passed) != 0 || len(got.Blind) != 0 {
		t.Errorf("sent %q, and the wrapped client saw %v", s.writes, got)
	}
}

func TestWrap_Misuse(t *testing.T) {
	for name, wrap := range map[string]func(){
		"a nil client": func() { patcher.Wrap(nil, patcher.Lock) },
		"a nil kind":   func() { patcher.AllowBlind(nil, "owner") },
		"no writer":    func() { patcher.AllowBlind(v1status.CellKind, "") },
		"no mode":      func() { patcher.Wrap(newFake(t), 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			wrap()
		}()
	}
	_, err := patcher.Wrap(struct{ client.Client }{newFake(t)}, patcher.Lock).Watch(t.Context(), &v1.CellList{})
	if err == nil || !strings.Contains(err.Error(), "cannot watch") {
		t.Errorf("Watch through a client that cannot: %v", err)
	}
}

// A patch whose version the API server does not check is blind, however much it looks like a lock.
func TestWrap_WhatLooksLikeALock(t *testing.T) {
	const lock = `{"op":"replace","path":"/metadata/resourceVersion","value":"7"}`
	const test = `{"op":"test","path":"/metadata/resourceVersion","value":"7"}`
	for _, row := range []struct {
		format types.PatchType
		patch  string
		locked bool
	}{
		{types.MergePatchType, `{"metadata":{"resourceVersion":"7"}}`, true},
		{types.MergePatchType, `{"metadata":{"resourceVersion":"7"},"metadata":{}}`, false},
		{types.MergePatchType, `{"metadata":{"resourceVersion":"7","resourceVersion":null}}`, false},
		{types.MergePatchType, `{"metadata":{"ResourceVersion":"7"}}`, false},
		{types.MergePatchType, `{"metadata":{"resourceVersion":"00"}}`, false},
		{types.MergePatchType, `{"metadata":null}`, false},
		{types.JSONPatchType, `[` + lock + `]`, true},
		{types.JSONPatchType, `[` + test + `]`, true},
		{types.JSONPatchType, `[` + test + `,{"op":"remove","path":"/metadata/resourceVersion"}]`, true},
		{types.JSONPatchType, `[{"op":"remove","path":"/metadata/resourceVersion"},` + lock + `]`, true},
		{types.JSONPatchType, `[{"op":"replace","path":"/metadata","value":{"resourceVersion":"7"}}]`, true},
		{types.JSONPatchType, `[{"op":"replace","path":"/metadata","value":{}},` + test + `]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"remove","path":"/metadata/resourceVersion"}]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"replace","path":"/metadata/resourceVersion","value":"0"}]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"add","path":"/metadata/resourceVersion","value":null}]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"move","from":"/metadata/resourceVersion","path":"/status/phase"}]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"replace","path":"/metadata","value":{}}]`, false},
		{types.JSONPatchType, `[` + lock + `,{"op":"replace","path":"","value":{}}]`, false},
	} {
		w, cell, s := newWrapped(t, patcher.Refuse)
		patch := strings.TrimSuffix(row.patch, "}") + `,"status":{"phase":"Ready"}}`
		if row.format == types.JSONPatchType {
			patch = `[{"op":"add","path":"/status","value":{"phase":"Ready"}},` + strings.TrimPrefix(row.patch, "[")
		}
		err := w.Status().Patch(t.Context(), cell, client.RawPatch(row.format, []byte(patch)))
		if blind := errors.Is(err, patcher.ErrBlindStatusWrite); blind == row.locked || blind == (len(s.writes) > 0) {
			t.Errorf("%s: %v, and sent %q; expected it to be refused: %v", row.patch, err, s.writes, !row.locked)
		}
	}
}
