package docs

import (
	"fmt"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/statuspatcher/statuspatcher/lint"
	"github.com/statuspatcher/statuspatcher/lint/gclplugin"
)

// golangci is a configuration of golangci-lint, as far as ours go.
type golangci struct {
	Version string `json:"version"`
	Linters struct {
		Default  string   `json:"default"`
		Enable   []string `json:"enable"`
		Settings struct {
			Custom map[string]plugin `json:"custom"`
		} `json:"settings"`
	} `json:"linters"`
}

type plugin struct {
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Settings    map[string]any `json:"settings"`
}

// checkGolangci requires that a block configures the plugin as CI does, with settings that the plugin takes.
func checkGolangci(text string) error {
	var shown, own golangci
	if err := yaml.UnmarshalStrict([]byte(text), &shown); err != nil {
		return err
	}
	if err := readYAML(filepath.Join(root, "hack", "golangci-lint", "golangci.yml"), &own); err != nil {
		return err
	}
	ours, theirs := shown.Linters.Settings.Custom[lint.Name], own.Linters.Settings.Custom[lint.Name]
	if shown.Version != own.Version || ours.Type != theirs.Type || !slices.Contains(shown.Linters.Enable, lint.Name) {
		return fmt.Errorf("this does not enable the plugin as CI does: version %q and type %q", own.Version, theirs.Type)
	}
	_, err := gclplugin.New(ours.Settings)
	return err
}
