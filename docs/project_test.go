package docs

import (
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

// testChecks breaks what each check that the guide adds to a project is there for.
func (s *shell) testChecks(t *testing.T) {
	action, err := actionScript("base=HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.inProject(committed); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, file, old, new, command, want string }{
		{
			"a status field that the patcher does not know", "api/v1/guestbook_types.go",
			"	Conditions []metav1.Condition", "	// +optional\n	Visits int64 `json:\"visits,omitempty\"`\n	// +optional\n	Conditions []metav1.Condition",
			"make status-verify", "Visits",
		},
		{"a status written by hand", "internal/controller/guestbook_controller.go", fetch, byHand, "make status-lint", "blind-merge"},
		{"a race", "internal/controller/guestbook_controller.go", fetch, byHand, "go test ./internal/controller/ -run TestTwoReplicasLoseNoStatus", "NoLostStatusWrite"},
		{"a status written by hand since the base of a pull request", "internal/controller/guestbook_controller.go", fetch, byHand, action + "\ncat zz_output", "blind-merge"},
		{"the comment about it", "internal/controller/guestbook_controller.go", fetch, byHand, action + " || { grep ^comment= zz_output; false; }", "comment=/"},
	} {
		t.Run(row.name, func(t *testing.T) { s.broken(t, row.file, row.old, row.new, row.command, row.want) })
	}
	if err := s.inProject(uncommitted); err != nil {
		t.Fatal(err)
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

// broken replaces old by new in a file, requires that the command fails and says want, and puts the file back.
func (s *shell) broken(t *testing.T, file, old, new, command, want string) {
	good, err := s.project.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(good), old, new, 1)
	if bad == string(good) {
		t.Fatalf("%s has no\n%s", file, old)
	}
	if err := s.project.Write(file, []byte(bad)); err != nil {
		t.Fatal(err)
	}
	out, err := s.project.Run(".", command)
	if err == nil || !strings.Contains(out, want) {
		t.Errorf("expected %q to fail and to say %q, found %v\n%s", command, want, err, out)
	}
	if err := s.project.Write(file, good); err != nil {
		t.Fatal(err)
	}
}

// testControls: a document that is wrong fails, at the place where it is.
func (s *shell) testControls(t *testing.T) {
	s.dir = "."
	for _, row := range []struct{ name, text, want string }{
		{"a command that fails", "```sh\nbin/statuspatcher-gen paths=./nowhere/...\n```\n", "x.md:2: exit status 1"},
		{"a command that fails before one that does not", "```sh\nfalse\ntrue\n```\n", "x.md:2: exit status 1"},
		{"a command that is not there", "```sh\nnonsense now\n```\n", "x.md:2: exit status 127"},
		{"a command that should fail", "```sh exit=3\ntrue\n```\n", "x.md:2: exit status 0, want 3"},
		{"a command that fails in the checkout", "```sh in=checkout\ngo doc ./patcher Nonsense\n```\n", "x.md:2: exit status 1"},
		{"an output that has drifted", "```sh\necho 1 lost\n```\n\n```text\n2 lost\n```\n", "x.md:6: the document shows"},
		{"a line in another place", "```sh\nprintf 'a\\nb\\n'\n```\n\n```text\nb\na\n```\n", "x.md:6: the document shows"},
		{"a line that is not there", "```go line=Makefile:99999\n```\n", "x.md:2: there is no line"},
		{"a line that a diff changes and that is not there", "```diff edit=Makefile\n-nonsense\n+sense\n```\n", "x.md:2: Makefile has 0 times"},
		{"a line that a diff changes and that is there twice", "```diff edit=Makefile\n-endef\n+enddef\n```\n", "x.md:2: Makefile has 2 times"},
		{"a target that is not there", "```sh in=.ci/run\nmake nonsense\n```\n", "make nonsense is not among"},
		{"a target that the runner does not run", "```sh in=.ci/run\nmake demo\n```\n", ".ci/run does not run make demo"},
		{"a command that nobody declared", "```sh in=.ci/run\nset -euo pipefail\n```\n", "set -euo pipefail is not among"},
		{"a runner that is not there", "```sh in=.ci/nonsense\nmake test\n```\n", "no such file"},
		{"a workflow with an action that CI has not", "```yaml as=workflow\n  x:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v1\n```\n", "actions/checkout@v1 with map[] is not what CI uses"},
		{"a workflow with a misspelt key", "```yaml as=workflow\n  x:\n    runs-on: ubuntu-latest\n    step:\n      - run: make help\n```\n", "step"},
		{"an action with an input that it does not have", "```yaml as=action\n  x:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: statuspatcher/statuspatcher/action@main\n        with:\n          bann: \"true\"\n```\n", "no input bann"},
		{"a hook that is not there", "```yaml as=pre-commit\nrepos:\n  - repo: x\n    rev: main\n    hooks:\n      - id: nonsense\n```\n", "no hook nonsense"},
		{"a job of GitLab that fails", "```yaml as=gitlab\nx:\n  script:\n    - make nonsense\n```\n", "make nonsense"},
		{"a task without steps", "```yaml as=tekton\nkind: Task\n```\n", "no steps"},
		{"a workflow that runs what fails", "```yaml as=workflow\n  x:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make nonsense\n```\n", "make nonsense"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := s.follow(document{path: "x.md", text: []byte(row.text)}); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("found %v, want %q", err, row.want)
			}
		})
	}
	good := "```sh\nprintf '  a   1\\n'\n```\n\n```text\na 1\n```\n"
	if err := s.follow(document{path: "x.md", text: []byte(good)}); err != nil || len(markdown.Blocks([]byte(good))) != 2 {
		t.Errorf("a document that is right: %v", err)
	}
}
