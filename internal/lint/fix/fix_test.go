package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/enginetest"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
	"github.com/statuspatcher/statuspatcher/internal/lint/fix"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// support is what the functions of the tests call.
const support = `
type logger interface { Info(msg string) }
type ensurer interface { Ensure(ctx context.Context, cell *v1.Cell) error }
type byKey interface { Touch(ctx context.Context, key client.ObjectKey) error; Holder(ctx context.Context, in holder) error; Name(ctx context.Context, name string) error }
type holder struct { key client.ObjectKey }
type R struct { client.Client; ensurer ensurer; byKey byKey; log logger }
func (r *R) touch(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil { return err }
	cell.Finalizers = nil
	return r.Update(ctx, cell)
}
func (r *R) look(ctx context.Context, key client.ObjectKey) error { return r.Get(ctx, key, &v1.Cell{}) }
func (r *R) decide(cell *v1.Cell) { cell.Status.Phase = "Ready" }
func (r *R) touchAll(ctx context.Context) error {
	cells := &v1.CellList{}
	if err := r.List(ctx, cells); err != nil { return err }
	for i := range cells.Items {
		if err := r.Update(ctx, &cells.Items[i]); err != nil { return err }
	}
	return nil
}
`

// read makes a function that reads a cell and then does what body says.
func read(body string) string {
	return "func (r *R) run(ctx context.Context, key client.ObjectKey) error {\ncell := &v1.Cell{}\nif err := r.Get(ctx, key, cell); err != nil { return err }\n" + body + "\n}\n"
}

const (
	capture = "base := cell.DeepCopy()\n"
	edit    = "cell.Status.Phase = \"Ready\"\n"
	send    = "return r.Status().Patch(ctx, cell, client.MergeFrom(base))"
	touches = "if err := r.touch(ctx, key); err != nil { return err }\n"
	update  = "if err := r.Update(ctx, cell); err != nil { return err }\n"
	lockIt  = ", client.MergeFromWithOptimisticLock{}"
	locks   = lockIt + "|MergeFromWithOptions"
)

// Each fix is made where it is safe, and otherwise suggested with the reason.
func TestSuggest(t *testing.T) {
	for _, row := range []struct {
		name, code string
		class      class.Class
		edits      string // of a fix that is made
		doubt      string // of one that is not
	}{
		{"nothing between", read(capture + edit + send), class.BlindMerge, locks, ""},
		{"options", read(capture + edit + "return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base))"), class.BlindMerge, lockIt, ""},
		{"locked", read(capture + edit + "return r.Status().Patch(ctx, cell, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))"), class.Locked, "", ""},
		{"a helper that edits", read(capture + "r.decide(cell)\n" + send), class.BlindMerge, locks, ""},
		{"a helper that reads", read("if err := r.look(ctx, key); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"a helper that writes", read(touches + capture + edit + send), class.BlindMerge, "", "Update can write the object"},
		{"a helper that writes a list", read("if err := r.touchAll(ctx); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "Update can write the object"},
		{"its own update", read(update + capture + edit + send), class.BlindMerge, locks, ""},
		{"another kind", read("if err := r.Update(ctx, &v1.Other{}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"another of its kind", read("if err := r.Update(ctx, &v1.Cell{}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "Update can write the object"},
		{"a deletion", read("if err := r.Delete(ctx, &v1.Cell{}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "can delete the object"},
		{"a deletion of another kind", read("if err := r.Delete(ctx, &v1.Other{}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"code out of sight", read("if err := r.ensurer.Ensure(ctx, cell); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "its code cannot be seen"},
		{"a logger", read("r.log.Info(cell.Name)\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"a function value", strings.Replace(read("if err := f(ctx, cell); err != nil { return err }\n"+capture+edit+send), "key client.ObjectKey)", "key client.ObjectKey, f func(context.Context, *v1.Cell) error)", 1),
			class.BlindMerge, "", "f is a function value"},
		{"a goroutine that writes", read("go r.touch(ctx, key)\n" + capture + edit + send), class.BlindMerge, "", "Update can write the object"},
		{"a goroutine that reads", read("go r.look(ctx, key)\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"a write that comes later", read(capture + edit + "if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\nreturn r.touch(ctx, key)"), class.BlindMerge, locks, ""},
		{"a deferred closure", read("defer func() { r.Status().Patch(ctx, cell, client.MergeFrom(cell.DeepCopy())) }()\n" + edit + "return r.touch(ctx, key)"), class.AliasedBase, "", ""},
		{"an error that is dropped", read(capture + edit + "r.Status().Patch(ctx, cell, client.MergeFrom(base))\nreturn nil"), class.BlindMerge, "", "error is dropped"},
		{"a patch for two writes", read("patch := client.MergeFrom(cell.DeepCopy())\n" + edit + "if err := r.Patch(ctx, cell, patch); err != nil { return err }\nreturn r.Status().Patch(ctx, cell, patch)"), class.StaleBase, "", ""},
		{"a patch for either of two writes", read("patch := client.MergeFrom(cell.DeepCopy())\n" + edit + "if cell.Size > 1 { return r.Patch(ctx, cell, patch) }\nreturn r.Status().Patch(ctx, cell, patch)"), class.BlindMerge, "", "the patch is used by other writes, too"},
		{"a loop", read(capture + "for range 2 {\ncell.Status.Items = append(cell.Status.Items, \"x\")\nif err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\n}\nreturn nil"), class.BlindMerge, "", "the write is in a loop"},
		{"a copy of it", read(capture + "next := cell.DeepCopy()\nnext.Status.Phase = \"Ready\"\nreturn r.Status().Patch(ctx, next, client.MergeFrom(base))"), class.BlindMerge, locks, ""},
		{"a copy of what is old", read("next := cell.DeepCopy()\n" + touches + "base := next.DeepCopy()\nnext.Status.Phase = \"Ready\"\nreturn r.Status().Patch(ctx, next, client.MergeFrom(base))"), class.BlindMerge, "", "Update can write the object"},
		{"items of a list", "func (r *R) run(ctx context.Context) error {\ncells := &v1.CellList{}\nif err := r.List(ctx, cells); err != nil { return err }\nfor i := range cells.Items {\ncell := &cells.Items[i]\n" + capture + edit +
			"if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\n}\nreturn nil\n}\n", class.BlindMerge, locks, ""},
		{"a parameter", "func (r *R) write(ctx context.Context, cell *v1.Cell) error {\n" + capture + edit + send + "\n}\n" + read("return r.write(ctx, cell)"), class.BlindMerge, locks, ""},
		{"a parameter that is old", "func (r *R) write(ctx context.Context, cell *v1.Cell) error {\n" + capture + edit + send + "\n}\n" + read(touches+"return r.write(ctx, cell)"), class.BlindMerge, "", "Update can write the object"},
		{"a parameter of an exported function", "func (r *R) Write(ctx context.Context, cell *v1.Cell) error {\n" + capture + edit + send + "\n}\n" + read("return r.Write(ctx, cell)"), class.BlindMerge, "", "Write is exported"},
		{"a parameter of a value", "func (r *R) write(ctx context.Context, cell *v1.Cell) error {\n" + capture + edit + send + "\n}\n" + read("_ = r.write\nreturn r.write(ctx, cell)"), class.BlindMerge, "", "write is used as a value"},
		{"a parameter without callers", "func (r *R) write(ctx context.Context, cell *v1.Cell) error {\n" + capture + edit + send + "\n}\n", class.BlindMerge, "", "where the object was read cannot be seen"},
		{"a base that its update made stale", read(capture + update + edit + send), class.StaleBase, "\nbase = cell.DeepCopy()|" + locks, ""},
		{"a stale patch", read("patch := client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})\n" + update + edit + "return r.Status().Patch(ctx, cell, patch)"), class.StaleBase,
			"\npatch = client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})", ""},
		{"a stale base after an edit", read(capture + edit + update + send), class.StaleBase, "", ""},
		{"a stale base if the update fails", read(capture + "if err := r.Update(ctx, cell); err != nil { r.log.Info(cell.Name) }\n" + edit + send), class.StaleBase, "", ""},
		{"a base that another object made stale", read(capture + "other := cell.DeepCopy()\nif err := r.Update(ctx, other); err != nil { return err }\n" + edit + send), class.StaleBase, "", ""},
		{"a stale base with another write", read(capture + update + touches + edit + send), class.StaleBase, "", "Update can write the object"},
		{"the key, out of sight", read("if err := r.byKey.Touch(ctx, key); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "its code cannot be seen"},
		{"what holds the key, out of sight", read("if err := r.byKey.Holder(ctx, holder{key}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "its code cannot be seen"},
		{"a variable that holds the key, out of sight", read("in := holder{key: key}\nif err := r.byKey.Holder(ctx, in); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "its code cannot be seen"},
		{"its name, out of sight", read("if err := r.byKey.Name(ctx, cell.Name); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, "", "its code cannot be seen"},
		{"another key, out of sight", read("if err := r.byKey.Touch(ctx, client.ObjectKey{Name: \"other\"}); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"a text of its status, out of sight", read("if err := r.byKey.Name(ctx, cell.Status.Phase); err != nil { return err }\n" + capture + edit + send), class.BlindMerge, locks, ""},
		{"an object of any kind", strings.Replace(read("if err := r.Update(ctx, any); err != nil { return err }\n"+capture+edit+send), "key client.ObjectKey)", "key client.ObjectKey, any client.Object)", 1),
			class.BlindMerge, "", "Update can write the object"},
		{"a deferred write before another", strings.Replace(read("defer func() {\nbase := cell.DeepCopy()\n"+edit+"err = r.Status().Patch(ctx, cell, client.MergeFrom(base))\n}()\nreturn r.touch(ctx, key)"), ") error {", ") (err error) {", 1),
			class.BlindMerge, "", "Update can write the object"},
		{"a deferred write alone", strings.Replace(read("defer func() {\nbase := cell.DeepCopy()\n"+edit+"err = r.Status().Patch(ctx, cell, client.MergeFrom(base))\n}()\nreturn r.look(ctx, key)"), ") error {", ") (err error) {", 1),
			class.BlindMerge, locks, ""},
		{"a closure that is called once", read(capture + "flush := func() error { " + send + " }\n" + edit + "return flush()"), class.BlindMerge, locks, ""},
		{"a closure after a write", read(capture + "flush := func() error { " + send + " }\n" + edit + touches + "return flush()"), class.BlindMerge, "", "Update can write the object"},
		{"an old list", "func (r *R) run(ctx context.Context) error {\ncells := &v1.CellList{}\nif err := r.List(ctx, cells); err != nil { return err }\nif err := r.touchAll(ctx); err != nil { return err }\nfor i := range cells.Items {\ncell := &cells.Items[i]\n" + capture + edit +
			"if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\n}\nreturn nil\n}\n", class.BlindMerge, "", "Update can write the object"},
		{"items that are written by others in the loop", "func (r *R) run(ctx context.Context) error {\ncells := &v1.CellList{}\nif err := r.List(ctx, cells); err != nil { return err }\nfor i := range cells.Items {\ncell := &cells.Items[i]\n" + capture + edit +
			"if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\nif err := r.touchAll(ctx); err != nil { return err }\n}\nreturn nil\n}\n", class.BlindMerge, "", "Update can write the object"},
		{"a list out of sight", "func (r *R) run(ctx context.Context, cells *v1.CellList) error {\nfor i := range cells.Items {\ncell := &cells.Items[i]\n" + capture + edit +
			"if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil { return err }\n}\nreturn nil\n}\n", class.BlindMerge, "", "where the list was read cannot be seen"},
		{"a stale base if another condition holds", read(capture + "if err := r.Update(ctx, cell); err != nil && cell.Size > 1 { return err }\n" + edit + send), class.StaleBase, "", ""},
		{"a stale base with an else", read(capture + "if err := r.Update(ctx, cell); err != nil { return err } else { cell.Size = 1 }\n" + edit + send), class.StaleBase, "", ""},
		{"a stale base with an error of its own line", read(capture + "err := r.Update(ctx, cell)\nif err != nil { return err }\n" + edit + send), class.StaleBase, "\nbase = cell.DeepCopy()|" + locks, ""},
		{"a stale base that is captured twice", read("var base *v1.Cell\nbase = cell.DeepCopy()\nif cell.Size > 1 { base = cell.DeepCopy() }\n" + update + edit + send), class.StaleBase, "", ""},
		{"a stale patch without options", read("patch := client.MergeFrom(cell.DeepCopy())\n" + update + edit + "return r.Status().Patch(ctx, cell, patch)"), class.StaleBase,
			"\npatch = client.MergeFromWithOptions(cell.DeepCopy(), client.MergeFromWithOptimisticLock{})|" + locks, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := enginetest.Check(t, support+row.code)
			var sites []*site.Site
			for _, s := range site.Find(p, p.Files, nil) {
				if s.Status {
					sites = append(sites, s)
				}
			}
			if len(sites) != 1 {
				t.Fatalf("%d status writes, expected one", len(sites))
			}
			classifier := class.New(sites)
			f := classifier.Classify(sites[0])
			fix.Suggest([]*class.Finding{f}, classifier.Tracker())
			if f.Class != row.class {
				t.Fatalf("the class is %s (%s), expected %s", f.Class, f.Reason, row.class)
			}
			edits, doubt := outcome(f)
			if edits != row.edits || !strings.Contains(doubt, row.doubt) || row.doubt == "" && doubt != "" {
				t.Errorf("the edits are %q, expected %q; the reason against them is %q, expected %q", edits, row.edits, doubt, row.doubt)
			}
		})
	}
}

// outcome is the text that safe fixes insert, in the order of the edits, and why the others are not made.
func outcome(f *class.Finding) (edits, doubt string) {
	for _, e := range f.Fixes {
		if !e.Safe {
			doubt += fmt.Sprintf("%s; ", e.Doubt)
			continue
		}
		for _, edit := range e.Edits {
			edits += "|" + edit.Text
		}
	}
	return strings.TrimPrefix(edits, "|"), doubt
}
