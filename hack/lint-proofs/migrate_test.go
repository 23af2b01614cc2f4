package lintproofs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/migrate"
)

// migrate moves the programs after to generated calls.
func (m *module) migrate(t *testing.T) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	plan, err := migrate.Make(migrate.Options{Dir: m.dir, Patterns: []string{"./after"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range plan.Problems {
		t.Fatal(problem)
	}
	for _, c := range plan.Changes {
		if err := os.WriteFile(c.Name, c.After, 0o644); err != nil {
			t.Fatal(err)
		}
		m.fixed[strings.TrimSuffix(filepath.Base(c.Name), ".go")] = true
	}
	t.Log(plan.Summary())
	m.reasons = map[string]string{}
	for _, site := range plan.Sites {
		name, _, _ := strings.Cut(filepath.Base(site.At), ".go")
		m.reasons[name] = site.ReasonAt + ": " + site.Reason
	}
}

// Every program does the same after its write is moved, comes to rest, and loses no update of another writer.
func TestMovesAreRight(t *testing.T) {
	m := newModule(t, Generate(2, count))
	m.migrate(t)
	failed, output := m.run(t)
	moved, lost := 0, strings.Count(output, "before the fix an update was lost")
	for _, p := range m.programs {
		owned := strings.Contains(p.Text, "FieldOwner")
		if failed[p.Name] {
			t.Errorf("%s fails:\n%s", p.Name, p.Text)
		}
		switch {
		case m.fixed[p.Name]:
			moved++
			if p.Writes {
				t.Errorf("%s was moved, although something writes its object in between:\n%s", p.Name, p.Text)
			}
		case !p.Writes && !owned:
			t.Errorf("%s was left, although nothing else writes its object: %s\n%s", p.Name, m.reasons[p.Name], p.Text)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
	if moved < count/5 || lost*10 < moved*9 {
		t.Errorf("%d of %d programs were moved, and %d of them lost an update before", moved, count, lost)
	}
	t.Logf("%d programs, %d moved, %d of them lost an update before", count, moved, lost)
}

// A move that is wrong is caught: a flush of an object that something else writes between its read and its status write.
func TestWrongMoveIsCaught(t *testing.T) {
	var wrong []Program
	for _, p := range Generate(2, count) {
		if p.Writes && strings.Contains(p.Text, "r.Status().Patch(ctx, cell, client.MergeFrom(base))") && len(wrong) < 6 {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) < 3 {
		t.Fatalf("%d programs: the test tries too little", len(wrong))
	}
	m := newModule(t, wrong)
	for _, p := range wrong {
		flushed := p
		flushed.Text = strings.Replace(strings.Replace(p.Text, "base := cell.DeepCopy()", "", 1),
			"r.Status().Patch(ctx, cell, client.MergeFrom(base))", "v1status.CellKind.Flush(ctx, r.Client, cell)", 1)
		m.write(t, "after/"+p.Name+".go", strings.Replace(m.source("after", flushed), "\tv1 \"example.com/cells/api/v1\"\n",
			"\tv1 \"example.com/cells/api/v1\"\n\t\"example.com/cells/api/v1/v1status\"\n", 1))
	}
	failed, output := m.run(t)
	for _, p := range wrong {
		// A goroutine that was started before the read may happen to run before it each time that is tried.
		if !failed[p.Name] && !strings.Contains(p.Text, "<-ended") {
			t.Errorf("the wrong move of %s was not caught:\n%s\n%s", p.Name, p.Text, output)
		}
	}
}
