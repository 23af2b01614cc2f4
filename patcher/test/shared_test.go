package patcher_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// shared is a client whose cache hands out its own objects (UnsafeDisableDeepCopy), and whose writes fail while it is down.
// Readers of the cache run all the time, for the race detector.
type shared struct {
	client.WithWatch
	cached *v1.Cell
	down   bool
}

func newShared(b *bed) *shared {
	s := &shared{cached: b.live()}
	s.WithWatch = interceptor.NewClient(b.wire, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			list.(*v1.CellList).Items = []v1.Cell{*s.cached}
			return nil
		},
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			*obj.(*v1.Cell) = *s.cached
			return nil
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if s.down {
				return errors.New("client rate limiter Wait returned an error: down")
			}
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
	return s
}

// watched runs f while informers read the cache's object.
func (s *shared) watched(f func()) {
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				s.cached.DeepCopy()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	f()
	close(done)
	readers.Wait()
}

// attempt is a reconcile over a list: For (or Get), an edit, a Flush.
func attempt(b *bed, s *shared, open func(*v1status.CellStatusClient, *v1.Cell) (func(context.Context) (patcher.Result, error), *v1.Cell)) (patcher.Result, error) {
	statuses := v1status.NewCellStatusClient(s, b.wire, patcher.CacheIsShared())
	list := &v1.CellList{}
	b.must(s.List(b.ctx, list))
	flush, cell := open(statuses, &list.Items[0])
	cell.Status.Conditions[0].Status = metav1.ConditionFalse
	cell.Status.Conditions[0].LastTransitionTime = metav1.Now()
	cell.Status.Plan.Tasks[0].Note = "edited"
	cell.Status.Shares["a"] = v1.Share{Weight: 7}
	return flush(b.ctx)
}

// S59: with CacheIsShared nothing is written into the cache, and an edit whose write failed is found again.
func TestS59_ACacheThatHandsOutItsOwnObjects(t *testing.T) {
	full := func(s *v1.CellStatus) {
		readySince(longAgo)(s)
		s.Plan = &v1.Plan{ID: "p", Tasks: []v1.Task{{Name: "one"}}}
		s.Shares = map[string]v1.Share{"a": {Weight: 1}}
	}
	for name, open := range map[string]func(*v1status.CellStatusClient, *v1.Cell) (func(context.Context) (patcher.Result, error), *v1.Cell){
		"For": func(c *v1status.CellStatusClient, item *v1.Cell) (func(context.Context) (patcher.Result, error), *v1.Cell) {
			p, err := c.For(item)
			if err != nil {
				t.Fatal(err)
			}
			return p.Flush, item
		},
		"Get and Flush": func(c *v1status.CellStatusClient, item *v1.Cell) (func(context.Context) (patcher.Result, error), *v1.Cell) {
			cell := &v1.Cell{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(item), cell); err != nil {
				t.Fatal(err)
			}
			return func(ctx context.Context) (patcher.Result, error) { return c.Flush(ctx, cell) }, cell
		},
		"Fetch": func(c *v1status.CellStatusClient, item *v1.Cell) (func(context.Context) (patcher.Result, error), *v1.Cell) {
			cell, p, err := c.Fetch(t.Context(), client.ObjectKeyFromObject(item))
			if err != nil {
				t.Fatal(err)
			}
			return p.Flush, cell
		},
	} {
		t.Run("rule: "+name, func(t *testing.T) {
			b := newBed(t, full)
			s := newShared(b)
			before := s.cached.DeepCopy()
			s.watched(func() {
				s.down = true
				if _, err := attempt(b, s, open); err == nil {
					t.Fatal("Flush succeeded while the server is down")
				}
				s.down = false
				if result, err := attempt(b, s, open); err != nil || result != patcher.ResultPatched {
					t.Errorf("Flush: %q, %v", result, err)
				}
			})
			requireJSON(t, s.cached.Status, before.Status)
			if live := b.live().Status; live.Conditions[0].Status != "False" || live.Plan.Tasks[0].Note != "edited" || live.Shares["a"].Weight != 7 {
				t.Errorf("the server has %+v", live)
			}
		})
	}
	t.Run("control: without the option the edit goes into the cache, and is lost", func(t *testing.T) {
		b := newBed(t, full)
		s := newShared(b)
		edit := func() (patcher.Result, error) {
			list := &v1.CellList{}
			b.must(s.List(b.ctx, list))
			p, err := v1status.NewCellStatusClient(s, b.wire).For(&list.Items[0])
			b.must(err)
			p.SetCondition(metav1.Condition{Type: "Ready", Status: "False", Reason: "Down"})
			return p.Flush(b.ctx)
		}
		s.down = true
		if _, err := edit(); err == nil {
			t.Fatal("Flush succeeded while the server is down")
		}
		s.down = false
		if result, err := edit(); err != nil || result != patcher.ResultUnchanged {
			t.Errorf("Flush: %q, %v: the rule proves nothing", result, err)
		}
	})
}
