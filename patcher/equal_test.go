package patcher

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Two times that are equal have the same JSON, and the other way round.
func TestEqualTimeIsEqualJSON(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	times := []metav1.Time{
		{}, {Time: time.Time{}.Add(time.Nanosecond)}, {Time: time.Unix(0, 0)}, {Time: time.Unix(-1, 5)}, {Time: start}, {Time: start.UTC()},
		{Time: start.Add(time.Nanosecond)}, {Time: start.Add(time.Second - 1)}, {Time: start.Add(time.Second)},
		{Time: start.In(time.FixedZone("east", 7200))},
	}
	equal := 0
	for _, a := range times {
		for _, b := range times {
			textA, errA := json.Marshal(a)
			textB, errB := json.Marshal(b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			same := string(textA) == string(textB)
			if got := EqualTime(&a, &b); got != same {
				t.Errorf("%v and %v: %v, and their JSON is %s and %s", a, b, got, textA, textB)
			}
			one, other := metav1.Condition{Type: "Ready", LastTransitionTime: a}, metav1.Condition{Type: "Ready", LastTransitionTime: b}
			if EqualCondition(&one, &other) != same {
				t.Errorf("conditions with %v and %v: %v", a, b, !same)
			}
			if other.Reason = "another"; EqualCondition(&one, &other) {
				t.Error("control: conditions with different reasons are equal")
			}
			if same && a != b {
				equal++
			}
		}
	}
	if equal == 0 {
		t.Error("control: == says the same")
	}
}
