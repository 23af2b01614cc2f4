package scaffold

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// scaffolded is what the plugin reads of a project that kubebuilder v4 writes.
func scaffolded() map[string]string {
	return map[string]string{
		"go.mod":                       "module example.org/op\n\ngo 1.26.0\n",
		"Makefile":                     "LOCALBIN ?= bin\n\ngenerate: controller-gen\n\ttrue\n\ndefine go-install-tool\nendef\n\ndefine gomodver\nendef\n",
		".github/workflows/test.yml":   "name: Tests\n",
		".custom-gcl.yml":              "version: v2.0.0\nplugins:\n  # logs\n  - module: \"sigs.k8s.io/logtools\"\n    version: latest\n",
		".golangci.yml":                "linters:\n  enable:\n    - errcheck\n    - logcheck\n  settings:\n    custom:\n      logcheck:\n        type: \"module\"\n    lll:\n      a: 1\n",
		"api/v1/groupversion_info.go":  "// Package v1 has the API.\n// +kubebuilder:object:generate=true\n// +groupName=op.example.org\npackage v1\n",
		"api/v1/job_types.go":          "package v1\n\ntype JobStatus struct {\n\tConditions []metav1.Condition `json:\"conditions,omitempty\"`\n}\n\n// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status\ntype Job struct{}\n",
		"internal/controller/other.go": "package controller\n",
		"internal/controller/job_controller.go": `package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opv1 "example.org/op/api/v1"
)

type JobReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *JobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// TODO(user): your logic here

	return ctrl.Result{}, nil
}

func (r *JobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&opv1.Job{}).
		Complete(r)
}
`,
	}
}

// serve sends a request, and returns the response and the notes.
func serve(t *testing.T, r Request, version string) (Response, string) {
	t.Helper()
	if r.APIVersion == "" {
		r.APIVersion = protocol
	}
	in, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	if err := Serve(bytes.NewReader(in), &out, &notes, version); err != nil {
		t.Fatal(err)
	}
	var response Response
	if err := json.Unmarshal(out.Bytes(), &response); err != nil {
		t.Fatal(err)
	}
	return response, notes.String()
}

func createJob(files map[string]string) Request {
	return Request{Command: "create api", Args: []string{"--group", "op", "--version=v1", "--kind", "Job"}, Universe: files}
}

func TestCreateAPI(t *testing.T) {
	response, notes := serve(t, createJob(scaffolded()), "v0.1.0")
	if response.Error || notes != "" {
		t.Fatalf("%v %s", response.ErrorMsgs, notes)
	}
	for name, parts := range map[string][]string{
		"go.mod":                      {"patcher v0.1.0", "patchertest v0.1.0"},
		"Makefile":                    {"generate: controller-gen\n", "generate: status-patchers\n"},
		workflowName:                  {"run: make status-verify"},
		".custom-gcl.yml":             {"    version: latest\n  # statuspatcher", "  - module: \"github.com/statuspatcher/statuspatcher\"\n    import:", "    version: v0.1.0\n"},
		".golangci.yml":               {"    - logcheck\n    - statuspatcher\n  settings:", "        type: \"module\"\n      statuspatcher:\n        type: \"module\"\n", "          ban: true\n    lll:"},
		"api/v1/groupversion_info.go": {"generate=true\n// +statuspatcher:generate=true\n// +groupName"},
		"api/v1/v1status/zz_generated.statuspatcher.go": {"package v1status"},
		"internal/controller/job_controller.go": {
			"\topv1 \"example.org/op/api/v1\"\n\t\"example.org/op/api/v1/v1status\"\n", "statuses *v1status.JobStatusClient\n",
			"job, status, err := r.statuses.Fetch(ctx, req.NamespacedName)", "defer status.FlushOnReturn(ctx, &result, &err)", "\tmetav1 \"k8s.io/",
			"r.statuses = v1status.NewJobStatusClient(mgr.GetClient(), mgr.GetAPIReader())\n\treturn ctrl.NewControllerManagedBy(mgr).",
		},
		"internal/controller/job_race_test.go": {"func TestJobReconcilerLosesNoStatus(", `ReadCRDs("../../config/crd/bases")`, `Namespace: "default"`},
	} {
		for _, part := range parts {
			if !strings.Contains(response.Universe[name], part) {
				t.Errorf("%s has no %q:\n%s", name, part, response.Universe[name])
			}
		}
	}
	for name := range response.Universe {
		if response.Universe[name] == scaffolded()[name] {
			t.Errorf("%s did not change, but is written", name)
		}
	}

	files := scaffolded()
	for name, text := range response.Universe {
		files[name] = text
	}
	again, notes := serve(t, createJob(files), "v0.2.0")
	if again.Error || notes != "" || len(again.Universe) != 0 {
		t.Errorf("a second run changes %v; %v %s", again.Universe, again.ErrorMsgs, notes)
	}
}

func TestWhatIsNotAsKubebuilderWritesIt(t *testing.T) {
	without := func(name, text string) func(map[string]string) {
		return func(files map[string]string) { files[name] = strings.ReplaceAll(files[name], text, "") }
	}
	const controller, race = "internal/controller/job_controller.go", "internal/controller/job_race_test.go"
	for _, row := range []struct {
		name    string
		change  func(map[string]string)
		version string
		failure string
		note    string
		written []string
		kept    []string
	}{
		{"a reconciler of its own", without(controller, "\t// TODO(user): your logic here\n"), "v0.1.0", "", controller + ": expected the code that kubebuilder v4 writes", []string{"Makefile"}, []string{controller, race}},
		{"a status without conditions", without("api/v1/job_types.go", "Conditions []metav1.Condition"), "v0.1.0", "", "", []string{controller}, []string{race}},
		{"no status subresource", without("api/v1/job_types.go", "// +kubebuilder:subresource:status\n"), "v0.1.0", "", "", nil, []string{"Makefile", controller}},
		{"an old go line", func(files map[string]string) { files["go.mod"] = "module example.org/op\n\ngo 1.24.0\n" }, "v0.1.0", "", "the test kit needs Go 1.25", []string{controller}, []string{race}},
		{"no golangci-lint", func(files map[string]string) { delete(files, ".custom-gcl.yml") }, "v0.1.0", "", "", []string{"Makefile"}, []string{".custom-gcl.yml", ".golangci.yml"}},
		{"a linter without settings", without(".golangci.yml", "    custom:\n      logcheck:\n        type: \"module\"\n"), "v0.1.0", "", ".golangci.yml: expected linters.settings.custom, add by hand", []string{"Makefile"}, []string{".golangci.yml"}},
		{"a Makefile of its own", without("Makefile", "define gomodver\n"), "v0.1.0", "Makefile: expected the Makefile of kubebuilder", "", nil, nil},
		{"a broken go.mod", func(files map[string]string) { files["go.mod"] += "require x\n" }, "v0.1.0", "go.mod:", "", nil, nil},
		{"a package without markers", without("api/v1/groupversion_info.go", "// +kubebuilder:object:generate=true\n"), "v0.1.0", "api/v1/groupversion_info.go: expected the line", "", nil, nil},
		{"a plugin without a version", func(map[string]string) {}, "", "was built from a checkout", "", nil, nil},
		{"a plugin without a version, in a project that has one", func(files map[string]string) {
			files["go.mod"] += "require (\n\t" + Module + "/patcher v0.1.0\n\t" + Module + "/patchertest v0.1.0\n)\n"
		}, "", "", "", []string{controller, race}, []string{"go.mod"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := scaffolded()
			row.change(files)
			response, notes := serve(t, createJob(files), row.version)
			if failed := strings.Join(response.ErrorMsgs, ""); response.Error != (row.failure != "") || !strings.Contains(failed, row.failure) {
				t.Fatalf("failed with %q, expected %q", failed, row.failure)
			}
			if response.Error && len(response.Universe) > 0 {
				t.Errorf("failed, and writes %v", response.Universe)
			}
			if !strings.Contains(notes, row.note) || row.note == "" && notes != "" {
				t.Errorf("notes %q, expected %q", notes, row.note)
			}
			for _, name := range row.written {
				if response.Universe[name] == "" {
					t.Errorf("%s is not written", name)
				}
			}
			for _, name := range row.kept {
				if response.Universe[name] != "" {
					t.Errorf("%s is written:\n%s", name, response.Universe[name])
				}
			}
		})
	}
}

func TestCommands(t *testing.T) {
	for _, row := range []struct {
		request Request
		failure string
		written int
	}{
		{Request{Command: "init", Universe: scaffolded()}, "", 2},
		{Request{Command: "edit", Universe: scaffolded()}, "", 7},
		{Request{Command: "create webhook", Universe: scaffolded()}, "", 0},
		{Request{Command: "flags", Args: []string{"--api"}}, "", 0},
		{Request{Command: "metadata", Args: []string{"--edit"}}, "", 0},
		{Request{Command: "create api", Universe: scaffolded()}, "needs --version and --kind", 0},
		{Request{Command: "delete api"}, `unknown command "delete api"`, 0},
		{Request{Command: "init", APIVersion: "v1"}, `version "v1" of the protocol`, 0},
	} {
		response, _ := serve(t, row.request, "v0.1.0")
		if failed := strings.Join(response.ErrorMsgs, ""); !strings.Contains(failed, row.failure) || response.Error != (row.failure != "") || len(response.Universe) != row.written {
			t.Errorf("%s: failed with %q, writes %d files, expected %q and %d", row.request.Command, failed, len(response.Universe), row.failure, row.written)
		}
		if response.APIVersion != protocol || response.Command != row.request.Command {
			t.Errorf("%s: the response is for %s of %s", row.request.Command, response.Command, response.APIVersion)
		}
		if row.request.Command == "metadata" && response.Metadata.Description == "" {
			t.Error("there is no help")
		}
	}
}

func TestNoRequest(t *testing.T) {
	for in, want := range map[string]string{"": "there is no request", "{": "reading the request"} {
		if err := Serve(strings.NewReader(in), &bytes.Buffer{}, &bytes.Buffer{}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", in, err, want)
		}
	}
}

func TestInsertInto(t *testing.T) {
	for _, row := range []struct{ name, text, want, failure string }{
		{"a list", "a:\n- b\nc: d\n", "a:\n- b\n- new\nc: d\n", ""},
		{"a list with a comment at its end", "a:\n  - b # the first\n  # the end\nc: d\n", "a:\n  - b # the first\n  - new\n  # the end\nc: d\n", ""},
		{"a list of maps", "a:\n  - b: 1\n    c: 2", "a:\n  - b: 1\n    c: 2\n  - new\n", ""},
		{"a text of several lines", "a:\n  - |\n    one\n    two\nc: d\n", "a:\n  - |\n    one\n    two\n  - new\nc: d\n", ""},
		{"a list in one line", "a: [b]\n", "", "each on a line of its own"},
		{"an empty list", "a:\n", "", "each on a line of its own"},
		{"none", "c: d\n", "", "expected a"},
		{"not YAML", "a: [", "", "yaml:"},
		{"nothing", "", "", "empty"},
	} {
		got, err := insertInto(row.text, "- new\n", "a")
		if got != row.want || (err == nil) != (row.failure == "") || err != nil && !strings.Contains(err.Error(), row.failure) {
			t.Errorf("%s: %q, %v, expected %q, %q", row.name, got, err, row.want, row.failure)
		}
	}
}
