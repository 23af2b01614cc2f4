package scaffold

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/format"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// A kind is what create api has scaffolded.
type kind struct {
	Name string
	// API is the directory of the API package, and Controller the file of the reconciler.
	API, Controller string
	// Package is the import path of the API package, and Alias its name in the reconciler.
	Package, Alias string
	// Patchers is the name of the package of the patchers.
	Patchers string
	// Conditions: the status has conditions.
	Conditions bool
	// Namespace is that of the objects in tests, empty for cluster-scoped kinds.
	Namespace string
	// CRDs is the directory of the CRDs, seen from the reconciler.
	CRDs string
	// PackageName is the name of the reconciler's package, and Reconciler that of its type.
	PackageName, Reconciler string
}

//go:embed templates/race_test.go.tmpl
var raceTest string

//go:embed templates/placeholder.go.tmpl
var placeholder string

// createAPI makes the kind that kubebuilder has just scaffolded use its patcher.
func (p *project) createAPI(r Request) error {
	k, err := p.kindOf(r)
	if err != nil || k == nil {
		return err
	}
	if err := p.mark(k.API + "/groupversion_info.go"); err != nil {
		return err
	}
	if err := p.build(); err != nil {
		return err
	}
	if k.Controller == "" {
		return nil
	}
	return p.useStatusClient(k)
}

// kindOf returns the kind that a request is about, or nil if its type is not in the project.
func (p *project) kindOf(r Request) (*kind, error) {
	name, group, version := argument(r.Args, "kind"), argument(r.Args, "group"), argument(r.Args, "version")
	if name == "" || version == "" {
		return nil, errors.New("create api needs --version and --kind")
	}
	k := &kind{Name: name, API: path.Join("api", version)}
	controllers := "internal/controller"
	if multigroup, _ := r.Config["multigroup"].(bool); multigroup {
		k.API, controllers = path.Join("api", group, version), path.Join(controllers, group)
	}
	types, ok := p.files[path.Join(k.API, strings.ToLower(name)+"_types.go")]
	if !ok || !strings.Contains(types, "// +kubebuilder:subresource:status\n") {
		return nil, nil
	}
	k.Patchers = path.Base(k.API) + "status"
	k.Conditions = strings.Contains(types, "Conditions []metav1.Condition")
	if !strings.Contains(types, "scope=Cluster") {
		k.Namespace = "default"
	}
	k.Controller = path.Join(controllers, controllerName(r.Args)+"_controller.go")
	source, ok := p.files[k.Controller]
	if !ok {
		k.Controller = ""
		return k, nil
	}
	return k, k.read(source, modfile.ModulePath([]byte(p.files["go.mod"])))
}

// read finds out how the reconciler imports the API.
func (k *kind) read(source, module string) error {
	k.Package = path.Join(module, k.API)
	imported := regexp.MustCompile(`(?m)^\t(\w+) "` + regexp.QuoteMeta(k.Package) + `"$`).FindStringSubmatch(source)
	declared := regexp.MustCompile(`(?m)^package (\w+)$`).FindStringSubmatch(source)
	reconciler := regexp.MustCompile(`(?m)^type (\w+Reconciler) struct {$`).FindStringSubmatch(source)
	if imported == nil || declared == nil || reconciler == nil {
		return fmt.Errorf("%s: expected an import of %q with a name, and the type of a reconciler, as kubebuilder writes them", k.Controller, k.Package)
	}
	k.Alias, k.PackageName, k.Reconciler = imported[1], declared[1], reconciler[1]
	crds, err := filepath.Rel(path.Dir(k.Controller), "config/crd/bases")
	k.CRDs = filepath.ToSlash(crds)
	return err
}

// controllerName returns the name that the file of the reconciler begins with.
func controllerName(args []string) string {
	if name := argument(args, "controller-name"); name != "" {
		return strings.ReplaceAll(name, "-", "_")
	}
	return strings.ToLower(argument(args, "kind"))
}

func argument(args []string, name string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
		if arg == "--"+name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

const marker = "// +statuspatcher:generate=true\n"

// mark marks an API package, and puts a file into the package of its patchers, without which go mod tidy fails before make generate has
// run.
func (p *project) mark(name string) error {
	dir := path.Dir(name)
	err := p.edit(name, func(text string) (string, error) {
		if strings.Contains(text, marker) {
			return text, nil
		}
		before := "// +kubebuilder:object:generate=true\n"
		if strings.Count(text, before) != 1 {
			return "", fmt.Errorf("expected the line %q once: add %q to the comment of the package", strings.TrimSpace(before), strings.TrimSpace(marker))
		}
		return strings.Replace(text, before, before+marker, 1), nil
	})
	if err != nil {
		return err
	}
	patchers := path.Base(dir) + "status"
	generated := path.Join(dir, patchers, "zz_generated.statuspatcher.go")
	if _, ok := p.files[generated]; ok {
		return nil
	}
	text, err := render(placeholder, patchers)
	p.write(generated, text)
	return err
}

// race writes the race test. The test kit needs Go 1.25, and must not raise the go line of an operator.
func (p *project) race(k *kind) error {
	name := strings.TrimSuffix(k.Controller, "_controller.go") + "_race_test.go"
	if _, ok := p.files[name]; ok || !k.Conditions {
		return nil
	}
	module, err := modfile.ParseLax("go.mod", []byte(p.files["go.mod"]), nil)
	if err != nil {
		return fmt.Errorf("go.mod: %w", err)
	}
	if module.Go == nil || semver.Compare("v"+module.Go.Version, "v1.25") < 0 {
		fmt.Fprintf(p.notes, "statuspatcher: no %s: the test kit needs Go 1.25, and go.mod says less\n", name)
		return nil
	}
	if err := p.edit("go.mod", func(text string) (string, error) { return p.require(text, Module+"/patchertest") }); err != nil {
		return err
	}
	text, err := render(raceTest, k)
	p.write(name, text)
	return err
}

func render(text string, data any) (string, error) {
	var out bytes.Buffer
	if err := template.Must(template.New("").Parse(text)).Execute(&out, data); err != nil {
		return "", err
	}
	formatted, err := format.Source(out.Bytes())
	return string(formatted), err
}
