package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher/test/foreignstatus"
)

func ready(reason string) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: reason}
}

// S56: writing another object's status, conditions included.
func TestS56_RetryWith(t *testing.T) {
	t.Run("rule: conditions are set on the object of the attempt that lands, which is returned", func(t *testing.T) {
		b := newBed(t)
		attempts, told := 0, []string{}
		cell, result, err := b.statuses().RetryWith(b.ctx, b.key, func(c *v1.Cell, p *v1status.CellStatusPatcher) error {
			attempts++
			if attempts == 1 {
				b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" })
			}
			p.SetCondition(ready("Done"))
			p.SetObservedGeneration()
			c.Status.Counter++
			p.OnFlushed(func(before, after *v1.CellStatus) {
				told = append(told, fmt.Sprint(attempts, before.Counter, after.Counter))
			})
			return nil
		})
		if err != nil || result != patcher.ResultPatched {
			t.Fatalf("RetryWith: %q, %v", result, err)
		}
		live := b.live()
		if attempts != 2 || live.Status.Counter != 1 || live.Status.ObservedGeneration != live.Generation || live.Status.Conditions[0].ObservedGeneration != live.Generation {
			t.Errorf("%d attempts, the server has %+v at generation %d", attempts, live.Status, live.Generation)
		}
		if cell.ResourceVersion != live.ResourceVersion || cell.Spec.Image != "image:2" {
			t.Errorf("returned %s, the server has %s", cell.ResourceVersion, live.ResourceVersion)
		}
		if fmt.Sprint(told) != "[2 0 1]" {
			t.Errorf("OnFlushed was told %v", told)
		}
	})
	t.Run("rule: what is returned may be flushed", func(t *testing.T) {
		b := newBed(t)
		statuses := b.statuses()
		cell, _, err := statuses.RetryWith(b.ctx, b.key, func(c *v1.Cell, _ *v1status.CellStatusPatcher) error { c.Status.Counter++; return nil })
		b.must(err)
		b.landed(statuses, cell)
	})
	t.Run("rule: mutate's error is returned, and nothing is written", func(t *testing.T) {
		b := newBed(t)
		boom := errors.New("boom")
		cell, _, err := b.statuses().RetryWith(b.ctx, b.key, func(_ *v1.Cell, p *v1status.CellStatusPatcher) error {
			p.SetCondition(ready("Done"))
			return boom
		})
		if !errors.Is(err, boom) || cell != nil || len(b.live().Status.Conditions) != 0 {
			t.Errorf("%v, %v", cell, err)
		}
	})
	t.Run("rule: a patcher's operations inside its own mutate are refused", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		_, err := p.Retry(b.ctx, func(c *v1.Cell) error {
			_, flush := p.Flush(b.ctx)
			_, retry := p.Retry(b.ctx, func(*v1.Cell) error { return nil })
			_, metadata := p.PatchMetadata(b.ctx, addFinalizer)
			_, spec := p.PatchSpec(b.ctx, func(*v1.Cell) {})
			for _, err := range []error{flush, retry, metadata, spec, p.Refresh(b.ctx)} {
				if !errors.Is(err, patcher.ErrInsideMutate) {
					t.Errorf("%v", err)
				}
			}
			return nil
		})
		b.must(err)
	})
	t.Run("control: Retry of the StatusClient alone has nothing to stamp with", func(t *testing.T) {
		b := newBed(t)
		_, err := b.statuses().Retry(b.ctx, b.key, func(c *v1.Cell) error {
			c.Status.Conditions = append(c.Status.Conditions, ready("Done"))
			return nil
		})
		b.must(err)
		if got := b.live().Status.Conditions[0].ObservedGeneration; got != 0 {
			t.Errorf("observedGeneration %d: the rule proves nothing", got)
		}
	})
}

// S24: nothing that mutate or the caller has edited is dropped without a word.
func TestS24_RetryDropsNothingInSilence(t *testing.T) {
	for name, mutate := range map[string]func(*v1.Cell){
		"spec":                 func(c *v1.Cell) { c.Spec.Settings["new"] = "yes" },
		"metadata.labels":      func(c *v1.Cell) { c.Labels["new"] = "yes" },
		"metadata.annotations": func(c *v1.Cell) { c.Annotations["new"] = "yes" },
		"metadata.finalizers":  addFinalizer,
	} {
		t.Run("rule: mutate changes "+name, func(t *testing.T) {
			b := newBed(t)
			_, p := b.fetch()
			both := func(c *v1.Cell) error { mutate(c); c.Status.Phase = "Mine"; return nil }
			for _, retry := range []func() (patcher.Result, error){
				func() (patcher.Result, error) { return p.Retry(b.ctx, both) },
				func() (patcher.Result, error) { return b.statuses().Retry(b.ctx, b.key, both) },
			} {
				sent := b.wire.during(func() {
					if _, err := retry(); !errors.Is(err, patcher.ErrPendingChanges) || !strings.Contains(err.Error(), name) {
						t.Errorf("Retry: %v", err)
					}
				})
				if strings.Contains(fmt.Sprint(sent), "patch") {
					t.Errorf("sent %v", sent)
				}
			}
		})
	}
	t.Run("rule: edits of the spec that the caller has not saved stay in the object", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Spec.Image = "unsaved"
		_, err := p.Retry(b.ctx, once(func() { b.mutate(func(c *v1.Cell) { c.Labels["moved"] = "yes" }) }, func(c *v1.Cell) error {
			c.Status.Phase = "Mine"
			return nil
		}))
		b.must(err)
		if cell.Spec.Image != "unsaved" || cell.Status.Phase != "Mine" || cell.Labels["moved"] != "yes" || cell.ResourceVersion != b.live().ResourceVersion {
			t.Errorf("the object is %+v", cell)
		}
	})
	t.Run("control: they are gone after a Refresh, which discards edits", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Spec.Image = "unsaved"
		b.must(p.Refresh(b.ctx))
		if cell.Spec.Image == "unsaved" {
			t.Error("they are not")
		}
	})
	t.Run("rule: nothing is pending after a Flush of an object whose annotations the cache strips", func(t *testing.T) {
		b := newBed(t)
		stripped := stripping(b, func(c *v1.Cell) { c.Annotations = nil })
		cell, p, err := v1status.NewCellStatusClient(stripped, b.wire, patcher.RebaseOnConflict(), patcher.CacheIsTransformed()).Fetch(b.ctx, b.key)
		b.must(err)
		cell.Status.Phase = "First"
		b.flush(p, patcher.ResultPatched)
		b.mutate(addFinalizer)
		cell.Status.Phase = "Second"
		b.flush(p, patcher.ResultRebased)
		_, err = p.Retry(b.ctx, func(c *v1.Cell) error { c.Status.Phase = "Third"; return nil })
		b.must(err)
	})
}

// S22: kinds without a generation.
func TestS22_AKindWithoutGeneration(t *testing.T) {
	node := func(t *testing.T) (*wire, *corev1.Node, *foreignstatus.NodeStatusPatcher) {
		w := newWire(t)
		made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: server.Namespace(t)}}
		if err := w.Create(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		node, p, err := foreignstatus.NewNodeStatusClient(w, w).Fetch(t.Context(), client.ObjectKeyFromObject(made))
		if err != nil {
			t.Fatal(err)
		}
		return w, node, p
	}
	retry := func(t *testing.T, w *wire, p *foreignstatus.NodeStatusPatcher, change func(*corev1.Node), opts ...patcher.RetryOption) error {
		done := false
		_, err := p.Retry(t.Context(), func(n *corev1.Node) error {
			if !done {
				done = true
				other := &corev1.Node{}
				if err := w.Get(t.Context(), client.ObjectKeyFromObject(n), other); err != nil {
					return err
				}
				change(other)
				if err := w.Update(t.Context(), other); err != nil {
					return err
				}
			}
			n.Status.NodeInfo.OSImage = "mine"
			return nil
		}, opts...)
		return err
	}
	cordon := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	t.Run("rule: another spec stops it", func(t *testing.T) {
		w, node, p := node(t)
		if node.Generation != 0 {
			t.Fatal("nodes have a generation on this server: the test needs another kind")
		}
		if err := retry(t, w, p, cordon); !errors.Is(err, patcher.ErrGenerationChanged) {
			t.Errorf("Retry: %v", err)
		}
	})
	t.Run("rule: other metadata does not", func(t *testing.T) {
		w, _, p := node(t)
		if err := retry(t, w, p, func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }); err != nil {
			t.Errorf("Retry: %v", err)
		}
	})
	t.Run("control: it lands where that is allowed", func(t *testing.T) {
		w, _, p := node(t)
		if err := retry(t, w, p, cordon, patcher.AllowNewerGeneration()); err != nil {
			t.Errorf("Retry: %v", err)
		}
	})
}

// S26: apiVersion and kind, which a cache sets and a typed client does not.
func TestS26_TypeMetaStays(t *testing.T) {
	b := newBed(t)
	cached := interceptor.NewClient(b.wire, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			obj.GetObjectKind().SetGroupVersionKind(v1.GroupVersion.WithKind("Cell"))
			return err
		},
	})
	cell, p, err := v1status.NewCellStatusClient(cached, b.wire).Fetch(b.ctx, b.key)
	b.must(err)
	for name, f := range map[string]func() error{
		"Retry": func() error {
			_, err := p.Retry(b.ctx, func(c *v1.Cell) error { c.Status.Counter++; return nil })
			return err
		},
		"Refresh": func() error { return p.Refresh(b.ctx) },
		"PatchSpec": func() error {
			_, err := p.PatchSpec(b.ctx, func(c *v1.Cell) { c.Spec.Image += "x" })
			return err
		},
	} {
		b.must(f())
		if cell.Kind != "Cell" || cell.APIVersion != v1.GroupVersion.String() {
			t.Errorf("after %s the object is a %q %q", name, cell.APIVersion, cell.Kind)
		}
	}
}

// S57: the spec, written through the patcher.
func TestS57_PatchSpec(t *testing.T) {
	t.Run("rule: it moves the base along, and the stamp", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase, cell.Labels["unsaved"] = "Pending", "yes"
		version := cell.ResourceVersion
		sent := b.wire.during(func() {
			if result, err := p.PatchSpec(b.ctx, func(c *v1.Cell) { c.Spec.Image = "image:2" }); err != nil || result != patcher.ResultPatched {
				t.Fatalf("PatchSpec: %q, %v", result, err)
			}
		})
		want := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"image":"image:2"}}`, version)
		if len(sent) != 1 || string(sent[0].Body) != want {
			t.Errorf("sent %v %s, want %s", sent, sent[0].Body, want)
		}
		if cell.Spec.Image != "image:2" || cell.Status.Phase != "Pending" || cell.Labels["unsaved"] != "yes" {
			t.Errorf("the object is %+v", cell)
		}
		p.SetObservedGeneration()
		b.flush(p, patcher.ResultPatched)
		if live := b.live(); live.Status.ObservedGeneration != live.Generation || live.Generation != 2 || live.Labels["unsaved"] != "" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: nothing changed, no request", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		sent := b.wire.during(func() {
			if result, err := p.PatchSpec(b.ctx, func(*v1.Cell) {}); err != nil || result != patcher.ResultUnchanged {
				t.Errorf("PatchSpec: %q, %v", result, err)
			}
		})
		if len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	for name, mutate := range map[string]func(*v1.Cell){
		"status":          func(c *v1.Cell) { c.Status.Phase = "x" },
		"metadata.labels": func(c *v1.Cell) { c.Labels["x"] = "y" },
	} {
		t.Run("rule: mutate may not change "+name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch()
			before := cell.DeepCopy()
			if _, err := p.PatchSpec(b.ctx, mutate); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("PatchSpec: %v", err)
			}
			if fmt.Sprint(before) != fmt.Sprint(cell) {
				t.Errorf("the object changed to %+v", cell)
			}
		})
	}
	t.Run("rule: it is locked", func(t *testing.T) {
		b := newBed(t)
		_, p := b.fetch()
		b.forge(phase("Foreign"))
		var conflict *patcher.ConflictError
		if _, err := p.PatchSpec(b.ctx, func(c *v1.Cell) { c.Spec.Image = "image:2" }); !errors.As(err, &conflict) {
			t.Errorf("PatchSpec: %v", err)
		}
	})
	t.Run("control: a patch of the client's own makes the next Flush an ErrStaleBase", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Spec.Image = "image:2"
		b.must(b.wire.Update(b.ctx, cell))
		cell.Status.Phase = "Mine"
		if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrStaleBase) {
			t.Errorf("Flush: %v", err)
		}
	})
}
