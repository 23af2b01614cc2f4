package patcher_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// cellApply is what applyconfiguration-gen would generate, as far as a client looks at it.
type cellApply struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func (*cellApply) IsApplyConfiguration()    {}
func (a *cellApply) GetAPIVersion() *string { return &a.APIVersion }
func (a *cellApply) GetKind() *string       { return &a.Kind }
func (a *cellApply) GetName() *string       { return &a.Metadata.Name }
func (a *cellApply) GetNamespace() *string  { return &a.Metadata.Namespace }

func appliedOf(gvk schema.GroupVersionKind, cell *v1.Cell) (typed, untyped runtime.ApplyConfiguration) {
	a := &cellApply{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}
	a.Metadata.Name, a.Metadata.Namespace, a.Status.Phase = cell.Name, cell.Namespace, "Applied"
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Applied"}}}
	u.SetGroupVersionKind(gvk)
	u.SetName(cell.Name)
	u.SetNamespace(cell.Namespace)
	return a, client.ApplyConfigurationFromUnstructured(u)
}

// hasApply reports whether this version of controller-runtime has Status().Apply.
func hasApply() bool {
	_, exists := reflect.TypeFor[client.SubResourceWriter]().MethodByName("Apply")
	return exists
}

// apply calls Status().Apply. With a controller-runtime that does not have it the error says so.
func apply(t *testing.T, writer client.SubResourceWriter, obj runtime.ApplyConfiguration) {
	t.Helper()
	exists := hasApply()
	in := []reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(obj), reflect.ValueOf(client.FieldOwner("me"))}
	err, _ := reflect.ValueOf(writer).MethodByName("Apply").Call(in)[0].Interface().(error)
	if exists && err != nil || !exists && (err == nil || !strings.Contains(err.Error(), "no Status().Apply")) {
		t.Errorf("Status().Apply, which exists: %v, returns %v", exists, err)
	}
}

func TestWrap_StatusApplyIsReported(t *testing.T) {
	for _, row := range []struct {
		name  string
		kinds []patcher.AnyKind
		opts  []patcher.WrapOption
		blind []patcher.Action
		other int
	}{
		{name: "of a registered kind", kinds: v1status.Kinds(), blind: []patcher.Action{patcher.ActionSent}},
		{name: "that is allowed", kinds: v1status.Kinds(), opts: []patcher.WrapOption{patcher.AllowBlind(v1status.CellKind, "me")}, blind: []patcher.Action{patcher.ActionAllowed}},
		{name: "control: of another kind", kinds: []patcher.AnyKind{v1status.DialKind}, other: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			writers := []func(client.Client) client.SubResourceWriter{client.Client.Status}
			if hasApply() {
				writers = append(writers, func(c client.Client) client.SubResourceWriter { return c.SubResource("status") })
			}
			for _, through := range writers {
				for i := range 2 {
					s := &sent{}
					bare := s.recording(newFake(t, newCell(0)))
					w := patcher.Wrap(bare, patcher.Refuse, row.kinds...).With(row.opts...)
					typed, untyped := appliedOf(v1.GroupVersion.WithKind("Cell"), newCell(0))
					apply(t, through(w), []runtime.ApplyConfiguration{typed, untyped}[i])
					got := w.Report()
					if len(got.Blind) != len(row.blind) || got.Passed[patcher.PassedOtherKind] != row.other {
						t.Fatalf("the report is %v", got)
					}
					for i, action := range row.blind {
						if b := got.Blind[i]; b.Action != action || b.Class != patcher.BlindApply || b.Kind != "Cell" || b.Key != client.ObjectKeyFromObject(newCell(0)) {
							t.Errorf("reported %+v, expected %s", b, action)
						}
					}
				}
			}
		})
	}
}
