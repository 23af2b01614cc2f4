package audit

import (
	"io"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const toolURI = "https://github.com/statuspatcher/statuspatcher"

// writeSARIF prints what somebody should act on: verdicts fix and unknown.
func writeSARIF(w io.Writer, records []Record) error {
	run := sarif.NewRunWithInformationURI("statuspatcher-lint", toolURI)
	run.Results = []*sarif.Result{} // code scanning wants the array, even an empty one
	for _, r := range records {
		if r.Verdict != class.Fix && r.Verdict != class.NotKnown {
			continue
		}
		id := string(r.Class)
		doc := class.DocOf(r.Class)
		run.AddRule(id).WithDescription(doc.Title).WithHelpURI(class.URL(r.Class)).
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(doc.Title + ". " + doc.Text))
		region := sarif.NewRegion().WithStartLine(r.Line).WithStartColumn(r.Column)
		// The base names the repository's root; code scanning resolves the path against it.
		place := sarif.NewSimpleArtifactLocation(r.File)
		base := "%SRCROOT%"
		place.URIBaseID = &base
		location := sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(place).WithRegion(region))
		result := run.CreateResultForRule(id)
		result.WithLevel(level(r.Verdict)).WithMessage(sarif.NewTextMessage(id + ": " + r.Reason)).AddLocation(location)
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return report.PrettyWrite(w)
}

func level(v class.Verdict) string {
	if v == class.Fix {
		return "error"
	}
	return "note"
}
