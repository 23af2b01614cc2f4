package kubebuilderproject

import (
	"strings"
	"testing"
)

// installPlugin installs the plugin as a user does.
const installPlugin = `export EXTERNAL_PLUGINS_PATH=$GOBIN/plugins
GOBIN=$EXTERNAL_PLUGINS_PATH/statuspatcher/v1 go install github.com/statuspatcher/statuspatcher/cmd/kubebuilder/statuspatcher@latest
`

// TestPlugin makes a project with the plugin, and runs what kubebuilder's Makefile has in it: the project generates, builds, passes its tests,
// the race test included, and is up to date and without handwritten status writes.
func TestPlugin(t *testing.T) {
	p := New(t, checkout, installPlugin+strings.Replace(Guestbook, "init ", "init --plugins go/v4,statuspatcher/v1 ", 1))
	p.contains(t, ".custom-gcl.yml", "statuspatcher/lint/gclplugin")
	p.contains(t, ".golangci.yml", "    - statuspatcher\n")
	p.contains(t, ".github/workflows/status-patchers.yml", "make status-lint")
	p.contains(t, "internal/controller/guestbook_controller.go", "defer status.FlushOnReturn(ctx, &result, &err)")
	p.contains(t, "api/v1/v1status/zz_generated.statuspatcher.go", "NewGuestbookStatusClient")
	p.follow(t, []step{
		{run: "make manifests generate status-verify status-lint"},
		{run: "make test"},
		{run: "go test ./internal/controller -run TestGuestbookReconcilerLosesNoStatus -v | grep exhaustive"},
	})
	p.writeByHand(t)
	p.follow(t, []step{
		{run: "go test ./internal/controller -run TestGuestbookReconcilerLosesNoStatus", fails: "which it never read"},
		{run: "make status-lint", fails: "internal/controller/guestbook_controller.go:"},
	})
}

// writeByHand puts a blind patch, of a status that each replica decides for itself, in the place of the patcher.
func (p *Project) writeByHand(t *testing.T) {
	t.Helper()
	p.replace(t, "internal/controller/guestbook_controller.go",
		"defer status.FlushOnReturn(ctx, &result, &err)", "base := guestbook.DeepCopy()",
		"statuses *v1status", "host string\n\tstatuses *v1status",
		"return ctrl.Result{}, nil", "return ctrl.Result{}, r.Status().Patch(ctx, guestbook, client.MergeFrom(base))",
		"\tstatus.SetCondition(metav1.Condition{", "\tif status.Condition(\"Available\") != nil {\n\t\treturn ctrl.Result{}, nil\n\t}\n\tstatus.SetCondition(metav1.Condition{",
		`"reconciling " + guestbook.Name`, `"on " + r.host`)
	p.replace(t, "internal/controller/guestbook_race_test.go",
		"Explore(t, func() patchertest.Model {", "Explore(t, func() patchertest.Model {\n\t\treplica := \"host\"",
		"return &GuestbookReconciler{", "replica += \"-\"\nreturn &GuestbookReconciler{host: replica, ")
}

// replace replaces texts of a file: pairs of a text that is there, and another.
func (p *Project) replace(t *testing.T, name string, pairs ...string) {
	t.Helper()
	source, err := p.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(text, pairs[i]) != 1 {
			t.Fatalf("%s does not have %q once:\n%s", name, pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	if err := p.Write(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestPluginLater adds the plugin to a project that was there before, twice.
func TestPluginLater(t *testing.T) {
	p := New(t, checkout, installPlugin+`kubebuilder init --domain example.org --repo example.org/guestbook
kubebuilder create api --group webapp --version v1 --kind Guestbook --resource --controller --make=false
kubebuilder edit --plugins statuspatcher/v1
go mod tidy && make generate && go build ./...
git init -q . && git add -A && kubebuilder edit --plugins statuspatcher/v1 && git diff --exit-code
`)
	p.contains(t, "api/v1/groupversion_info.go", "// +statuspatcher:generate=true\n")
}

// TestPluginLayouts: several groups, a cluster-scoped kind, two controllers of one kind, and a kind of another project.
func TestPluginLayouts(t *testing.T) {
	p := New(t, checkout, installPlugin+`kubebuilder init --plugins go/v4,statuspatcher/v1 --domain example.org --repo example.org/guestbook
kubebuilder edit --multigroup=true
kubebuilder create api --group webapp --version v1 --kind Guestbook --resource --controller --make=false
kubebuilder create api --group webapp --version v1 --kind Guestbook --resource=false --controller --controller-name guest-cleaner --make=false
kubebuilder create api --group store --version v1alpha1 --kind Shelf --namespaced=false --resource --controller --make=false
kubebuilder create api --group apps --version v1 --kind Deployment --resource=false --controller --make=false
`)
	p.follow(t, []step{
		{run: "make manifests generate status-verify status-lint && go build ./..."},
		{run: "go test ./internal/controller/... -run LosesNoStatus"},
	})
	p.contains(t, "internal/controller/store/shelf_race_test.go", `"../../../config/crd/bases"`)
}
