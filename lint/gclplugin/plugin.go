// Package gclplugin makes the lint rule a module plugin of golangci-lint, under the name statuspatcher.
//
//	linters:
//	  enable: [statuspatcher]
//	  settings:
//	    custom:
//	      statuspatcher:
//	        type: module
//	        settings:
//	          ban: false     # report every handwritten status write
//	          tests: false   # look at test code, too
//	          wrappers: []   # full names of functions whose calls count as status writes
package gclplugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/statuspatcher/statuspatcher/internal/lint/site"
	"github.com/statuspatcher/statuspatcher/lint"
)

// golangci-lint finds module plugins by this registry of its own; there is no other way in.
func init() { register.Plugin(lint.Name, New) }

// Settings are the plugin's settings in golangci-lint's configuration.
type Settings struct {
	Ban      bool     `json:"ban"`      // report every handwritten status write, right or wrong
	Tests    bool     `json:"tests"`    // look at test files and test support packages, too
	Wrappers []string `json:"wrappers"` // full names of functions whose calls count as status writes: example.com/op/status.Write
}

// New makes the plugin from the settings of golangci-lint's configuration, as it decodes them: Settings, or nil for none. Settings that
// it does not know, and wrappers that are no full names, are an error.
func New(raw any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](raw)
	if err != nil {
		return nil, err
	}
	for _, name := range s.Wrappers {
		if _, err := site.ParseWrapper(name); err != nil {
			return nil, err
		}
	}
	return &plugin{settings: s}, nil
}

type plugin struct{ settings Settings }

// BuildAnalyzers returns the one analyzer.
func (p *plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return []*analysis.Analyzer{lint.New(&lint.Options{Ban: p.settings.Ban, Tests: p.settings.Tests, Wrappers: p.settings.Wrappers})}, nil
}

// GetLoadMode asks for types.
func (p *plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
