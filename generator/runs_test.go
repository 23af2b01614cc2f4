package generator

import (
	"os"
	"slices"
	"testing"
)

// TestKindsIn reads the kinds back from what is generated today: what recognizes stale files and other runs' files depends on it.
func TestKindsIn(t *testing.T) {
	const module = "github.com/statuspatcher/statuspatcher/generator/internal/outputs/"
	for name, want := range map[string][]string{
		"foreign":                {"k8s.io/api/apps/v1.Deployment", "k8s.io/api/core/v1.Node", "k8s.io/api/core/v1.Pod"},
		"versions/a/v1/v1status": {module + "versions/a/v1.Site"},
	} {
		content, err := os.ReadFile("internal/outputs/" + name + "/" + OutputName)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range kindsIn(content) {
			got = append(got, k.String())
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: kinds %v, want %v", name, got, want)
		}
	}
}
