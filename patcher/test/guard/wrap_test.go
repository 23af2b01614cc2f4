package guard

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// versions are made beforehand.
var versions = func() (all []string) {
	for i := range 1000 {
		all = append(all, fmt.Sprint("v", i))
	}
	return all
}()

// idle is a client whose requests cost nothing. Each returns an object of another version.
type idle struct {
	client.Client
	items []v1.Cell
	n     int
}

func (c *idle) next(obj client.Object) error {
	c.n++
	obj.SetResourceVersion(versions[c.n%len(versions)])
	return nil
}

func (*idle) Scheme() *runtime.Scheme { return nil }

func (*idle) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return v1.GroupVersion.WithKind("Cell"), nil
}

func (c *idle) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	return c.next(obj)
}

func (c *idle) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if cells, ok := list.(*v1.CellList); ok {
		cells.Items = c.items
		return c.next(&c.items[0])
	}
	return nil
}

func (c *idle) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	return c.next(obj)
}
func (c *idle) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	return c.next(obj)
}
func (c *idle) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return c.next(obj)
}

// onlyCells is wrapped for no kind but one.
func onlyCells(c client.Client) client.Client {
	return patcher.Wrap(c, patcher.Lock, v1status.CellKind)
}

func TestGuard_WrapCostsOtherKindsNothing(t *testing.T) {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	requests := map[string]func(c client.Client, obj client.Object, list client.ObjectList) error{
		"Get": func(c client.Client, obj client.Object, _ client.ObjectList) error {
			return c.Get(t.Context(), client.ObjectKey{Name: "a"}, obj)
		},
		"List":   func(c client.Client, _ client.Object, list client.ObjectList) error { return c.List(t.Context(), list) },
		"Create": func(c client.Client, obj client.Object, _ client.ObjectList) error { return c.Create(t.Context(), obj) },
		"Update": func(c client.Client, obj client.Object, _ client.ObjectList) error { return c.Update(t.Context(), obj) },
		"Patch": func(c client.Client, obj client.Object, _ client.ObjectList) error {
			return c.Patch(t.Context(), obj, patch)
		},
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			count := func(c client.Client, obj client.Object, list client.ObjectList) float64 {
				return testing.AllocsPerRun(100, func() {
					if err := request(c, obj, list); err != nil {
						t.Fatal(err)
					}
				})
			}
			bare := &idle{items: []v1.Cell{*guardedCell(0)}}
			pod, pods := &corev1.Pod{}, &corev1.PodList{}
			if got, want := count(onlyCells(bare), pod, pods), count(bare, pod, pods); got != want {
				t.Errorf("%v allocations, and %v without Wrap", got, want)
			}
			cell, cells := guardedCell(0), &v1.CellList{}
			if got, without := count(onlyCells(bare), cell, cells), count(bare, cell, cells); got <= without {
				t.Errorf("control: %v allocations for a registered kind, and %v without Wrap: the count sees nothing", got, without)
			}
		})
	}
}

// A version that was read before is not copied again.
func TestGuard_WrapCopiesAVersionOnce(t *testing.T) {
	bare := &idle{items: []v1.Cell{*guardedCell(0), *guardedCell(0)}}
	c := onlyCells(bare)
	read := func(n int) float64 {
		return testing.AllocsPerRun(100, func() {
			bare.n += n - 1
			if err := c.List(t.Context(), &v1.CellList{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	changed, same := read(1), read(0)
	if same > 3 {
		t.Errorf("%v allocations for versions that were read before, expected no copy of a status", same)
	}
	if changed <= same+3 {
		t.Errorf("control: %v allocations for a new version, and %v for one that was read before", changed, same)
	}
}
