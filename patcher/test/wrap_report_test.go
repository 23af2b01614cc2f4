package patcher_test

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// TestWriteReportString: the report is printed as docs/wrap.md shows it.
func TestWriteReportString(t *testing.T) {
	site := func(file string, line int, function string, class patcher.BlindClass, action patcher.Action, name string, count int) patcher.BlindSite {
		return patcher.BlindSite{Count: count, BlindWrite: patcher.BlindWrite{
			Kind: "Database", Key: client.ObjectKey{Namespace: "default", Name: name}, Class: class, Action: action,
			Site: patcher.Site{Function: "example.com/op/controllers." + function, File: "controllers/" + file, Line: line},
		}}
	}
	report := patcher.WriteReport{
		Blind: []patcher.BlindSite{
			site("claim.go", 33, "claim", patcher.BlindUpdate, patcher.ActionSent, "b", 2),
			site("mirror.go", 71, "(*Mirror).sync", patcher.BlindMerge, patcher.ActionLocked, "a", 12),
		},
		Passed: map[patcher.Passed]int{patcher.PassedLocked: 240, patcher.PassedUnchanged: 31, patcher.PassedOtherKind: 5},
	}
	document, err := os.ReadFile("../../docs/wrap.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := report.String(); strings.Count(text, "\n") != 5 || !strings.Contains(string(document), "```text by=TestWriteReportString\n"+text+"```\n") {
		t.Errorf("docs/wrap.md does not show the report as it is printed:\n%s", text)
	}
}
