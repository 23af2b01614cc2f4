package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, row := range []struct {
		name, in string
		args     []string
		code     int
		out, err string
	}{
		{"a request", `{"apiVersion": "v1alpha1", "command": "flags"}`, nil, 0, `"command":"flags"`, ""},
		{"the version", "", []string{"--version"}, 0, "statuspatcher ", ""},
		{"no request", "", nil, 1, "", "kubebuilder runs this program"},
		{"an argument", "", []string{"init"}, 2, "", "kubebuilder runs it"},
	} {
		var out, errs bytes.Buffer
		code := run(row.args, strings.NewReader(row.in), &out, &errs)
		if code != row.code || !strings.Contains(out.String(), row.out) || !strings.Contains(errs.String(), row.err) {
			t.Errorf("%s: %d, %q, %q, expected %d, %q, %q", row.name, code, out.String(), errs.String(), row.code, row.out, row.err)
		}
	}
}
