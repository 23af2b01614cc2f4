package generator

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// writeOnceMarker stands above a field of a status whose value never changes once it is there.
const writeOnceMarker = "statuspatcher:writeOnce"

// fieldOwners finds the fields that the comments of a file belong to. As for types, a field owns its doc comment and the nearest
// comment before it.
func fieldOwners(file *ast.File) map[*ast.CommentGroup]*ast.Field {
	owners := map[*ast.CommentGroup]*ast.Field{}
	for _, d := range file.Decls {
		if gen, ok := d.(*ast.GenDecl); !ok || gen.Tok != token.TYPE {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				ownComments(file, s, owners)
			}
			return true
		})
	}
	return owners
}

func ownComments(file *ast.File, s *ast.StructType, owners map[*ast.CommentGroup]*ast.Field) {
	end := s.Fields.Opening
	for _, field := range s.Fields.List {
		start := field.Pos()
		if field.Doc != nil {
			owners[field.Doc] = field
			start = field.Doc.Pos()
		}
		if nearest := lastBetween(file.Comments, end, start); nearest != nil {
			owners[nearest] = field
		}
		end = field.End()
		if field.Comment != nil {
			end = field.Comment.End() // behind the field, where nobody looks for markers
		}
	}
}

// A onceMark is a marker of a write-once field.
type onceMark struct {
	pos token.Pos
	// scanned tells that the run reads the markers of the package, and not only its types.
	scanned bool
	// used tells that the field is in the status of a kind of the run, or was reported.
	used bool
	// inside is the list or map that the field was found in.
	inside string
}

// onceMarks finds the markers of write-once fields in a file, by the place of the field's name.
func onceMarks(file *ast.File) map[token.Pos]*onceMark {
	marks := map[token.Pos]*onceMark{}
	if !slices.ContainsFunc(file.Comments, func(g *ast.CommentGroup) bool { return has(lines(g), writeOnceMarker) }) {
		return marks
	}
	for group, field := range fieldOwners(file) {
		for _, l := range lines(group) {
			if l.text != "+"+writeOnceMarker {
				continue
			}
			for _, name := range fieldNames(field) {
				marks[name.Pos()] = &onceMark{pos: l.pos}
			}
		}
	}
	return marks
}

// fieldNames are the names of a field: that of its type, if it is embedded.
func fieldNames(field *ast.Field) []*ast.Ident {
	if len(field.Names) > 0 {
		return field.Names
	}
	t := field.Type
	for {
		switch x := t.(type) {
		case *ast.Ident:
			return []*ast.Ident{x}
		case *ast.SelectorExpr:
			return []*ast.Ident{x.Sel}
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		default:
			return nil
		}
	}
}

// onceMarks are those of all packages of the user's modules that were read.
func (c *collector) onceMarks() map[token.Pos]*onceMark {
	all := map[token.Pos]*onceMark{}
	for pkg, s := range c.prune.sources {
		if pkg.Module == nil || !c.prune.own[pkg.Module.Path] {
			continue
		}
		for _, file := range s.files {
			for pos, mark := range onceMarks(file.File) {
				mark.scanned = c.scanned[pkg]
				all[pos] = mark
			}
		}
	}
	return all
}

// onField checks a marker above a field.
func (m *marked) onField(field *ast.Field, text string, pos token.Pos) {
	name, _, hasValue := strings.Cut(text, "=")
	switch {
	case name == "+"+generateMarker:
		m.noEffect(text, pos)
	case name != "+"+writeOnceMarker && !meansWriteOnce(name):
		m.value(text, pos, describesField) // which reports it
	case name != "+"+writeOnceMarker:
		m.fault(pos, "unknown marker %s: write // +%s", text, writeOnceMarker)
	case hasValue:
		m.fault(pos, "%s has a value, and takes none: write // +%s", text, writeOnceMarker)
	default:
		if before, twice := m.once[field]; twice {
			m.fault(pos, "%s is above this field twice, the first time in line %d: remove one of the two", text, m.fset.Position(before).Line)
			return
		}
		m.once[field] = pos
	}
}

// meansWriteOnce tells whether the name of a marker was meant to be that of a write-once field, but for up to two slips.
func meansWriteOnce(name string) bool {
	_, own, found := strings.Cut(name, ":")
	own = strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_: .", r) {
			return -1
		}
		return r
	}, own))
	return found && distance(own, "writeonce") <= 2
}
