package main

import (
	"strings"
	"testing"
)

const noteHeader = "note: the RBAC markers of this module do not let the patchers work; add where the others are:\n"

// TestRightsNote: the run, and verify, print exactly the RBAC markers that are missing.
func TestRightsNote(t *testing.T) {
	const (
		get    = "  // +kubebuilder:rbac:groups=app.example.com,resources=cells,verbs=get\n"
		patch  = "  // +kubebuilder:rbac:groups=app.example.com,resources=cells,verbs=patch\n"
		status = "  // +kubebuilder:rbac:groups=app.example.com,resources=cells/status,verbs=get;patch\n"
	)
	for _, tt := range []struct {
		name, markers, code, want string
	}{
		{"no markers at all", "", "", ""},
		{"markers of another group", "groups=apps,resources=deployments,verbs=get", "", noteHeader + get + status},
		{"all there", "groups=app.example.com,resources=cells;cells/status,verbs=get;patch", "", ""},
		{"all there in two", "groups=app.example.com,resources=cells,verbs=get;list\n// +kubebuilder:rbac:groups=app.example.com,resources=cells/status,verbs=get;patch;update", "", ""},
		{"stars", "groups=*,resources=*,verbs=*", "", ""},
		{"status only for update", "groups=app.example.com,resources=cells,verbs=get\n// +kubebuilder:rbac:groups=app.example.com,resources=cells/status,verbs=get;update", "", noteHeader + strings.Replace(status, "get;", "", 1)},
		{"for some names only", "groups=app.example.com,resources=cells;cells/status,resourceNames=one,verbs=get;patch", "", noteHeader + get + status},
		{"metadata", "groups=app.example.com,resources=cells,verbs=get\n// +kubebuilder:rbac:groups=app.example.com,resources=cells/status,verbs=get;patch",
			"\nfunc finalize(ctx context.Context, p *v1status.CellStatusPatcher) error {\n\t_, err := p.PatchMetadata(ctx, nil)\n\treturn err\n}\n", noteHeader + patch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			if tt.markers != "" {
				m.replace("controller/cell.go", "// Reconcile runs", "// +kubebuilder:rbac:"+tt.markers+"\n\n// Reconcile runs")
			}
			m.write("controller/cell.go", m.read("controller/cell.go")+tt.code)
			for _, args := range [][]string{{"paths=./api/..."}, {"paths=./api/...", "verify"}} {
				if exit, _, stderr := m.generate(args...); exit != exitDone || stderr != tt.want {
					t.Errorf("%v: exit %d, and\n%swant\n%s", args, exit, stderr, tt.want)
				}
			}
		})
	}
}
