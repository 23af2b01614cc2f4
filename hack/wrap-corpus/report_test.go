package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	of := func(bare, wrapped results, p project) outcome {
		return outcome{project: p, bare: bare, wrapped: wrapped}
	}
	const name = "pkg Test"
	pass, fail := results{name: "pass"}, results{name: "fail"}
	expected := project{Changed: map[string]string{name: "the test counts requests"}}
	for _, row := range []struct {
		name    string
		outcome outcome
		want    string
		fails   bool
	}{
		{"no change", of(pass, pass, project{}), "", false},
		{"a failure in both", of(fail, fail, project{}), "", false},
		{"a change", of(pass, fail, project{}), "pass -> fail: NOT EXPECTED", true},
		{"an improvement", of(fail, pass, project{}), "fail -> pass: NOT EXPECTED", true},
		{"a test that did not run", of(pass, results{}, project{}), "pass -> not run: NOT EXPECTED", true},
		{"a test that ran only behind Wrap", of(results{}, fail, project{}), "not run -> fail: NOT EXPECTED", true},
		{"an expected change", of(pass, fail, expected), "pass -> fail: the test counts requests", false},
		{"an expected change that did not happen", of(pass, pass, expected), "NOT EXPECTED", true},
		{"an unstable test", of(pass, fail, project{Unstable: map[string]string{name: "it races"}}), "unstable: it races", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out strings.Builder
			if err := report(&out, []outcome{row.outcome}); (err != nil) != row.fails || !strings.Contains(out.String(), row.want) {
				t.Errorf("%v, and prints\n%s", err, &out)
			}
		})
	}
}
