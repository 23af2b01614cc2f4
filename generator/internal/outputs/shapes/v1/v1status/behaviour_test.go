package v1status

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/generator/internal/outputs/shapes/shared"
	v1 "github.com/statuspatcher/statuspatcher/generator/internal/outputs/shapes/v1"
	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, ElsewhereKind, func(c client.Client) behaviour.Fetch[*v1.Elsewhere, *ElsewhereStatusPatcher] {
		return NewElsewhereStatusClient(c, c).Fetch
	})
	behaviour.Check(t, HTTPRouteKind, func(c client.Client) behaviour.Fetch[*v1.HTTPRoute, *HTTPRouteStatusPatcher] {
		return NewHTTPRouteStatusClient(c, c).Fetch
	})
	behaviour.Check(t, MapKind, func(c client.Client) behaviour.Fetch[*v1.Map, *MapStatusPatcher] {
		return NewMapStatusClient(c, c).Fetch
	})
	behaviour.Check(t, PatcherKind, func(c client.Client) behaviour.Fetch[*v1.Patcher, *PatcherStatusPatcher] {
		return NewPatcherStatusClient(c, c).Fetch
	})
	behaviour.Check(t, PointerKind, func(c client.Client) behaviour.Fetch[*v1.Pointer, *PointerStatusPatcher] {
		return NewPointerStatusClient(c, c).Fetch
	})
	behaviour.Check(t, PromotedKind, func(c client.Client) behaviour.Fetch[*v1.Promoted, *PromotedStatusPatcher] {
		return NewPromotedStatusClient(c, c).Fetch
	})
}

// TestPointerStatus: a status that is not there is made when a helper needs it.
func TestPointerStatus(t *testing.T) {
	obj := &v1.Pointer{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: "1"}}
	p, err := NewPointerStatusClient(noClient{}, noClient{}).For(obj)
	if err != nil {
		t.Fatal(err)
	}
	if p.Observed() != nil || p.Changed() {
		t.Errorf("observed %v, changed %v: want nil and false", p.Observed(), p.Changed())
	}
	if p.Condition("Ready") != nil || p.RemoveCondition("Ready") || obj.Status != nil {
		t.Error("there is a condition, or a status was made to look for it")
	}
	if p.Changed() {
		t.Error("looking for a condition is a change")
	}
	obj.Status = &v1.PointerStatus{}
	if !p.Changed() || p.Observed() != nil {
		t.Errorf("an empty status where there was none: changed %v, and the base has %v", p.Changed(), p.Observed())
	}
	obj.Status = nil
	if !p.SetCondition(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"}) || !p.Changed() {
		t.Error("a condition that is set is no change")
	}
	if obj.Status == nil || len(obj.Status.Conditions) != 1 {
		t.Errorf("status %+v", obj.Status)
	}
}

// TestNamedConditions: the helpers work on a slice type of its own, in an embedded struct.
func TestNamedConditions(t *testing.T) {
	obj := &v1.Elsewhere{ObjectMeta: metav1.ObjectMeta{Name: "e", ResourceVersion: "1", Generation: 3}, Status: shared.Status{}}
	p, err := NewElsewhereStatusClient(noClient{}, noClient{}).For(obj)
	if err != nil {
		t.Fatal(err)
	}
	p.SetObservedGeneration()
	p.SetCondition(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"})
	if obj.Status.ObservedGeneration != 3 || len(obj.Status.Conditions) != 1 || p.Condition("Ready") == nil {
		t.Errorf("status %+v", obj.Status)
	}
	if !p.RemoveCondition("Ready") || len(obj.Status.Conditions) != 0 {
		t.Error("the condition stays")
	}
}

// noClient is a client that nobody calls.
type noClient struct{ client.Client }
