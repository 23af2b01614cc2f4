package migrate

import (
	"strings"
	"testing"
)

const framed = `package p

import "fmt"

func first() { fmt.Println("first") }

// second has a comment.
func second() { fmt.Println("second") }

var third = 3
`

func TestFrame(t *testing.T) {
	at := func(text string) edit {
		i := strings.Index(framed, text)
		return edit{i, i + len(text), ""}
	}
	for _, row := range []struct {
		name, after string
		edits       []edit
		err         string
	}{
		{"nothing changes", framed, nil, ""},
		{"what is edited may change", strings.Replace(framed, `"first"`, `"1st"`, 1), []edit{at(`"first"`)}, ""},
		{"imports may change", strings.Replace(framed, `import "fmt"`, "import (\n\t\"fmt\"\n\t\"os\"\n)", 1), nil, ""},
		{"negative control: another declaration changes", strings.Replace(framed, `"second"`, `"2nd"`, 1), []edit{at(`"first"`)}, "p.go:8: the rewrite changes a declaration"},
		{"negative control: a declaration goes", strings.Replace(framed, "var third = 3\n", "", 1), []edit{at("var third = 3")}, "the number of declarations from 3 to 2"},
		{"negative control: a comment changes", strings.Replace(framed, "has a comment", "had a comment", 1), []edit{at(`"first"`)}, "the rewrite changes a declaration"},
		{"negative control: not Go", framed + "}", nil, "expected"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := frame("p.go", []byte(framed), []byte(row.after), row.edits)
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("%v, expected %q", err, row.err)
			}
		})
	}
}

func TestRBACMarkers(t *testing.T) {
	for line, want := range map[string]string{
		"// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get;update":             "// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get;update;patch",
		"//+kubebuilder:rbac:groups=g,resources=cells;cells/status,verbs={get,update}":      "//+kubebuilder:rbac:groups=g,resources=cells;cells/status,verbs={get,update}", // a list with commas is left
		"// +kubebuilder:rbac:groups=g,resources=\"cells/status\",verbs=\"get\";\"update\"": "// +kubebuilder:rbac:groups=g,resources=\"cells/status\",verbs=\"get\";\"update\";patch",
		"// +kubebuilder:rbac:verbs=get;update,groups=g,resources=cells/status":             "// +kubebuilder:rbac:verbs=get;update;patch,groups=g,resources=cells/status",
		"// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get;update;patch":       "// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get;update;patch",
		"// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=*":                      "// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=*",
		"// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get":                    "// +kubebuilder:rbac:groups=g,resources=cells/status,verbs=get", // does not write
		"// +kubebuilder:rbac:groups=g,resources=others/status,verbs=get;update":            "// +kubebuilder:rbac:groups=g,resources=others/status,verbs=get;update",
	} {
		got, found := rbacText([]byte(line+"\n"), resourcesOf([]string{"Cell"}))
		if string(got) != want+"\n" || !found {
			t.Errorf("%s\nbecomes\n%s, expected\n%s", line, got, want)
		}
	}
}

func TestWrapped(t *testing.T) {
	const head = "package main\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\n"
	one := []*api{{patchers: "example.com/api/v1/v1status"}}
	two := append([]*api{{patchers: "example.com/api/v2/v2status"}}, one...)
	for _, row := range []struct {
		name, body string
		apis       []*api
		want       string
	}{
		{"a literal", "var m, _ = ctrl.NewManager(c, ctrl.Options{\n\tScheme: s,\n})\n", one, "\tScheme:    s,\n\tNewClient: v1status.NewClient,\n"},
		{"on one line", "var m, _ = ctrl.NewManager(c, ctrl.Options{Scheme: s})\n", one, "ctrl.Options{Scheme: s, NewClient: v1status.NewClient}"},
		{"an empty one", "var m, _ = ctrl.NewManager(c, ctrl.Options{})\n", one, "ctrl.Options{NewClient: v1status.NewClient}"},
		{"a variable", "func f() {\n\toptions := ctrl.Options{Scheme: s}\n\tctrl.NewManager(c, options)\n}\n", one, "options := ctrl.Options{Scheme: s, NewClient: v1status.NewClient}"},
		{"two packages", "var m, _ = ctrl.NewManager(c, ctrl.Options{Scheme: s})\n", two, "NewClient: patcher.NewClientFunc(patcher.Lock, slices.Concat(v2status.Kinds(), v1status.Kinds()))"},
		{"negative control: there is one", "var m, _ = ctrl.NewManager(c, ctrl.Options{NewClient: n})\n", one, "ctrl.Options{NewClient: n}"},
		{"negative control: another function", "var m, _ = other.NewManager(c, ctrl.Options{})\n", one, "ctrl.Options{}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := wrapped("main.go", []byte(head+row.body), row.apis)
			if err != nil || !strings.Contains(string(got), row.want) {
				t.Errorf("%v\n%s\nexpected %s", err, got, row.want)
			}
			if again, err := wrapped("main.go", got, row.apis); err != nil || string(again) != string(got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
		})
	}
}
