package v1status

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/generator/internal/outputs/fields/v1"
	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, CellKind, func(c client.Client) behaviour.Fetch[*v1.Cell, *CellStatusPatcher] {
		return NewCellStatusClient(c, c).Fetch
	})
}

// TestS07_EqualMeansEqualJSON has pairs that a careless comparison takes for equal.
func TestS07_EqualMeansEqualJSON(t *testing.T) {
	negative := math.Copysign(0, -1)
	quantity := func(text string) v1.CellStatus {
		return v1.CellStatus{Foreign: v1.Foreign{Limit: resource.MustParse(text)}}
	}
	for _, tt := range []struct {
		name string
		a, b v1.CellStatus
	}{
		{"zero and negative zero", v1.CellStatus{}, v1.CellStatus{Numbers: v1.Numbers{Load: negative}}},
		{"negative zero in a list", v1.CellStatus{Numbers: v1.Numbers{Loads: []float64{0}}}, v1.CellStatus{Numbers: v1.Numbers{Loads: []float64{negative}}}},
		{"nil and empty list", v1.CellStatus{}, v1.CellStatus{NoTag: []string{}}},
		{"nil and empty map", v1.CellStatus{}, v1.CellStatus{Nested: v1.Nested{Index: v1.Index{}}}},
		{"nil and empty list in a map", v1.CellStatus{Nested: v1.Nested{Maps: map[string][]string{"a": nil}}}, v1.CellStatus{Nested: v1.Nested{Maps: map[string][]string{"a": {}}}}},
		{"another key of the same length", v1.CellStatus{Nested: v1.Nested{Maps: map[string][]string{"a": nil}}}, v1.CellStatus{Nested: v1.Nested{Maps: map[string][]string{"b": nil}}}},
		{"nil and pointer to zero", v1.CellStatus{}, v1.CellStatus{Tree: &v1.Node{}}},
		{"the same quantity, written differently", quantity("1000m"), quantity("1")},
		{"deep in a tree", v1.CellStatus{Tree: &v1.Node{Next: &v1.Node{Name: "a"}}}, v1.CellStatus{Tree: &v1.Node{Next: &v1.Node{Name: "b"}}}},
		{"deep in a forest", v1.CellStatus{Forest: v1.Forest{"a": {"b": nil}}}, v1.CellStatus{Forest: v1.Forest{"a": {"b": {}}}}},
		{"half a second", v1.CellStatus{}, v1.CellStatus{Times: v1.Times{Micro: metav1.NewMicroTime(time.Unix(0, 5e8))}}},
		{"a field that JSON does not have", v1.CellStatus{}, v1.CellStatus{Internal: "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if CellKind.Equal(&tt.a, &tt.b) {
				t.Error("equal")
			}
			for _, status := range []v1.CellStatus{tt.a, tt.b} {
				if !CellKind.Equal(&status, status.DeepCopy()) {
					t.Error("not equal to a copy of itself")
				}
			}
		})
	}
}

// TestTrimKeepsRequired: what is left out of the diff must have no JSON when it is zero.
func TestTrimKeepsRequired(t *testing.T) {
	full := v1.CellStatus{
		Strict:             v1.Strict{Phase: "a"},
		Omitted:            v1.Omitted{Names: []string{"a"}},
		Zero:               v1.Omitted{Names: []string{"a"}},
		Tree:               &v1.Node{Name: "a"},
		Internal:           "a",
		NoTag:              []string{"a"},
		Dash:               []string{"a"},
		ObservedGeneration: 1,
	}
	base, status := *full.DeepCopy(), *full.DeepCopy()
	status.ObservedGeneration = 2
	CellKind.Trim(&base, &status)
	if status.Tree != nil || base.Tree != nil || status.Zero.Names != nil {
		t.Error("optional fields that are equal are left")
	}
	if status.ObservedGeneration != 2 || base.ObservedGeneration != 1 {
		t.Error("a field that differs is cleared")
	}
	if status.Phase != "a" || status.Omitted.Names == nil || status.Internal != "a" || status.NoTag == nil || status.Dash == nil {
		t.Errorf("a field whose zero value has JSON is cleared: %+v", status)
	}
}
