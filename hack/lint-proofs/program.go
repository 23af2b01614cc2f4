// Package lintproofs generates reconcilers that mix the forms in which code reads an object, writes it in between, and
// writes its status. Its tests fix them with the lint rule and run both versions on the simulated server of patchertest.
package lintproofs

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Program is one reconciler.
type Program struct {
	Name   string
	Text   string
	Writes bool // something else writes the object between its read and its status write, each time
}

// between are the steps between the read and the status write. A step that writes bumps an annotation each time, so that
// a lock on the version that was read before it never holds.
var between = []struct {
	name, code string
	writes     bool
}{
	{"nothing", "", false},
	{"look", "if err := r.look(ctx, req); err != nil {\n return ctrl.Result{}, err\n}", false},
	{"note", "notes := map[string]string{}\nnotes[cell.Name] = cell.Namespace", false},
	{"quiet-goroutine", "done := make(chan struct{})\ngo func() { close(done) }()\n<-done", false},
	{"quiet-closure", "steps := quiet{}\nsteps.decide = func() error { return nil }\nif err := steps.decide(); err != nil {\n return ctrl.Result{}, err\n}", false},
	{"in-place", "cell.Annotations = map[string]string{\"touched\": r.next()}\nif err := r.Update(ctx, cell); err != nil {\n return ctrl.Result{}, err\n}", false},
	{"helper", "if err := r.touch(ctx, req); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"struct", "in := hidden{key: req.NamespacedName}\nif err := r.touchHidden(ctx, in); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"closure", "steps := loud{}\nsteps.touch = func() error { return r.touch(ctx, req) }\nif err := steps.touch(); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"list", "if err := r.touchAll(ctx); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"unstructured", "if err := r.touchUntyped(ctx, req.NamespacedName); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"metadata", "if err := r.touchMetadata(ctx, req.NamespacedName); err != nil {\n return ctrl.Result{}, err\n}", true},
	{"value", "for _, step := range []func(context.Context, ctrl.Request) error{r.touch} {\n if err := step(ctx, req); err != nil {\n return ctrl.Result{}, err\n}\n}", true},
}

// captures are how the base is taken, before the status is edited.
var captures = []struct{ name, code, patch string }{
	{"base", "base := cell.DeepCopy()", "client.MergeFrom(base)"},
	{"patch", "patch := client.MergeFrom(cell.DeepCopy())", "patch"},
	{"options", "base := cell.DeepCopy()\npatch := client.MergeFromWithOptions(base)", "patch"},
	{"plain", "original := cell.DeepCopy()", "client.MergeFrom(original)"},
}

var edits = []struct{ name, code string }{
	{"both", "cell.Status.Phase = \"Planned\"\nif cell.Status.Plan == nil {\n plan := \"mine\"\n cell.Status.Plan = &plan\n}"},
	{"phase-last", "if cell.Status.Plan == nil {\n plan := \"mine\"\n cell.Status.Plan = &plan\n}\ncell.Status.Phase = \"Planned\""},
	{"helper", "r.decide(cell)"},
}

// writes are how the status is sent; %s is the patch.
var writes = []struct{ name, code string }{
	{"return", "return ctrl.Result{}, r.Status().Patch(ctx, cell, %s)"},
	{"owned", "return ctrl.Result{}, r.Status().Patch(ctx, cell, %s, client.FieldOwner(\"proofs\"))"}, // cannot be moved
	{"owned-check", "if err := r.Status().Patch(ctx, cell, %s, client.FieldOwner(\"proofs\")); err != nil {\n return ctrl.Result{}, err\n}\nreturn ctrl.Result{}, nil"},
	{"check", "if err := r.Status().Patch(ctx, cell, %s); err != nil {\n return ctrl.Result{}, err\n}\nreturn ctrl.Result{}, nil"},
	{"assign", "err := r.Status().Patch(ctx, cell, %s)\nreturn ctrl.Result{}, err"},
}

const reconcile = `type %[1]s struct{ base }

func (r *%[1]s) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	%[2]scell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	%[3]s
	%[4]s
	%[5]s
	%[6]s
}
`

// Generate makes n programs; the same for the same seed.
func Generate(seed uint64, n int) []Program {
	r := rand.New(rand.NewPCG(seed, seed))
	var out []Program
	for i := range n {
		step, capture := between[r.IntN(len(between))], captures[r.IntN(len(captures))]
		edit, write := edits[r.IntN(len(edits))], writes[r.IntN(len(writes))]
		name := fmt.Sprintf("P%03d", i)
		first, second := step.code, capture.code
		if i%5 == 0 {
			first, second = second, first // the base is older than the step
		}
		early, writesEarly := "", false
		if i%7 == 0 && step.name != "in-place" { // its own Update would conflict forever, before any fix
			early, writesEarly = "ended := make(chan error, 1)\n\tgo func() { ended <- r.touch(ctx, req) }()\n\tdefer func() { <-ended }()\n\t", true
		}
		text := fmt.Sprintf(reconcile, name, early, first, second, edit.code, fmt.Sprintf(write.code, capture.patch))
		doc := strings.Join([]string{step.name, capture.name, edit.name, write.name}, ", ")
		out = append(out, Program{Name: name, Text: "// " + name + ": " + doc + ".\n" + text, Writes: step.writes || writesEarly})
	}
	return out
}
