package patcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// An operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func (o operation) String() string {
	return strings.TrimSpace(o.Op + " " + o.Path + " " + string(o.Value))
}

// operationsOf returns the operations of the one JSON patch of a status among requests, but for the lock, which is checked.
func operationsOf(t testing.TB, requests []realserver.Request) (operations []string) {
	t.Helper()
	for _, r := range requests {
		if !realserver.StatusWrites()(r) {
			continue
		}
		var patch []operation
		if r.ContentType != string(types.JSONPatchType) || operations != nil {
			t.Fatalf("expected one JSON patch, found %s with %s", r.ContentType, r.Body)
		}
		if err := json.Unmarshal(r.Body, &patch); err != nil {
			t.Fatal(err)
		}
		if lock := patch[0]; lock.Op != "replace" || lock.Path != "/metadata/resourceVersion" || len(lock.Value) < len(`"1"`) {
			t.Errorf("the first operation is %v, want the lock", lock)
		}
		operations = []string{}
		for _, o := range patch[1:] {
			operations = append(operations, o.String())
		}
	}
	return operations
}

// rawStatus is the status as the server holds it, with what no Go type knows.
func rawStatus(t testing.TB, c client.Client, obj client.Object, kind string) map[string]any {
	t.Helper()
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
	if kind == "Node" {
		raw.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), raw); err != nil {
		t.Fatal(err)
	}
	status, _ := raw.Object["status"].(map[string]any)
	return status
}

// newKnob creates a Knob; set writes its first status the way that lands every status, an Update.
func newKnob(t testing.TB, w *wire, set func(*v1.KnobStatus)) *v1.Knob {
	t.Helper()
	knob := &v1.Knob{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
	if err := w.Create(t.Context(), knob); err != nil {
		t.Fatal(err)
	}
	if set != nil {
		set(&knob.Status)
		if err := w.Status().Update(t.Context(), knob); err != nil {
			t.Fatal(err)
		}
	}
	return knob
}

func fetchKnob(t testing.TB, w *wire, of *v1.Knob, opts ...patcher.Option) (*v1.Knob, *v1status.KnobStatusPatcher) {
	t.Helper()
	knob, p, err := v1status.NewKnobStatusClient(w, w, opts...).Fetch(t.Context(), client.ObjectKeyFromObject(of))
	if err != nil {
		t.Fatal(err)
	}
	return knob, p
}

// newNode creates a Node with conditions and addresses.
func newNode(t testing.TB, w *wire, conditions ...string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
	if err := w.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	for _, name := range conditions {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(name), Status: "True", Reason: "Fine"})
	}
	if err := w.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return node
}

func fetchNode(t testing.TB, w *wire, of *corev1.Node, opts ...patcher.Option) (*corev1.Node, *foreignstatus.NodeStatusPatcher) {
	t.Helper()
	node, p, err := foreignstatus.NewNodeStatusClient(w, w, opts...).Fetch(t.Context(), client.ObjectKeyFromObject(of))
	if err != nil {
		t.Fatal(err)
	}
	return node, p
}

func requireFlush(t testing.TB, flush func() (patcher.Result, error), want ...patcher.Result) {
	t.Helper()
	for _, want := range want {
		if got, err := flush(); err != nil || got != want {
			t.Fatalf("Flush: %q, %v; want %q", got, err, want)
		}
	}
}

func requireOperations(t testing.TB, requests []realserver.Request, want ...string) {
	t.Helper()
	if got := operationsOf(t, requests); !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func requireStatus(t testing.TB, got map[string]any, want string) {
	t.Helper()
	var wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	gotText, _ := json.Marshal(got)
	wantText, _ := json.Marshal(wanted)
	if string(gotText) != string(wantText) {
		t.Errorf("the server has\n%s\nwant\n%s", gotText, wantText)
	}
}

func TestS60_NullsThatMustBeStored(t *testing.T) {
	patched, unchanged := patcher.ResultPatched, patcher.ResultUnchanged
	for _, row := range []struct {
		name  string
		first func(*v1.KnobStatus) // nil: no status was ever written
		set   func(*v1.KnobStatus)
		sent  []string
		want  string
	}{
		{"rule: the first write, which writes the status whole", nil,
			func(s *v1.KnobStatus) { s.Phase = "Ready" },
			[]string{`add /status {"grip":{"angle":null},"phase":"Ready","holder":null,"bytes":"0"}`},
			`{"phase":"Ready","holder":null,"bytes":"0","grip":{"angle":null}}`},
		{"rule: letting go of a required field", func(s *v1.KnobStatus) { s.Holder, s.Bytes, s.Grip.Angle = ptr.To("me"), 5, ptr.To(int64(1)) },
			func(s *v1.KnobStatus) { s.Holder = nil },
			[]string{`add /status/holder null`},
			`{"holder":null,"bytes":"5","grip":{"angle":1}}`},
		{"rule: another field, where a required one is null already", func(s *v1.KnobStatus) { s.Bytes, s.Grip.Angle = 5, ptr.To(int64(1)) },
			func(s *v1.KnobStatus) { s.Phase = "Ready" },
			[]string{`add /status/phase "Ready"`, `add /status/holder null`},
			`{"phase":"Ready","holder":null,"bytes":"5","grip":{"angle":1}}`},
		{"rule: a list with a null item", func(s *v1.KnobStatus) {
			s.Holder, s.Bytes, s.Grip.Angle, s.Claims = ptr.To("me"), 5, ptr.To(int64(1)), []v1.Claim{{Name: "a", Owner: ptr.To("x")}}
		},
			func(s *v1.KnobStatus) { s.Claims = append(s.Claims, v1.Claim{Name: "b"}) },
			[]string{`add /status/claims [{"name":"a","owner":"x","since":null},{"name":"b","owner":null,"since":null}]`},
			`{"holder":"me","bytes":"5","grip":{"angle":1},"claims":[{"name":"a","owner":"x","since":null},{"name":"b","owner":null,"since":null}]}`},
		{"rule: a value of a map", func(s *v1.KnobStatus) {
			s.Holder, s.Bytes, s.Grip.Angle, s.Limits = ptr.To("me"), 5, ptr.To(int64(1)), map[string]v1.Limit{"a/b": {Max: ptr.To(int64(3)), Unit: "m"}}
		},
			func(s *v1.KnobStatus) { s.Limits["a/b"] = v1.Limit{Unit: "m"}; s.Limits["c"] = v1.Limit{} },
			[]string{`add /status/limits/a~1b/max null`, `add /status/limits/c {"max":null}`},
			`{"holder":"me","bytes":"5","grip":{"angle":1},"limits":{"a/b":{"max":null,"unit":"m"},"c":{"max":null}}}`},
		{"rule: an object that is new, behind a pointer", func(s *v1.KnobStatus) { s.Holder, s.Bytes, s.Grip.Angle = ptr.To("me"), 5, ptr.To(int64(1)) },
			func(s *v1.KnobStatus) { s.Spare = &v1.Grip{} },
			[]string{`add /status/spare {"angle":null}`},
			`{"holder":"me","bytes":"5","grip":{"angle":1},"spare":{"angle":null}}`},
		{"rule: free-form JSON", func(s *v1.KnobStatus) {
			s.Holder, s.Bytes, s.Grip.Angle, s.Free = ptr.To("me"), 5, ptr.To(int64(1)), &runtime.RawExtension{Raw: []byte(`{"a":1,"o":{"x":1}}`)}
		},
			func(s *v1.KnobStatus) { s.Free.Raw = []byte(`{"a":null,"o":{"x":1,"y":[{"z":null}]}}`) },
			[]string{`add /status/free/a null`, `add /status/free/o/y [{"z":null}]`},
			`{"holder":"me","bytes":"5","grip":{"angle":1},"free":{"a":null,"o":{"x":1,"y":[{"z":null}]}}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWire(t)
			of := newKnob(t, w, row.first)
			knob, p := fetchKnob(t, w, of)
			row.set(&knob.Status)
			flush := func() (patcher.Result, error) { return p.Flush(t.Context()) }
			requireOperations(t, w.during(func() { requireFlush(t, flush, patched, unchanged) }), row.sent...)
			requireStatus(t, rawStatus(t, w, of, "Knob"), row.want)
			knob, p = fetchKnob(t, w, of)
			row.set(&knob.Status)
			if row.first == nil || !strings.Contains(row.name, "list") {
				requireFlush(t, flush, unchanged) // the next reconcile decides the same
			}
			// An Update of the same status leaves the same content.
			other := newKnob(t, w, row.first)
			row.set(&other.Status)
			if err := w.Status().Update(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if got, want := rawStatus(t, w, of, "Knob"), rawStatus(t, w, other, "Knob"); !reflect.DeepEqual(got, want) {
				t.Errorf("Flush leaves %v, Update %v", got, want)
			}
		})
	}
	t.Run("rule: without a null it is the default merge patch", func(t *testing.T) {
		w := newWire(t)
		knob, p := fetchKnob(t, w, newKnob(t, w, func(s *v1.KnobStatus) { s.Holder, s.Grip.Angle = ptr.To("me"), ptr.To(int64(1)) }))
		knob.Status.Bytes = 7
		status := patchOf(t, w.during(func() {
			requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patched)
		}))["status"]
		if want := map[string]any{"bytes": "7"}; !reflect.DeepEqual(status, want) {
			t.Errorf("sent %v, want %v", status, want)
		}
	})
	t.Run("control: the locked merge patch is refused", func(t *testing.T) {
		w := newWire(t)
		knob := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder, s.Grip.Angle = ptr.To("me"), ptr.To(int64(1)) })
		base := knob.DeepCopy()
		knob.Status.Holder = nil
		err := w.Status().Patch(t.Context(), knob, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsInvalid(err) {
			t.Errorf("%v, want a 422: the tests above prove nothing", err)
		}
	})
}

// jsonPatch sends a JSON patch of a status by hand.
func jsonPatch(t testing.TB, w *wire, obj client.Object, format string, args ...any) error {
	return w.Status().Patch(t.Context(), obj, client.RawPatch(types.JSONPatchType, []byte(fmt.Sprintf(format, args...))))
}

// kinds are a custom resource and a built-in one, each with a condition.
var lockedKinds = map[string]func(testing.TB, *wire) client.Object{
	"a CRD": func(t testing.TB, w *wire) client.Object {
		return newKnob(t, w, func(s *v1.KnobStatus) { s.Phase = "Ready" })
	},
	"Node": func(t testing.TB, w *wire) client.Object { return newNode(t, w, "Ready") },
}

func TestS61_TheLockOfAJSONPatch(t *testing.T) {
	for name, create := range lockedKinds {
		t.Run(name, func(t *testing.T) {
			const lock = `{"op":"replace","path":"/metadata/resourceVersion","value":%q}`
			w := newWire(t)
			obj := create(t, w)
			fresh := obj.GetResourceVersion()
			t.Run("rule: a patch that changes nothing does not move the version", func(t *testing.T) {
				if err := jsonPatch(t, w, obj, "["+lock+"]", fresh); err != nil || obj.GetResourceVersion() != fresh {
					t.Errorf("%v, version %s, want %s", err, obj.GetResourceVersion(), fresh)
				}
			})
			stale := fresh
			if err := jsonPatch(t, w, obj, "["+lock+`,{"op":"add","path":"/status/phase","value":"Running"}]`, fresh); err != nil {
				t.Fatal(err)
			}
			t.Run("rule: a stale one is a conflict, also where the rest changes nothing", func(t *testing.T) {
				for _, rest := range []string{"", `,{"op":"add","path":"/status/phase","value":"Pending"}`} {
					if err := jsonPatch(t, w, obj.DeepCopyObject().(client.Object), "["+lock+rest+"]", stale); !apierrors.IsConflict(err) {
						t.Errorf("%v, want a 409", err)
					}
				}
			})
			t.Run("control: without the lock it lands", func(t *testing.T) {
				if err := jsonPatch(t, w, obj, `[{"op":"add","path":"/status/phase","value":"Pending"}]`); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("rule: Flush of a stale base is a conflict", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder = ptr.To("me") })
		knob, p := fetchKnob(t, w, of)
		of.Status.Phase = "theirs"
		if err := w.Status().Update(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		knob.Status.Holder = nil
		_, err := p.Flush(t.Context())
		var conflict *patcher.ConflictError
		if !errors.As(err, &conflict) || rawStatus(t, w, of, "Knob")["holder"] != "me" {
			t.Errorf("%v, want a ConflictError and nothing written", err)
		}
	})
}

func TestS62_VersionsThatDoNotLock(t *testing.T) {
	w := newWire(t)
	node := newNode(t, w, "Ready")
	for _, version := range []string{"", "0"} {
		for _, row := range []struct {
			name string
			opts []patcher.Option
		}{{"merge patch", nil}, {"JSON patch", []patcher.Option{patcher.PatchListEntries()}}} {
			t.Run(fmt.Sprintf("rule: %q, %s", version, row.name), func(t *testing.T) {
				through := versionless{wire: w, version: version}
				read, p, err := foreignstatus.NewNodeStatusClient(through, w, row.opts...).Fetch(t.Context(), client.ObjectKeyFromObject(node))
				if err != nil {
					t.Fatal(err)
				}
				read.Status.Conditions[0].Reason = "Blind"
				sent := w.during(func() { _, err = p.Flush(t.Context()) })
				if err == nil || len(sent) > 0 || !strings.Contains(err.Error(), "does not lock") {
					t.Errorf("%v after %v, want an error before any request", err, sent)
				}
			})
		}
	}
	t.Run("control: Node accepts version 0 and writes without a lock", func(t *testing.T) {
		err := jsonPatch(t, w, node, `[{"op":"replace","path":"/metadata/resourceVersion","value":"0"},{"op":"add","path":"/status/phase","value":"Running"}]`)
		if err != nil || node.Status.Phase != "Running" {
			t.Errorf("%v: the rule has no reason", err)
		}
	})
}

// versionless is a reader whose objects have lost their version.
type versionless struct {
	*wire
	version string
}

func (v versionless) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := v.wire.Get(ctx, key, obj, opts...)
	obj.SetResourceVersion(v.version)
	return err
}

func TestS63_A422OfAJSONPatchIsSettled(t *testing.T) {
	entries := []patcher.Option{patcher.PatchListEntries()}
	ready := func(w *wire, t *testing.T) *corev1.Node { return newNode(t, w, "Ready", "DiskPressure") }
	t.Run("rule: operations that do not apply to a newer version are a conflict, Node", func(t *testing.T) {
		w := newWire(t)
		of := ready(w, t)
		node, p := fetchNode(t, w, of, entries...)
		of.Status.Conditions = of.Status.Conditions[1:]
		if err := w.Status().Update(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		node.Status.Conditions[1].Status = "False"
		requireConflictAfter422(t, w, func() error { _, err := p.Flush(t.Context()); return err })
	})
	t.Run("rule: the same, a CRD", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Phase, s.Holder, s.Claims = "a", ptr.To("me"), []v1.Claim{{Name: "one"}} })
		knob, p := fetchKnob(t, w, of, entries...)
		of.Status.Claims = nil
		if err := w.Status().Update(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		knob.Status.Claims[0].Note = "mine"
		requireConflictAfter422(t, w, func() error { _, err := p.Flush(t.Context()); return err })
	})
	t.Run("rule: Retry decides again after it", func(t *testing.T) {
		w := newWire(t)
		of := ready(w, t)
		_, p := fetchNode(t, w, of, entries...)
		of.Status.Conditions = of.Status.Conditions[1:]
		if err := w.Status().Update(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		result, err := p.Retry(t.Context(), func(n *corev1.Node) error {
			n.Status.Conditions[len(n.Status.Conditions)-1].Status = "False"
			return nil
		})
		if err != nil || result != patcher.ResultPatched {
			t.Errorf("%q, %v", result, err)
		}
	})
	refuse := func(w *wire) *realserver.Fault {
		return realserver.NewFault(func(r realserver.Request) bool { return r.ContentType == string(types.JSONPatchType) }, unprocessable)
	}
	t.Run("rule: at the same version a merge patch is sent, if that can say it", func(t *testing.T) {
		w := newWire(t)
		of := ready(w, t)
		fault := refuse(w)
		through := &wire{WithWatch: server.Client(t, newScheme(t), fault.Wrap)}
		node, p := fetchNode(t, through, of, entries...)
		node.Status.Conditions[1].Status = "False"
		requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(of), of); err != nil || of.Status.Conditions[1].Status != "False" || fault.Hits() != 1 {
			t.Errorf("%v, %v after %d faults", err, of.Status.Conditions, fault.Hits())
		}
	})
	t.Run("rule: a null inside of a list is kept, which a merge patch would drop", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) {
			s.Holder, s.Grip.Angle, s.Claims = ptr.To("me"), ptr.To(int64(1)), []v1.Claim{{Name: "a", Owner: ptr.To("x")}}
		})
		once := 0
		fault := realserver.NewFault(func(r realserver.Request) bool {
			if r.ContentType == string(types.JSONPatchType) {
				once++
			}
			return once == 1
		}, unprocessable)
		through := &wire{WithWatch: server.Client(t, newScheme(t), fault.Wrap)}
		knob, p := fetchKnob(t, through, of, entries...)
		knob.Status.Claims[0].Note = "n"
		requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		requireStatus(t, rawStatus(t, w, of, "Knob"), `{"bytes":"0","holder":"me","grip":{"angle":1},"claims":[{"name":"a","note":"n","owner":"x","since":null}]}`)
	})
	t.Run("rule: where it cannot, the 422 stands", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Holder = ptr.To("me") })
		through := &wire{}
		through.WithWatch = server.Client(t, newScheme(t), through.recorder.Wrap, refuse(w).Wrap)
		knob, p := fetchKnob(t, through, of)
		knob.Status.Holder = nil
		var err error
		sent := through.during(func() { _, err = p.Flush(t.Context()) })
		if !apierrors.IsInvalid(err) || apierrors.IsConflict(err) || len(sent) != 2 {
			t.Errorf("%v after %v, want the 422 after one patch and one read", err, sent)
		}
	})
	t.Run("control: the server itself says 422 to a stale patch that does not apply", func(t *testing.T) {
		w := newWire(t)
		of := ready(w, t)
		stale := of.ResourceVersion
		of.Status.Conditions = nil
		if err := w.Status().Update(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		err := jsonPatch(t, w, of, `[{"op":"replace","path":"/metadata/resourceVersion","value":%q},{"op":"test","path":"/status/conditions/0/type","value":"Ready"}]`, stale)
		if !apierrors.IsInvalid(err) || apierrors.IsConflict(err) {
			t.Errorf("%v, want a 422: the rules above prove nothing", err)
		}
	})
}

func unprocessable(r realserver.Request) (*http.Response, error) {
	resp, err := realserver.Conflict()(r)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: "forged",
	})
	resp.StatusCode, resp.Status = http.StatusUnprocessableEntity, "422 Unprocessable Entity"
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

func requireConflictAfter422(t *testing.T, w *wire, flush func() error) {
	t.Helper()
	var err error
	sent := w.during(func() { err = flush() })
	var conflict *patcher.ConflictError
	if !errors.As(err, &conflict) || !apierrors.IsConflict(err) {
		t.Errorf("%v, want a ConflictError", err)
	}
	if len(sent) != 2 || sent[0].Code != http.StatusUnprocessableEntity || sent[1].Verb != "get" {
		t.Errorf("sent %v, want a patch that gets 422, and one read", sent)
	}
}

func TestS64_PathsOfAJSONPatch(t *testing.T) {
	full := func(s *v1.KnobStatus) { s.Phase, s.Grip.Angle, s.Bytes, s.Odd = "a", ptr.To(int64(1)), 1, "x" }
	t.Run("rule: names are escaped, members are added and removed", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, full)
		knob, p := fetchKnob(t, w, of)
		flush := func() (patcher.Result, error) { return p.Flush(t.Context()) }
		knob.Status.Odd = "y"
		requireOperations(t, w.during(func() { requireFlush(t, flush, patcher.ResultPatched) }),
			`add /status/holder null`, `add /status/a~1b~0c "y"`)
		knob.Status.Odd = ""
		requireOperations(t, w.during(func() { requireFlush(t, flush, patcher.ResultPatched) }),
			`add /status/holder null`, `remove /status/a~1b~0c`)
	})
	t.Run("rule: an object that may not exist is added whole, one behind a pointer is gone into", func(t *testing.T) {
		w := newWire(t)
		of := newKnob(t, w, func(s *v1.KnobStatus) { s.Phase, s.Spare = "a", &v1.Grip{} })
		knob, p := fetchKnob(t, w, of)
		knob.Status.Spare.Label, knob.Status.Grip.Label, knob.Status.Holder, knob.Status.Bytes = "s", "g", ptr.To("me"), 1
		requireOperations(t, w.during(func() {
			requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		}),
			`add /status/grip {"angle":null,"label":"g"}`, `add /status/spare/angle null`, `add /status/spare/label "s"`,
			`add /status/holder "me"`, `add /status/bytes "1"`)
	})
	t.Run("rule: where nothing proves that the status exists, a merge patch is sent", func(t *testing.T) {
		w := newWire(t)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
		if err := w.Create(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		node, p := fetchNode(t, w, node, patcher.PatchListEntries())
		node.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "True"}}
		patchOf(t, w.during(func() {
			requireFlush(t, func() (patcher.Result, error) { return p.Flush(t.Context()) }, patcher.ResultPatched)
		}))
	})
	t.Run("control: add below a parent that does not exist is a 422", func(t *testing.T) {
		w := newWire(t)
		err := jsonPatch(t, w, newKnob(t, w, full), `[{"op":"add","path":"/status/spare/label","value":"x"}]`)
		if !apierrors.IsInvalid(err) {
			t.Errorf("%v, want a 422", err)
		}
	})
}
