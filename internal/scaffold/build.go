package scaffold

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is the path of the tools; the runtime and the test kit are modules below it.
const Module = "github.com/statuspatcher/statuspatcher"

// Targets are the targets that the plugin appends to a Makefile of kubebuilder.
//
//go:embed templates/Makefile
var Targets string

//go:embed templates/workflow.yml
var workflow string

// adopt adds to a project what all its kinds share.
func (p *project) adopt() error {
	for _, pattern := range []string{"api/*/groupversion_info.go", "api/*/*/groupversion_info.go"} {
		for _, name := range p.names(pattern) {
			if err := p.mark(name); err != nil {
				return err
			}
		}
	}
	return p.build()
}

// build adds the tools to the build, to CI and to the linter.
func (p *project) build() error {
	p.linter()
	if p.names(".github/workflows/*") != nil && p.files[workflowName] == "" {
		p.write(workflowName, workflow)
	}
	if err := p.edit("Makefile", addTargets); err != nil {
		return err
	}
	return p.edit("go.mod", func(text string) (string, error) { return p.require(text, Module+"/patcher") })
}

const workflowName = ".github/workflows/status-patchers.yml"

// addTargets leaves the targets alone that kubebuilder wrote.
func addTargets(text string) (string, error) {
	if strings.Contains(text, "\nstatus-patchers:") {
		return text, nil
	}
	for _, needed := range []string{"define go-install-tool\n", "define gomodver\n", "\ngenerate:", "LOCALBIN"} {
		if !strings.Contains(text, needed) {
			return "", fmt.Errorf("expected the Makefile of kubebuilder v4.10 or later, but it has no %q: add the targets by hand, see docs/getting-started.md", strings.TrimSpace(needed))
		}
	}
	return strings.TrimRight(text, "\n") + "\n\n" + Targets, nil
}

// require adds a module to go.mod. go mod tidy, which kubebuilder runs next, adds what that requires.
func (p *project) require(text, module string) (string, error) {
	file, err := modfile.Parse("go.mod", []byte(text), nil)
	if err != nil {
		return "", err
	}
	if requires(file, module) {
		return text, nil
	}
	if p.version == "" {
		return "", fmt.Errorf("this plugin was built from a checkout and does not know which version of %s to require: install it with go install, or run go get %[1]s first", module)
	}
	if err := file.AddRequire(module, p.version); err != nil {
		return "", err
	}
	formatted, err := file.Format()
	return string(formatted), err
}

func requires(file *modfile.File, module string) bool {
	return slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == module })
}
