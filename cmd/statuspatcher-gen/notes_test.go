package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const noteHeader = "note: the patchers need permissions that no RBAC marker of this module grants; add these markers beside the others:\n"

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

// TestRightsOfControllers: the controllers and their RBAC markers are in another module than the API.
func TestRightsOfControllers(t *testing.T) {
	t.Parallel()
	m := apiModule(t)
	m.replace("controller/cell.go", "// Reconcile runs", "// +kubebuilder:rbac:groups=app.example.com,resources=cells;cells/status,verbs=get\n\n// Reconcile runs")
	args := []string{"paths=./api/v1", "output:dir=internal/v1status"}
	const patch = "  // +kubebuilder:rbac:groups=app.example.com,resources=cells/status,verbs=patch\n"
	if exit, _, stderr := m.generate(args...); exit != exitDone || stderr != noteHeader+patch {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
	if exit, _, stderr := m.generate(append(args, "verify", "rbac=strict")...); exit != exitWrong || !strings.Contains(stderr, patch) {
		t.Errorf("verify: exit %d\n%s", exit, stderr)
	}
	inside := &testModule{TB: t, dir: filepath.Join(m.dir, "api")}
	if exit, _, stderr := inside.generate("paths=./v1", "output:dir=../internal/v1status", "verify", "rbac=strict"); exit != exitWrong || !strings.Contains(stderr, patch) {
		t.Errorf("started in the API's module: exit %d\n%s", exit, stderr)
	}
}

// TestRightsOfUnusedKinds: a package that is marked has patchers that nobody uses. The controllers need no rights for those, unless
// they write the status without the patcher today.
func TestRightsOfUnusedKinds(t *testing.T) {
	for _, tt := range []struct{ name, resources, want string }{
		{"created and read", "disks", ""},
		{"with finalizers", "disks;disks/finalizers", ""},
		{"its status is written", "disks;disks/status", "resources=disks/status,verbs=patch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			m.write("api/v2/types.go", strings.ReplaceAll(m.read("api/v2/types.go"), "Cell", "Disk"))
			m.replace("controller/cell.go", "// Reconcile runs", "// +kubebuilder:rbac:groups=app.example.com,resources=cells;cells/status,verbs=get;patch\n// +kubebuilder:rbac:groups=app.example.com,resources="+tt.resources+",verbs=get;create;update\n\n// Reconcile runs")
			m.generate("paths=./...")
			exit, _, stderr := m.generate("paths=./...", "verify", "rbac=strict")
			if (exit == exitDone) != (tt.want == "") || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit %d\n%s", exit, stderr)
			}
		})
	}
}
