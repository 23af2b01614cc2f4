package scaffold

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// A project is the files of a kubebuilder project.
type project struct {
	files map[string]string
	// changed are the files that differ from those that kubebuilder sent.
	changed map[string]string
	// version is that of the modules of statuspatcher.
	version string
	notes   io.Writer
}

func newProject(files map[string]string, version string, notes io.Writer) *project {
	p := &project{files: map[string]string{}, changed: map[string]string{}, version: version, notes: notes}
	for name, text := range files {
		p.files[path.Clean(strings.ReplaceAll(name, `\`, "/"))] = text
	}
	return p
}

func (p *project) write(name, text string) {
	if p.files[name] != text {
		p.files[name], p.changed[name] = text, text
	}
}

// edit changes a file if it is there.
func (p *project) edit(name string, change func(string) (string, error)) error {
	text, ok := p.files[name]
	if !ok {
		return nil
	}
	changed, err := change(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.write(name, changed)
	return nil
}

// tryEdit is edit for a file that works without the change. What is wrong becomes a note.
func (p *project) tryEdit(name string, change func(string) (string, error)) {
	if err := p.edit(name, change); err != nil {
		fmt.Fprintf(p.notes, "statuspatcher: not changed: %v\n", err)
	}
}

// names returns the names of the files that match a pattern of path.Match, sorted.
func (p *project) names(pattern string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if ok, _ := path.Match(pattern, name); ok {
			names = append(names, name)
		}
	}
	return names
}

// run does what a request says.
func (p *project) run(r Request, help *Metadata) error {
	if r.APIVersion != protocol {
		return fmt.Errorf("kubebuilder speaks version %q of the protocol of external plugins, expected %s: install the plugin of another release", r.APIVersion, protocol)
	}
	switch r.Command {
	case "flags":
		return nil
	case "metadata":
		*help = helpOf(r.Args)
		return nil
	case "init":
		p.linter()
		return nil
	case "create api":
		return p.createAPI(r)
	case "edit":
		return p.adopt()
	case "create webhook":
		return nil
	}
	return fmt.Errorf("unknown command %q: this plugin knows init, create api, create webhook and edit", r.Command)
}

func helpOf(args []string) Metadata {
	switch {
	case slices.Contains(args, "--init"):
		return Metadata{
			Description: "Add the lint rule for status writes to the configuration of golangci-lint. create api adds the rest.\n",
			Examples:    "  kubebuilder init --plugins go/v4,statuspatcher/v1 --domain example.org --repo example.org/guestbook\n",
		}
	case slices.Contains(args, "--api"):
		return Metadata{
			Description: "Mark the API package for statuspatcher-gen, let the reconciler use the StatusClient of its kind, and add a race test.\n",
			Examples:    "  kubebuilder create api --group webapp --version v1 --kind Guestbook --resource --controller\n",
		}
	case slices.Contains(args, "--edit"):
		return Metadata{
			Description: "Mark all API packages for statuspatcher-gen, and add the Makefile targets, the lint rule and a workflow.\n",
			Examples:    "  kubebuilder edit --plugins statuspatcher/v1\n",
		}
	}
	return Metadata{}
}
