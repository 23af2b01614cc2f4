package migrate

import (
	"go/ast"
	"go/types"
	"sort"

	"golang.org/x/tools/go/packages"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// A Change is a file before and after.
type Change struct {
	Name   string // of the file, absolute
	Before []byte // as it is
	After  []byte // as it becomes
	pkg    string // import path
}

// rewrite makes the texts of all files that the moves change. A move that cannot be made is returned with its reason.
func (m *mover) rewrite(moves []*move, packages map[*flow.Package]*packages.Package) ([]*Change, map[*move]*reason) {
	edits := fileEdits{}
	failed := map[*move]*reason{}
	files := map[*ast.File]*imports{}
	u := &unused{src: m.src, edits: fileEdits{}, done: map[*types.Var]bool{}, hit: map[*flow.Func]bool{}}
	for _, mv := range moves {
		for _, e := range mv.gone {
			u.gone = append(u.gone, e)
		}
	}
	for _, mv := range moves {
		w := mv.write
		// The other arguments stay; the patch goes.
		for _, e := range mv.gone {
			if why := u.drop(w.Fn, e); why != nil {
				failed[mv] = why
			}
		}
	}
	if len(failed) > 0 {
		// What one move leaves behind can be what another one needs: those that are left decide again.
		var rest []*move
		for _, mv := range moves {
			if failed[mv] == nil {
				rest = append(rest, mv)
			}
		}
		changes, more := m.rewrite(rest, packages)
		for mv, why := range failed {
			more[mv] = why
		}
		return changes, more
	}
	for _, mv := range moves {
		w := mv.write
		file := fileOf(w.pkg, w.Call.Pos())
		if files[file] == nil {
			files[file] = newImports(m.src, w.pkg, file)
		}
		name := files[file].name(mv.api.patchers, mv.api.statusName(), mv.api.path)
		edits.replace(m.fset, w.Call.Pos(), w.Call.End(), name+mv.call)
	}
	for _, im := range files {
		im.edit(edits)
	}
	for file, list := range u.edits {
		for _, e := range list {
			if !insideAny(e, edits[file]) {
				edits.add(file, e)
			}
		}
	}
	changes, broken := m.texts(edits, packages)
	if len(broken) == 0 {
		return changes, failed
	}
	var rest []*move
	for _, mv := range moves {
		if err := broken[m.fset.Position(mv.write.Call.Pos()).Filename]; err != nil {
			failed[mv] = because(mv.write.Call, "move it by hand", "the rewritten file would not be right: %v", err)
			continue
		}
		rest = append(rest, mv)
	}
	if len(failed) == 0 { // only what the moves leave behind in another file is wrong: nothing is moved
		for _, mv := range moves {
			failed[mv] = because(mv.write.Call, "move it by hand", "a file that depends on it would not be right")
		}
		return nil, failed
	}
	changes, more := m.rewrite(rest, packages)
	for mv, why := range failed {
		more[mv] = why
	}
	return changes, more
}

func insideAny(e edit, list []edit) bool {
	for _, o := range list {
		if o.from <= e.from && e.to <= o.to {
			return true
		}
	}
	return false
}

func (m *mover) texts(edits fileEdits, pkgs map[*flow.Package]*packages.Package) ([]*Change, map[string]error) {
	owner := map[string]*packages.Package{}
	for fp, p := range pkgs {
		for _, f := range fp.Files {
			owner[m.fset.Position(f.Package).Filename] = p
		}
	}
	var changes []*Change
	broken := map[string]error{}
	for name, list := range edits {
		list = closeGaps(m.src.file(name), list)
		c := &Change{Name: name, Before: m.src.file(name), pkg: owner[name].PkgPath}
		after, err := apply(c.Before, list)
		if err == nil {
			after, err = tidy(name, c.Before, after, importNames(owner[name]))
		}
		if err == nil {
			err = frame(name, c.Before, after, list)
		}
		if err != nil {
			broken[name] = err
			continue
		}
		c.After = after
		changes = append(changes, c)
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].Name < changes[j].Name })
	return changes, broken
}

// importNames are the names of the packages that a package imports, by path.
func importNames(p *packages.Package) map[string]string {
	names := map[string]string{}
	for path, imp := range p.Imports {
		names[path] = imp.Name
	}
	return names
}
