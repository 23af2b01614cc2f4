package kubebuilderproject

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/statuspatcher/statuspatcher/docs/markdown"
)

const guide = "../../docs/getting-started.md"

// TestGettingStarted does what the guide says on a fresh project, and then breaks what each of its checks is there for.
func TestGettingStarted(t *testing.T) {
	p := newProject(t)
	for _, block := range markdown.Blocks(read(t, guide)) {
		p.follow(block)
	}
	for _, row := range []struct{ name, file, old, new, command, want string }{
		{
			"a status field that the patcher does not know", "api/v1/guestbook_types.go",
			"	Conditions []metav1.Condition", "	// +optional\n	Visits int64 `json:\"visits,omitempty\"`\n	// +optional\n	Conditions []metav1.Condition",
			"make verify-generated", "Visits",
		},
		{"a status written by hand", "internal/controller/guestbook_controller.go", fetch, byHand, "make lint-status", "blind-merge"},
		{"a race", "internal/controller/guestbook_controller.go", fetch, byHand, "go test ./internal/controller/", "NoLostStatusWrite"},
	} {
		t.Run(row.name, func(t *testing.T) { p.broken(t, row.file, row.old, row.new, row.command, row.want) })
	}
}

// The reconciler's fetch, and what a newcomer writes in its place.
const (
	fetch = `	_, status, err := r.statuses.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer status.FlushOnReturn(ctx, &result, &err)
`
	byHand = `	guestbook := &webappv1.Guestbook{}
	if err := r.Get(ctx, req.NamespacedName, guestbook); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	base := guestbook.DeepCopy()
	status, err := r.statuses.For(guestbook)
	if err != nil {
		return ctrl.Result{}, err
	}
	defer func() { err = r.Status().Patch(ctx, guestbook, client.MergeFrom(base)) }()
`
)

// project is a copy of project.txtar in a temporary directory.
type project struct {
	*testing.T
	dir, proxy string
}

func newProject(t *testing.T) *project {
	p := &project{T: t, dir: t.TempDir(), proxy: newProxy(t)}
	archive, err := txtar.ParseFile("project.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		p.write(file.Name, file.Data)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p.write("go.mod", fmt.Appendf(read(t, filepath.Join(p.dir, "go.mod")), "\nreplace %s => %s\n", module, checkout))
	if out, err := p.run("go mod tidy"); err != nil { // as kubebuilder does
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// follow writes the file of a block, or runs its commands.
func (p *project) follow(block markdown.Block) {
	p.Helper()
	switch file, appended := block.Options["file"], block.Options["append"]; {
	case file != "":
		p.write(file, []byte(block.Text))
	case appended != "":
		p.write(appended, append(read(p.T, filepath.Join(p.dir, appended)), block.Text...))
	case block.Language == "sh":
		begin := time.Now()
		out, err := p.run(block.Text)
		if err != nil {
			p.Fatalf("%s:%d: %v\n%s\n%s", guide, block.Line, err, block.Text, out)
		}
		p.Logf("%s:%d: %s", guide, block.Line, time.Since(begin).Round(time.Millisecond))
	}
}

// broken replaces old by new in a file, requires that the command fails and says want, and puts the file back.
func (p *project) broken(t *testing.T, file, old, new, command, want string) {
	path := filepath.Join(p.dir, file)
	good := read(t, path)
	bad := strings.Replace(string(good), old, new, 1)
	if bad == string(good) {
		t.Fatalf("%s has no\n%s", file, old)
	}
	p.write(file, []byte(bad))
	defer p.write(file, good)
	out, err := p.run(command)
	if err == nil || !strings.Contains(out, want) {
		t.Errorf("expected %q to fail and to say %q, found %v\n%s", command, want, err, out)
	}
}

func (p *project) run(script string) (string, error) {
	cmd := exec.CommandContext(p.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOPROXY="+p.proxy, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *project) write(name string, data []byte) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		p.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
