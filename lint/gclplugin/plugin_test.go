package gclplugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
)

func TestSettings(t *testing.T) {
	for _, row := range []struct {
		name  string
		raw   any
		flags map[string]string
		fails bool
	}{
		{name: "none", raw: nil, flags: map[string]string{"ban": "false", "tests": "false"}},
		{name: "ban", raw: map[string]any{"ban": true}, flags: map[string]string{"ban": "true", "tests": "false"}},
		{name: "tests", raw: map[string]any{"tests": true}, flags: map[string]string{"tests": "true"}},
		{name: "wrappers", raw: map[string]any{"wrappers": []string{"example.com/op.Write"}}, flags: map[string]string{"ban": "false"}},
		{name: "unknown", raw: map[string]any{"bann": true}, fails: true},
		{name: "no wrapper", raw: map[string]any{"wrappers": []string{"Write"}}, fails: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := New(row.raw)
			if (err != nil) != row.fails {
				t.Fatalf("error %v, expected one: %v", err, row.fails)
			}
			if row.fails {
				return
			}
			if p.GetLoadMode() != register.LoadModeTypesInfo {
				t.Errorf("load mode %s: the rule needs types", p.GetLoadMode())
			}
			as, err := p.BuildAnalyzers()
			if err != nil || len(as) != 1 || as[0].Name != "statuspatcher" {
				t.Fatalf("analyzers %v, %v, expected statuspatcher", as, err)
			}
			if err := analysis.Validate(as); err != nil {
				t.Error(err)
			}
			for name, want := range row.flags {
				if got := as[0].Flags.Lookup(name).Value.String(); got != want {
					t.Errorf("%s is %s, expected %s", name, got, want)
				}
			}
		})
	}
}

// The plugin is found under its name.
func TestRegistered(t *testing.T) {
	if _, err := register.GetPlugin("statuspatcher"); err != nil {
		t.Error(err)
	}
}
