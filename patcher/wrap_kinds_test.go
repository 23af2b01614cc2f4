package patcher_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// double is a test double as mock generators make them: it fails on each call that the test does not expect.
type double struct {
	client.Client
	t     *testing.T
	calls []string
}

func (d *double) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	d.calls = append(d.calls, "Get")
	obj.SetName(key.Name)
	obj.SetResourceVersion("7")
	return nil
}

func (d *double) Status() client.SubResourceWriter {
	d.calls = append(d.calls, "Status")
	return &doubleWriter{d: d}
}

func (d *double) Scheme() *runtime.Scheme {
	d.t.Error("an unexpected call of Scheme")
	return nil
}

func (d *double) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	d.t.Error("an unexpected call of GroupVersionKindFor")
	return schema.GroupVersionKind{}, nil
}

type doubleWriter struct {
	client.SubResourceWriter
	d *double
}

func (w *doubleWriter) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	w.d.calls = append(w.d.calls, "Update")
	return nil
}

func (w *doubleWriter) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := patch.Data(obj)
	w.d.calls = append(w.d.calls, "Patch "+string(data))
	return err
}

// A wrapped test double receives the calls that the operator makes, and no others.
func TestWrap_OverATestDouble(t *testing.T) {
	d := &double{t: t}
	w := patcher.Wrap(d, patcher.Lock, v1status.Kinds()...)
	cell := &v1.Cell{}
	mustNot(t, w.Get(t.Context(), client.ObjectKey{Name: "a"}, cell))
	base := phase(cell)
	mustNot(t, w.Status().Patch(t.Context(), cell, client.MergeFrom(base)))
	cell.Status.Counter = 2
	mustNot(t, w.Status().Update(t.Context(), cell))
	want := `Get; Status; Patch {"metadata":{"resourceVersion":"7"},"status":{"phase":"Ready"}}; Status; Update`
	if got := strings.Join(d.calls, "; "); got != want {
		t.Errorf("the double received\n%s, expected\n%s", got, want)
	}
}

// Many operators add their API to the scheme after they have made the manager, and with it the client.
func TestWrap_ASchemeThatIsCompletedLater(t *testing.T) {
	gvk := v1.GroupVersion.WithKind("Cell")
	for _, row := range []struct {
		name string
		obj  func() client.Object
	}{
		{"unstructured", func() client.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			return u
		}},
		{"PartialObjectMetadata", func() client.Object {
			return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}}
		}},
		{"typed of another version", func() client.Object { return &localCell{} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &sent{}
			scheme := runtime.NewScheme()
			bare := &laterScheme{WithWatch: s.recording(newFake(t, newCell(0))), scheme: scheme}
			w := patcher.Wrap(bare, patcher.Lock, v1status.Kinds()...)
			write := func() string {
				obj := row.obj()
				obj.SetNamespace("default")
				obj.SetName("cell-0")
				obj.SetResourceVersion("7")
				s.writes = nil
				_ = w.Status().Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Mine"}}`))) // stale
				return strings.Join(s.writes, "; ")
			}
			if got := write(); strings.Contains(got, "resourceVersion") {
				t.Errorf("control: the scheme is empty, and %q was sent", got)
			}
			mustNot(t, v1.AddToScheme(scheme))
			scheme.AddKnownTypeWithName(gvk.GroupKind().WithVersion("v3"), &localCell{})
			if want, got := `merge-patch {"metadata":{"resourceVersion":"7"},"status":{"phase":"Mine"}}`, write(); got != want {
				t.Errorf("sent %q, expected %q", got, want)
			}
		})
	}
}

// laterScheme is a client whose scheme is completed after it was made.
type laterScheme struct {
	client.WithWatch
	scheme *runtime.Scheme
}

func (c *laterScheme) Scheme() *runtime.Scheme { return c.scheme }

func (c *laterScheme) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	known, _, err := c.scheme.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return known[0], nil
}
