package lintproofs

import (
	"fmt"
	"strings"
	"testing"
)

// inBetween are status writes of the same object, through a variable of their own, between the base of a blind patch and the patch. A
// move puts a lock on the patch: moved says whether it comes to rest all the same.
var inBetween = []struct {
	name, method, before string
	moved                bool
}{
	{name: "Marks", method: `own.Status.Count = 7`, moved: true},
	{name: "Counts", method: `own.Status.Count++`},
	{name: "Adds", method: `own.Status.Count = own.Status.Count + 1`},
	{name: "Sums", method: "count := own.Status.Count\n\town.Status.Count = 1 + count"},
	{name: "Stamps", method: `own.Status.ObservedGeneration = r.now()`},
	{name: "Numbers", method: `own.Status.ObservedGeneration = r.touched.Add(1)`},
	{name: "Gates", method: `own.Status.Count = 7`, before: `if cell.Status.Count == 7 {
		return ctrl.Result{}, nil
	}`},
}

// written is a reconciler that writes the object in between.
func written(name, method, before string) Program {
	text := fmt.Sprintf(`type %[1]s struct{ base }

func (r *%[1]s) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	%[3]s
	base := cell.DeepCopy()
	if err := r.between(ctx, req); err != nil {
		return ctrl.Result{}, err
	}
	r.decide(cell)
	return ctrl.Result{}, r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

func (r *%[1]s) between(ctx context.Context, req ctrl.Request) error {
	own := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, own); err != nil {
		return err
	}
	%[2]s
	return r.Status().Update(ctx, own)
}
`, name, method, before)
	return Program{Name: name, Text: text}
}

// A blind patch that another status write of the same object precedes is moved only if the locked one lands all the same. The test
// moves each of the patches by hand as well, and runs it: those that the migration leaves never come to rest, or never write the plan.
func TestWritesInBetween(t *testing.T) {
	var programs []Program
	for _, b := range inBetween {
		programs = append(programs, written(b.name, b.method, b.before))
	}
	m := newModule(t, programs)
	m.migrate(t)
	for _, b := range inBetween {
		name := "after/" + b.name + ".go"
		text := m.read(t, m.dir+"/"+name)
		if moved := !strings.Contains(text, "r.Status().Patch"); moved != b.moved {
			t.Errorf("%s: moved is %v, expected %v: %s", b.name, moved, b.moved, m.reasons[b.name])
		}
		if b.moved {
			continue
		}
		text = strings.Replace(text, "r.Status().Patch(ctx, cell, client.MergeFrom(base))", "v1status.CellKind.Flush(ctx, r.Client, cell)", 1)
		text = strings.Replace(text, "base := cell.DeepCopy()", "", 1)
		if !strings.Contains(text, "v1status\"") {
			text = strings.Replace(text, "\tv1 \"example.com/cells/api/v1\"\n", "\tv1 \"example.com/cells/api/v1\"\n\t\"example.com/cells/api/v1/v1status\"\n", 1)
		}
		m.write(t, name, text)
	}
	failed, output := m.run(t)
	for _, b := range inBetween {
		if failed[b.name] == b.moved {
			t.Errorf("%s: after a move it fails: %v, expected %v\n%s", b.name, failed[b.name], !b.moved, output)
		}
	}
}
