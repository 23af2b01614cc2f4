package statusfuzz

import "testing"

func TestNeedlessFindsWhatAMinimalPatchLacks(t *testing.T) {
	base := map[string]any{"phase": "Ready", "ready": false, "plan": map[string]any{"id": "a", "done": false}, "list": []any{"a"}}
	for _, row := range []struct {
		name  string
		patch map[string]any
		found bool
	}{
		{"rule: a change passes", map[string]any{"phase": "Failed", "plan": map[string]any{"id": "b"}}, false},
		{"rule: so does a zero, which may be required", map[string]any{"ready": false, "plan": map[string]any{"done": false}}, false},
		{"rule: and a deletion", map[string]any{"phase": nil}, false},
		{"control: a field that is equal", map[string]any{"phase": "Ready"}, true},
		{"control: one inside an object", map[string]any{"plan": map[string]any{"id": "a"}}, true},
		{"control: a list that is equal", map[string]any{"list": []any{"a"}}, true},
		{"control: the deletion of what is not there", map[string]any{"other": nil}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := needless(base, row.patch); got != row.found {
				t.Errorf("%v, want %v", got, row.found)
			}
		})
	}
}
