package realserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func TestForgeWritesOnWhatTheServerHas(t *testing.T) {
	budget := createBudget(t)
	c := server.Client(t, scheme.Scheme)
	stale := budget.DeepCopy()
	stale.Status.DesiredHealthy = 99 // an edit that was never written
	if err := allow(bounded(t), c, budget, 3, true); err != nil {
		t.Fatal(err)
	}
	if err := realserver.Forge(bounded(t), c, stale, func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 7 }); err != nil {
		t.Fatal(err)
	}
	now := live(t, budget)
	if now.Status.DisruptionsAllowed != 3 || now.Status.CurrentHealthy != 7 || now.Status.DesiredHealthy != 0 {
		t.Errorf("stored %+v", now.Status)
	}
	if stale.ResourceVersion != now.ResourceVersion {
		t.Errorf("the object is at %s, want what the server stored: %s", stale.ResourceVersion, now.ResourceVersion)
	}
}

// Another writer comes in between the read and the write, more than once; its own edits must not be lost.
func TestWritesAreRepeatedAfterAConflict(t *testing.T) {
	budget := createBudget(t)
	c := server.Client(t, scheme.Scheme)
	attempts := 0
	interfere := func() {
		if attempts++; attempts < 3 {
			if err := allow(bounded(t), c, live(t, budget), int32(attempts), true); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := realserver.Forge(bounded(t), c, budget, func(b *policyv1.PodDisruptionBudget) { interfere(); b.Status.CurrentHealthy++ })
	if now := live(t, budget); err != nil || attempts != 3 || now.Status.CurrentHealthy != 1 || now.Status.DisruptionsAllowed != 2 {
		t.Errorf("Forge: %v after %d attempts, stored %+v", err, attempts, now.Status)
	}
	attempts = 0
	one := intstr.FromInt32(1)
	err = realserver.MutateSpec(bounded(t), c, budget, func(b *policyv1.PodDisruptionBudget) { interfere(); b.Spec.MinAvailable = &one })
	if now := live(t, budget); err != nil || attempts != 3 || now.Spec.MinAvailable == nil || now.Generation != 2 {
		t.Errorf("MutateSpec: %v after %d attempts, stored %+v", err, attempts, now.Spec)
	}
}

func TestForgeOfAnUntypedObject(t *testing.T) {
	c := server.Client(t, scheme.Scheme)
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("realserver.test/v1")
	widget.SetKind("Widget")
	widget.SetNamespace(server.Namespace(t))
	widget.SetName("a")
	if err := c.Create(bounded(t), widget); err != nil {
		t.Fatal(err)
	}
	err := realserver.Forge(bounded(t), c, widget, func(w *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(w.Object, "Ready", "status", "phase"); err != nil {
			t.Error(err)
		}
	})
	if phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase"); err != nil || phase != "Ready" {
		t.Errorf("got %v, %v", widget.Object, err)
	}
}

// A negative control for each misuse that would make a test prove nothing.
func TestWritesThatWouldBeDroppedAreErrors(t *testing.T) {
	budget := createBudget(t)
	c := server.Client(t, scheme.Scheme)
	type write = func(context.Context, client.Client, *policyv1.PodDisruptionBudget, func(*policyv1.PodDisruptionBudget)) error
	for _, row := range []struct {
		name   string
		write  write
		mutate func(*policyv1.PodDisruptionBudget)
		want   string
	}{
		{"Forge changes nothing", realserver.Forge[*policyv1.PodDisruptionBudget], func(*policyv1.PodDisruptionBudget) {}, "expected mutate to change something"},
		{"MutateSpec changes nothing", realserver.MutateSpec[*policyv1.PodDisruptionBudget], func(*policyv1.PodDisruptionBudget) {}, "expected mutate to change something"},
		{"Forge of a label", realserver.Forge[*policyv1.PodDisruptionBudget], func(b *policyv1.PodDisruptionBudget) {
			b.Labels, b.Status.CurrentHealthy = map[string]string{"a": "b"}, 9
		}, "expected mutate to change the status only"},
		{"MutateSpec of the status", realserver.MutateSpec[*policyv1.PodDisruptionBudget], func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 9 }, "expected mutate to leave the status alone"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.write(bounded(t), c, budget.DeepCopy(), row.mutate)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if now := live(t, budget); now.ResourceVersion != budget.ResourceVersion {
				t.Error("something was written")
			}
		})
	}
}

func TestForgeGivesUpWithItsContext(t *testing.T) {
	budget := createBudget(t)
	fault := realserver.NewFault(realserver.StatusWrites(), realserver.Conflict(), realserver.Times(-1))
	c := server.Client(t, scheme.Scheme, fault.Wrap)
	err := realserver.Forge(brief(t), c, budget, func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 })
	if !apierrors.IsConflict(err) && !strings.Contains(err.Error(), "injected by a test") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if fault.Hits() < 2 {
		t.Errorf("tried %d times", fault.Hits())
	}
}
