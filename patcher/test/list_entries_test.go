package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher/test/foreignstatus"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// conditionsOf has conditions of these types, in this order.
func conditionsOf(names ...string) (conditions []corev1.NodeCondition) {
	for _, name := range names {
		conditions = append(conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(name), Status: "True", Reason: "Fine"})
	}
	return conditions
}

func TestS65_ListsAreWrittenEntryByEntry(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(*corev1.NodeStatus)
		sent []string
	}{
		{"rule: one entry changes", func(s *corev1.NodeStatus) { s.Conditions[1].Status, s.Conditions[1].Message = "False", "m" },
			[]string{`test /status/conditions/1/type "B"`, `add /status/conditions/1/status "False"`, `add /status/conditions/1/message "m"`}},
		{"rule: a member of an entry goes", func(s *corev1.NodeStatus) { s.Conditions[0].Reason = "" },
			[]string{`test /status/conditions/0/type "A"`, `remove /status/conditions/0/reason`}},
		{"rule: entries go, the last one first", func(s *corev1.NodeStatus) { s.Conditions = s.Conditions[1:2] },
			[]string{`test /status/conditions/2/type "C"`, `remove /status/conditions/2`, `test /status/conditions/0/type "A"`, `remove /status/conditions/0`}},
		{"rule: an entry comes last", func(s *corev1.NodeStatus) { s.Conditions = append(s.Conditions, conditionsOf("D")...) },
			[]string{`add /status/conditions/- {"reason":"Fine","status":"True","type":"D"}`}},
		{"rule: one comes between, one goes, one changes", func(s *corev1.NodeStatus) {
			s.Conditions = []corev1.NodeCondition{s.Conditions[0], conditionsOf("N")[0], s.Conditions[2]}
			s.Conditions[2].Status = "False"
		}, []string{
			`test /status/conditions/2/type "C"`, `add /status/conditions/2/status "False"`,
			`test /status/conditions/1/type "B"`, `remove /status/conditions/1`,
			`test /status/conditions/1/type "C"`, `add /status/conditions/1 {"reason":"Fine","status":"True","type":"N"}`}},
	} {
		t.Run(row.name+", Node", func(t *testing.T) {
			w := newWire(t)
			of := newNode(t, w, "A", "B", "C")
			node, p := fetchNode(t, w, of, patcher.PatchListEntries())
			row.set(&node.Status)
			want := node.Status.DeepCopy()
			flush := func() (patcher.Result, error) { return p.Flush(t.Context()) }
			requireOperations(t, w.during(func() { requireFlush(t, flush, patcher.ResultPatched, patcher.ResultUnchanged) }), row.sent...)
			if err := w.Get(t.Context(), client.ObjectKeyFromObject(of), of); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(of.Status.Conditions) != fmt.Sprint(want.Conditions) {
				t.Errorf("the server has %v, want %v", of.Status.Conditions, want.Conditions)
			}
		})
	}
	for _, row := range []struct {
		name string
		set  func(*corev1.NodeStatus)
	}{
		{"rule: entries that change places are replaced whole", func(s *corev1.NodeStatus) { s.Conditions[0], s.Conditions[1] = s.Conditions[1], s.Conditions[0] }},
		{"rule: entries that cannot be told apart are replaced whole", func(s *corev1.NodeStatus) { s.Conditions[1].Type = "A" }},
		{"rule: a list without an identity is replaced whole", func(s *corev1.NodeStatus) { s.VolumesInUse = []corev1.UniqueVolumeName{"v"} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWire(t)
			node, p := fetchNode(t, w, newNode(t, w, "A", "B", "C"), patcher.PatchListEntries())
			row.set(&node.Status)
			patchOf(t, w.during(func() {
				requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
			}))
		})
	}
	seedUnknown := func(t *testing.T) *bed {
		b := newBed(t)
		b.must(b.wire.Create(b.ctx, newerCell(b)))
		b.must(b.wire.Status().Patch(b.ctx, newerCell(b), client.RawPatch(types.MergePatchType, []byte(
			`{"status":{"phase":"a","plan":{"id":"p-1","done":true,"tasks":[{"name":"one","newer":"n"},{"name":"two","newer":"n"}]}}}`))))
		return b
	}
	tasks := func(b *bed) []any {
		obj := newerCell(b)
		b.must(b.wire.Get(b.ctx, b.key, obj))
		return obj.Object["status"].(map[string]any)["plan"].(map[string]any)["tasks"].([]any)
	}
	for _, row := range []struct {
		name string
		opts []patcher.Option
		kept bool
	}{
		{"rule: what the Go type does not know survives, in the entry that changed as well", []patcher.Option{patcher.PatchListEntries()}, true},
		{"control: without the option it is lost", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := seedUnknown(t)
			c := olderClient(t)
			cell, p, err := v1status.NewCellStatusClient(c, c, row.opts...).Fetch(b.ctx, b.key)
			b.must(err)
			cell.Status.Plan.Tasks[0].Note = "changed"
			cell.Status.Plan.Tasks = append(cell.Status.Plan.Tasks, v1.Task{Name: "three"})
			b.flush(p, patcher.ResultPatched)
			got := tasks(b)
			if len(got) != 3 || got[0].(map[string]any)["note"] != "changed" {
				t.Fatalf("the server has %v", got)
			}
			for i := range 2 {
				if _, kept := got[i].(map[string]any)["newer"]; kept != row.kept {
					t.Errorf("entry %d is %v", i, got[i])
				}
			}
		})
	}
	t.Run("rule: a null inside of an entry is kept, also where another object is written whole", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) {
			s.Holder, s.Bytes, s.Claims = ptr.To("me"), 5, []v1.Claim{{Name: "a", Owner: ptr.To("x")}}
		})
		knob, p := fetchKnob(t, w, of, patcher.PatchListEntries())
		knob.Status.Claims[0].Note, knob.Status.Grip.Angle = "n", ptr.To(int64(1))
		flush := func() (patcher.Result, error) { return p.Flush(t.Context()) }
		requireOperations(t, w.during(func() { requireFlush(t, flush, patcher.ResultPatched, patcher.ResultUnchanged) }),
			`add /status/grip {"angle":1}`, `test /status/claims/0/name "a"`, `add /status/claims/0/note "n"`)
		requireStatus(t, rawStatus(t, w, of, "Knob"), `{"holder":"me","bytes":"5","grip":{"angle":1},"claims":[{"name":"a","owner":"x","since":null,"note":"n"}]}`)
	})
	t.Run("rule: an index is tested before it is used, and a list that is not as it was read is left alone", func(t *testing.T) {
		// A cache that transforms what it holds hands out a list without its first entry.
		w := newWire(t)
		of := newNode(t, w, "A", "B", "C")
		reader := transformed{wire: w, transform: func(n *corev1.Node) { n.Status.Conditions = n.Status.Conditions[1:] }}
		node, p, err := nodeStatuses(reader, w).Fetch(t.Context(), client.ObjectKeyFromObject(of))
		if err != nil {
			t.Fatal(err)
		}
		node.Status.Conditions[0].Status = "False"
		sent := w.during(func() { _, err = p.Flush(t.Context()) })
		if len(sent) == 0 || sent[0].Code != http.StatusUnprocessableEntity {
			t.Errorf("%v, sent %v: want a 422 for the first request", err, sent)
		}
	})
}

func TestS66_ManyOperationsAndManyBytes(t *testing.T) {
	flushOf := func(p *v1status.KnobStatusPatcher) func() (patcher.Result, error) {
		return func() (patcher.Result, error) { return p.Flush(t.Context()) }
	}
	full := func(s *v1.KnobStatus) {
		s.Phase, s.Grip.Angle, s.Bytes, s.Holder = "a", ptr.To(int64(1)), 1, ptr.To("me")
	}
	claims := func(n int, note string) (claims []v1.Claim) {
		for i := range n {
			claims = append(claims, v1.Claim{Name: fmt.Sprint("claim-", i), Note: note})
		}
		return claims
	}
	t.Run("rule: more than 1,000 operations replace the list", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { full(s); s.Claims = claims(600, strings.Repeat("x", 200)) })
		knob, p := fetchKnob(t, w, of, patcher.PatchListEntries())
		for i := range knob.Status.Claims {
			knob.Status.Claims[i].Owner = ptr.To("o")
		}
		got := operationsOf(t, w.during(func() { requireFlush(t, flushOf(p), patcher.ResultPatched, patcher.ResultUnchanged) }))
		if len(got) != 1 || !strings.HasPrefix(got[0], "add /status/claims [") {
			t.Errorf("sent %d operations, want one that replaces the list", len(got))
		}
	})
	t.Run("rule: more bytes than the list, and than 4 KiB, replace the list", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { full(s); s.Claims = claims(50, "") })
		knob, p := fetchKnob(t, w, of, patcher.PatchListEntries())
		for i := range knob.Status.Claims {
			knob.Status.Claims[i].Note = "n"
		}
		got := operationsOf(t, w.during(func() { requireFlush(t, flushOf(p), patcher.ResultPatched, patcher.ResultUnchanged) }))
		if len(got) != 1 || !strings.HasPrefix(got[0], "add /status/claims [") {
			t.Errorf("sent %v, want one operation that replaces the list", got)
		}
	})
	t.Run("rule: more than 1,000 operations on free-form JSON replace it", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { full(s); s.Free = &runtime.RawExtension{Raw: []byte(`{"a":1}`)} })
		knob, p := fetchKnob(t, w, of)
		var members []string
		for i := range 1500 {
			members = append(members, fmt.Sprintf(`"k%d":null`, i))
		}
		knob.Status.Free.Raw = []byte("{" + strings.Join(members, ",") + "}")
		got := operationsOf(t, w.during(func() { requireFlush(t, flushOf(p), patcher.ResultPatched, patcher.ResultUnchanged) }))
		if len(got) != 1 || !strings.HasPrefix(got[0], "add /status/free {") {
			t.Errorf("sent %d operations, want one", len(got))
		}
	})
	t.Run("control: the server refuses more than 10,000 operations", func(t *testing.T) {
		w := newWire(t)
		operations := strings.Repeat(`{"op":"add","path":"/status/phase","value":"x"},`, 10_000)
		err := jsonPatch(t, w, newKnob(t, w, full), `[%s{"op":"add","path":"/status/phase","value":"y"}]`, operations)
		if !apierrors.IsRequestEntityTooLargeError(err) {
			t.Errorf("%v, want a 413", err)
		}
	})
}

func TestS67_TooLargeIsNotWritten(t *testing.T) {
	for _, row := range []struct {
		name string
		size int
		code int32
		opts []patcher.Option
	}{
		{"rule: a body over 3 MB, merge patch", 4 << 20, http.StatusRequestEntityTooLarge, nil},
		{"rule: a body over 3 MB, JSON patch", 4 << 20, http.StatusRequestEntityTooLarge, []patcher.Option{patcher.PatchListEntries()}},
		{"rule: an object over etcd's limit, merge patch", 1700 << 10, http.StatusInternalServerError, nil},
		{"rule: an object that cannot be sent to etcd", 2 << 20, http.StatusInternalServerError, nil},
		{"rule: an object over etcd's limit, JSON patch", 1700 << 10, http.StatusInternalServerError, []patcher.Option{patcher.PatchListEntries()}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWire(t)
			of := newNode(t, w, "A", "B")
			node, p := fetchNode(t, w, of, row.opts...)
			node.Status.Conditions[0].Message = strings.Repeat("x", row.size)
			_, err := p.Flush(t.Context())
			var status apierrors.APIStatus
			if !errors.As(err, &status) || status.Status().Code != row.code {
				t.Fatalf("%v, want code %d", err, row.code)
			}
			if errors.Is(err, patcher.ErrUnknownOutcome) || !strings.Contains(err.Error(), "not written") {
				t.Errorf("%v, want an error that says that nothing was written", err)
			}
		})
	}
	t.Run("control: another 500 leaves the outcome unknown", func(t *testing.T) {
		w := newWire(t)
		of := newNode(t, w, "A")
		fault := realserver.NewFault(realserver.StatusWrites(), realserver.InternalError())
		through := &wire{WithWatch: server.Client(t, newScheme(t), fault.Wrap)}
		node, p := fetchNode(t, through, of)
		node.Status.Conditions[0].Message = "m"
		if _, err := p.Flush(t.Context()); !errors.Is(err, patcher.ErrUnknownOutcome) {
			t.Errorf("%v, want ErrUnknownOutcome", err)
		}
	})
}

func TestS68_AJSONPatchOfStatusChangesOnlyStatus(t *testing.T) {
	t.Run("rule: a CRD: edits of metadata in the object stay there", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder = ptr.To("me") })
		knob, p := fetchKnob(t, w, of)
		knob.Labels, knob.Status.Holder = map[string]string{"mine": "yes"}, nil
		requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		live := &v1.Knob{}
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(of), live); err != nil || live.Labels != nil || live.Status.Holder != nil {
			t.Errorf("%v, the server has labels %v and holder %v", err, live.Labels, live.Status.Holder)
		}
		if knob.Labels["mine"] != "yes" {
			t.Error("the pending edit is gone")
		}
	})
	t.Run("rule: Node: edits of metadata and spec in the object stay there", func(t *testing.T) {
		w := newWire(t)
		of := newNode(t, w, "A", "B")
		node, p := fetchNode(t, w, of, patcher.PatchListEntries())
		node.Labels, node.Spec.Unschedulable, node.Status.Conditions[0].Status = map[string]string{"mine": "yes"}, true, "False"
		requireOperations(t, w.during(func() {
			requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		}), `test /status/conditions/0/type "A"`, `add /status/conditions/0/status "False"`)
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(of), of); err != nil || of.Labels["mine"] != "" || of.Spec.Unschedulable {
			t.Errorf("%v, the server has labels %v and spec %v", err, of.Labels, of.Spec)
		}
	})
	outside := `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`
	t.Run("rule: the server ignores operations outside of the status of a CRD", func(t *testing.T) {
		w := newWire(t)
		knob := newKnob(t, w, func(s *v1.KnobStatus) { s.Phase = "Ready" })
		if err := jsonPatch(t, w, knob, "%s", outside); err != nil || knob.Labels["a"] == "b" {
			t.Errorf("%v, labels %v", err, knob.Labels)
		}
	})
	t.Run("control: of a Node it takes them, so a patch must not have any", func(t *testing.T) {
		w := newWire(t)
		node := newNode(t, w, "A")
		if err := jsonPatch(t, w, node, "%s", outside); err != nil || node.Labels["a"] != "b" {
			t.Errorf("%v, labels %v: the rules above prove nothing", err, node.Labels)
		}
	})
}

func TestS69_NamesAndOptionsAreThoseOfEncodingJSON(t *testing.T) {
	t.Run("rule: the string option, and fields of an embedded struct", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder, s.Grip.Angle = ptr.To("me"), ptr.To(int64(1)) })
		knob, p := fetchKnob(t, w, of)
		knob.Status.Bytes, knob.Status.Spare = 5, &v1.Grip{Angle: ptr.To(int64(2))}
		requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched, patcher.ResultUnchanged)
		requireStatus(t, rawStatus(t, w, of, "Knob"), `{"bytes":"5","holder":"me","grip":{"angle":1},"spare":{"angle":2}}`)
	})
	t.Run("control: without the option the server refuses the number", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder, s.Grip.Angle = ptr.To("me"), ptr.To(int64(1)) })
		err := w.Status().Patch(t.Context(), of, client.RawPatch(types.MergePatchType, []byte(`{"status":{"bytes":5}}`)))
		if !apierrors.IsInvalid(err) {
			t.Errorf("%v, want a 422", err)
		}
	})
}

// transformed is a reader that changes what it reads, as a cache with a transform does.
type transformed struct {
	*wire
	transform func(*corev1.Node)
}

func (r transformed) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := r.wire.Get(ctx, key, obj, opts...)
	r.transform(obj.(*corev1.Node))
	return err
}

func nodeStatuses(c client.Client, live client.Reader) *foreignstatus.NodeStatusClient {
	return foreignstatus.NewNodeStatusClient(c, live, patcher.PatchListEntries())
}
