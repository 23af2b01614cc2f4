package behaviour

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

type (
	nodeKind    = patcher.Kind[*corev1.Node, corev1.NodeStatus]
	nodePatcher = patcher.Patcher[*corev1.Node, corev1.NodeStatus]
)

func newNodeKind() *nodeKind {
	return &nodeKind{
		Name:         "Node",
		New:          func() *corev1.Node { return &corev1.Node{} },
		Assign:       func(dst, src *corev1.Node) { *dst = *src },
		Status:       func(obj *corev1.Node) *corev1.NodeStatus { return &obj.Status },
		DeepCopyInto: (*corev1.NodeStatus).DeepCopyInto,
		Equal:        patcher.EqualDeep[corev1.NodeStatus],
		Trim:         func(_, _ *corev1.NodeStatus) {},
	}
}

// TestCheckFindsFaults is the negative control of every behaviour test: what is broken in a kind is seen.
func TestCheckFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		broken     func(k *nodeKind)
	}{
		{"nothing is broken", "", func(*nodeKind) {}},
		{"everything is equal", "equal, with different JSON", func(k *nodeKind) {
			k.Equal = func(_, _ *corev1.NodeStatus) bool { return true }
		}},
		{"one field is forgotten", "equal, with different JSON", func(k *nodeKind) {
			k.Equal = func(a, b *corev1.NodeStatus) bool {
				x, y := *a, *b
				x.Phase, y.Phase = "", ""
				return patcher.EqualDeep(&x, &y)
			}
		}},
		{"nothing is equal", "a copy is not equal", func(k *nodeKind) {
			k.Equal = func(_, _ *corev1.NodeStatus) bool { return false }
		}},
		{"the diff loses a field", "the server has another status", func(k *nodeKind) {
			k.Trim = func(base, status *corev1.NodeStatus) { patcher.Trim(&base.Images, &status.Images, true) }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kind := newNodeKind()
			tt.broken(kind)
			r := &recorder{ctx: t.Context()}
			r.run(func() {
				check(r, kind, func(c client.Client) Fetch[*corev1.Node, *nodePatcher] {
					statuses := patcher.NewClient(kind, c, c)
					return func(ctx context.Context, key client.ObjectKey, opts ...client.GetOption) (*corev1.Node, *nodePatcher, error) {
						p := new(nodePatcher)
						obj, err := statuses.Fetch(ctx, key, p, opts...)
						return obj, p, err
					}
				})
			})
			if (tt.want == "") != (len(r.failures) == 0) || !strings.Contains(strings.Join(r.failures, "\n"), tt.want) {
				t.Errorf("failures %q: want one with %q", r.failures, tt.want)
			}
		})
	}
}

type (
	bytesStatus struct {
		Text  string   `json:"text"`
		Bytes []byte   `json:"bytes"`
		List  []string `json:"list"`
	}
	// protobufStatus has a field that its copies lack.
	protobufStatus struct {
		Text  string `json:"text,omitempty"`
		cache *int
	}
	// ownJSONStatus is no protobuf message.
	ownJSONStatus  struct{ protobufFields }
	protobufFields struct{ cache *int }
)

func (*protobufStatus) ProtoReflect() {}

func (*ownJSONStatus) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// TestCanonical: nil and empty are the same to a patcher, and nothing else is.
func TestCanonical(t *testing.T) {
	nothing := canonical(t, &bytesStatus{})
	for _, same := range []bytesStatus{{Bytes: []byte{}}, {List: []string{}}} {
		if diff := cmp.Diff(nothing, canonical(t, &same)); diff != "" {
			t.Errorf("nil and empty differ:\n%s", diff)
		}
	}
	for _, other := range []bytesStatus{{Bytes: []byte{0}}, {List: []string{""}}, {Text: "x"}} {
		if cmp.Equal(nothing, canonical(t, &other)) {
			t.Errorf("%+v is the same as nothing", other)
		}
	}
	if cmp.Equal(canonical(t, &map[string]string{"text": ""}), canonical(t, &map[string]string{})) {
		t.Error("an empty string is the same as none")
	}
}

// TestCopies: only a protobuf message may be unequal to its copy, and only if the copy has the same JSON.
func TestCopies(t *testing.T) {
	protobuf := &patcher.Kind[*corev1.Node, protobufStatus]{
		DeepCopyInto: func(in, out *protobufStatus) { *out = protobufStatus{Text: in.Text} },
		Equal:        func(a, b *protobufStatus) bool { return *a == *b },
	}
	full := &protobufStatus{Text: "x", cache: new(int)}
	check := func(want string, f func(r *recorder)) {
		t.Helper()
		r := &recorder{ctx: t.Context()}
		r.run(func() { f(r) })
		if (want == "") != (len(r.failures) == 0) || !strings.Contains(strings.Join(r.failures, "\n"), want) {
			t.Errorf("failures %q: want one with %q", r.failures, want)
		}
	}
	check("", func(r *recorder) { checkEqual(r, protobuf, full, full) })
	lossy := &patcher.Kind[*corev1.Node, protobufStatus]{
		DeepCopyInto: func(_, out *protobufStatus) { *out = protobufStatus{} },
		Equal:        protobuf.Equal,
	}
	check("a copy is not equal", func(r *recorder) { checkEqual(r, lossy, full, full) })
	own := &patcher.Kind[*corev1.Node, ownJSONStatus]{
		DeepCopyInto: func(_, out *ownJSONStatus) { *out = ownJSONStatus{} },
		Equal:        func(a, b *ownJSONStatus) bool { return *a == *b },
	}
	check("a copy is not equal", func(r *recorder) {
		checkEqual(r, own, &ownJSONStatus{protobufFields{new(int)}}, &ownJSONStatus{})
	})
}

// TestServerPatches: the server stores what a patch of either format says, and refuses one for another version.
func TestServerPatches(t *testing.T) {
	for _, tt := range []struct {
		name, patch string
		format      types.PatchType
		want, fails string
	}{
		{"merge", `{"metadata":{"resourceVersion":"1"},"status":{"phase":"b","conditions":null}}`, types.MergePatchType, `{"phase":"b"}`, ""},
		{"merge, another version", `{"metadata":{"resourceVersion":"2"},"status":{"phase":"b"}}`, types.MergePatchType, "", "the patch has the version 2"},
		{"merge, no version", `{"status":{"phase":"b"}}`, types.MergePatchType, "", "the patch has the version <nil>"},
		{"JSON", `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/status/phase","value":null}]`, types.JSONPatchType, `{"conditions":[],"phase":null}`, ""},
		{"JSON, another version", `[{"op":"replace","path":"/metadata/resourceVersion","value":"2"}]`, types.JSONPatchType, "", "the patch has the version 2"},
		{"JSON, no version", `[{"op":"add","path":"/status/phase","value":null}]`, types.JSONPatchType, "", "does not start with the version"},
		{"JSON, a parent that is missing", `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/status/a/b","value":1}]`, types.JSONPatchType, "", "is invalid"},
		{"JSON, the rest of the object", `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/spec","value":1}]`, types.JSONPatchType, `{"conditions":[],"phase":"a"}`, ""},
		{"apply", `{}`, types.ApplyPatchType, "", "the patch is a application/apply-patch+yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := newServer(map[string]any{"phase": "a", "conditions": []string{}})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Status().Patch(t.Context(), &corev1.Node{}, client.RawPatch(tt.format, []byte(tt.patch)))
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Fatalf("%v, want an error with %q", err, tt.fails)
			}
			if got := text(t, s.object["status"]); tt.fails == "" && (got != tt.want || s.object["spec"] != nil || s.version != 2) {
				t.Errorf("the status is %s, want %s; version %d", got, tt.want, s.version)
			}
		})
	}
}

// A union is a string or a list, and its zero value neither.
type union struct {
	Kind string
	Text string
	List []string
}

func (u union) MarshalJSON() ([]byte, error) {
	switch u.Kind {
	case "text":
		return json.Marshal(u.Text)
	case "list":
		return json.Marshal(u.List)
	}
	return nil, errors.New("no kind")
}

func (u *union) UnmarshalJSON(data []byte) error {
	if u.Kind = "text"; json.Unmarshal(data, &u.Text) == nil {
		return nil
	}
	u.Kind = "list"
	return json.Unmarshal(data, &u.List)
}

// TestOwnJSON: types that write their own JSON, and not every value's, are filled all the same, and not always alike.
func TestOwnJSON(t *testing.T) {
	seen := map[string]bool{}
	for seed := range rounds {
		status, ok := random[struct {
			One  union            `json:"one"`
			Many []union          `json:"many"`
			Map  map[string]union `json:"map"`
		}](int64(seed))
		if !ok {
			t.Fatalf("seed %d has no status", seed)
		}
		seen[status.One.Kind] = true
	}
	if !seen["text"] || !seen["list"] {
		t.Errorf("only %v", seen)
	}
}

// A recorder keeps the failures of a check.
type recorder struct {
	ctx      context.Context //nolint:containedctx // it stands for testing.T, which has one
	failures []string
}

// stop is what Fatal panics with.
type stop struct{}

func (r *recorder) run(f func()) {
	defer func() {
		if p := recover(); p != nil && p != (stop{}) {
			panic(p)
		}
	}()
	f()
}

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); panic(stop{}) }
func (r *recorder) Fatal(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)); panic(stop{}) }
