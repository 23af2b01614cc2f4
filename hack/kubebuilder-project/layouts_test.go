package kubebuilderproject

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/typecheck"
)

const checkout = "../.."

const gen = "go run github.com/statuspatcher/statuspatcher/cmd/statuspatcher-gen@latest "

// A step is a command, which must fail with a text if there is one. Afterwards the project is type-checked, if asked for: what is
// vendored would be compiled for this project alone.
type step struct {
	run, fails string
	typecheck  bool
}

// follow takes steps one after the other.
func (p *Project) follow(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		out, err := p.Run(".", s.run)
		switch {
		case s.fails == "" && err != nil:
			t.Fatalf("%s: %v\n%s", s.run, err, out)
		case s.fails != "" && (err == nil || !strings.Contains(out, s.fails)):
			t.Fatalf("%s: %v, want a failure that says %q\n%s", s.run, err, s.fails, out)
		case s.typecheck:
			if err := typecheck.Module(p.Dir, p.Env, "./..."); err != nil {
				t.Fatalf("after %s: %v", s.run, err)
			}
		}
	}
}

// mark marks an API package.
func (p *Project) mark(t *testing.T, dir string) {
	t.Helper()
	source := "// +statuspatcher:generate=true\npackage " + filepath.Base(dir) + "\n"
	if err := p.Write(filepath.Join(dir, "doc.go"), []byte(source)); err != nil {
		t.Fatal(err)
	}
}

func (p *Project) contains(t *testing.T, name, want string) {
	t.Helper()
	content, err := p.Read(name)
	if err != nil || !strings.Contains(string(content), want) {
		t.Errorf("%s has no %q (%v)", name, want, err)
	}
}

// TestMultigroup: two groups, one of a cluster-scoped kind in the version and the place that operator-sdk chooses.
func TestMultigroup(t *testing.T) {
	p := New(t, checkout, `kubebuilder init --domain example.org --repo example.org/guestbook
kubebuilder edit --multigroup=true
kubebuilder create api --group webapp --version v1 --kind Guestbook --resource --controller --make=false
kubebuilder create api --group store --version v1alpha1 --kind Shelf --namespaced=false --resource --controller --make=false
`)
	p.follow(t, []step{{run: gen + "paths=./api/...", fails: "this kind has a status subresource, but no kind in paths=./api/... is marked: add // +statuspatcher:generate=true on the next line"}})
	p.mark(t, "api/webapp/v1")
	p.mark(t, "api/store/v1alpha1")
	p.follow(t, []step{
		{run: gen + "paths=./..."}, // before DeepCopy is generated
		{run: "go get github.com/statuspatcher/statuspatcher/patcher && make generate && go mod tidy && go build ./..."},
		{run: gen + "paths=./api/... verify rbac=strict"},
		{run: gen + "paths=./api/... verify"},
	})
	p.contains(t, "api/webapp/v1/v1status/zz_generated.statuspatcher.go", "NewGuestbookStatusClient")
	p.contains(t, "api/store/v1alpha1/v1alpha1status/zz_generated.statuspatcher.go", "The kind is cluster-scoped")
}

// TestLayouts goes through the layouts that one project may have, one after the other: a single group, a vendored one, an API
// that is a module of its own, and a workspace of both.
func TestLayouts(t *testing.T) {
	p := New(t, checkout, strings.Replace(Guestbook, "--controller\n", "--controller --make=false\n", 1))
	p.mark(t, "api/v1")
	p.follow(t, []step{
		{run: gen + "paths=./... headerFile=hack/boilerplate.go.txt year=2026"},
		{run: "go get github.com/statuspatcher/statuspatcher/patcher && make generate && go mod tidy && go build ./..."},
		{run: gen + "paths=./... headerFile=hack/boilerplate.go.txt year=2026 verify"},
		{run: "go mod vendor", typecheck: true},
		{run: gen + "paths=./... headerFile=hack/boilerplate.go.txt year=2026 verify"},
		{run: "rm -r vendor api/v1/v1status"},
		// What kubebuilder writes for an API needs no controller-runtime.
		{run: `version=$(go list -m -f '{{.Version}}' k8s.io/apimachinery); cd api
			go mod init example.org/guestbook/api && go mod edit -require=k8s.io/apimachinery@$version && go mod tidy`},
		{run: "go mod edit -require=example.org/guestbook/api@v0.0.0 -replace=example.org/guestbook/api=./api && go mod tidy && go build ./..."},
		{run: gen + "paths=./...", fails: "./api/v1 is in a module of its own, example.org/guestbook/api: run statuspatcher-gen paths=./api/v1 output:dir=internal/v1status"},
		{run: gen + "paths=./api/...", fails: "run statuspatcher-gen paths=./api/v1 output:dir=internal/v1status"},
		{run: gen + "paths=./api/v1 output:dir=internal/v1status"},
		{run: "go get github.com/statuspatcher/statuspatcher/patcher && go mod tidy && go build ./..."},
		{run: gen + "paths=./api/v1 output:dir=internal/v1status verify"},
		{run: "go work init . ./api && GOWORK= go build ./... && GOWORK= " + gen + "paths=./api/v1 output:dir=internal/v1status verify"},
	})
	p.contains(t, "internal/v1status/zz_generated.statuspatcher.go", "NewGuestbookStatusClient")
}
