package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// summarise shows a status as path=value, shortest sense first: conditions by type, nested fields by dotted path.
func summarise(status map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(status)) {
		parts = append(parts, summariseField(name, status[name])...)
	}
	return strings.Join(parts, ", ")
}

func summariseField(name string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		var out []string
		for _, child := range slices.Sorted(maps.Keys(v)) {
			out = append(out, summariseField(name+"."+child, v[child])...)
		}
		return out
	case []any:
		if conditions, ok := conditionsOf(v); ok {
			return conditions
		}
		return []string{fmt.Sprintf("%s=[%d]", name, len(v))}
	}
	return []string{fmt.Sprintf("%s=%v", name, value)}
}

func conditionsOf(list []any) ([]string, bool) {
	var out []string
	for _, item := range list {
		condition, ok := item.(map[string]any)
		if !ok || condition["type"] == nil || condition["status"] == nil {
			return nil, false
		}
		text := fmt.Sprintf("%v=%v", condition["type"], condition["status"])
		if generation, ok := condition["observedGeneration"]; ok {
			text += fmt.Sprintf("@%v", generation)
		}
		out = append(out, text)
	}
	return out, true
}
