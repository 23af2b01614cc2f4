package generator

import (
	"go/ast"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// generateMarker asks for the patcher of a kind, or of all kinds of a package.
const generateMarker = "statuspatcher:generate"

// MarkerRegistry holds the markers of Go source, with their help.
func MarkerRegistry() *markers.Registry {
	reg := &markers.Registry{}
	for _, m := range []struct {
		name    string
		target  markers.TargetType
		value   any
		summary string
	}{
		{generateMarker, markers.DescribesPackage, false, "generates a status patcher for every kind in this package that has a status subresource."},
		{generateMarker, markers.DescribesType, false, "generates a status patcher for this kind, or keeps it from being generated."},
		{ownerMarker, markers.DescribesType, markers.RawArguments(nil), "declares one of several controllers that share the status of this kind, as in owner=backup,fields=backup;lastBackup,conditions=BackupSafe,reads=status.plan."},
		{writeOnceMarker, describesField, struct{}{}, "makes this field of a status write-once: no write changes or removes its value while its parent exists."},
	} {
		def := markers.Must(markers.MakeDefinition(m.name, m.target, m.value))
		if err := reg.Register(def); err != nil {
			panic(err) // a table above that is wrong
		}
		reg.AddHelp(def, markers.SimpleHelp("status patchers", m.summary))
	}
	return reg
}

const describesField = markers.DescribesField

// A line is one line of a comment that is a marker.
type line struct {
	text string // from the plus sign on
	pos  token.Pos
}

// A commented is what the comments of one file belong to. The rule is controller-tools': a type owns its doc comment and
// the nearest comment before it; what stands above the package clause is the package's.
type commented struct {
	byType map[*ast.TypeSpec][]*ast.CommentGroup
	owner  map[*ast.CommentGroup]*ast.TypeSpec
}

func attach(file *ast.File) commented {
	c := commented{byType: map[*ast.TypeSpec][]*ast.CommentGroup{}, owner: map[*ast.CommentGroup]*ast.TypeSpec{}}
	end := file.Name.End()
	for _, d := range file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
			c.attachSpecs(file, gen, end)
		}
		end = d.End()
	}
	return c
}

func (c *commented) attachSpecs(file *ast.File, gen *ast.GenDecl, end token.Pos) {
	if gen.Lparen.IsValid() {
		end = gen.Lparen
	}
	for _, s := range gen.Specs {
		spec := s.(*ast.TypeSpec)
		doc, start := spec.Doc, spec.Pos()
		if !gen.Lparen.IsValid() {
			doc, start = gen.Doc, gen.Pos()
		}
		if doc != nil {
			c.own(spec, doc)
			start = doc.Pos()
		}
		if nearest := lastBetween(file.Comments, end, start); nearest != nil {
			c.own(spec, nearest)
		}
		end = spec.End()
	}
}

func (c *commented) own(spec *ast.TypeSpec, group *ast.CommentGroup) {
	c.byType[spec] = append(c.byType[spec], group)
	c.owner[group] = spec
}

func lastBetween(groups []*ast.CommentGroup, from, to token.Pos) *ast.CommentGroup {
	var last *ast.CommentGroup
	for _, group := range groups {
		if group.Pos() > from && group.End() < to {
			last = group
		}
	}
	return last
}

// lines are the marker lines of some comments.
func lines(groups ...*ast.CommentGroup) []line {
	var out []line
	for _, group := range groups {
		for _, comment := range group.List {
			text, ok := strings.CutPrefix(comment.Text, "//")
			if !ok {
				continue
			}
			if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "+") {
				offset := 2 + strings.IndexByte(text, '+')
				out = append(out, line{text: trimmed, pos: comment.Pos() + token.Pos(offset)})
			}
		}
	}
	return out
}

// packageGroups are the comments above the package clause.
func packageGroups(file *ast.File) []*ast.CommentGroup {
	var out []*ast.CommentGroup
	for _, group := range file.Comments {
		if group.Pos() < file.Package {
			out = append(out, group)
		}
	}
	return out
}

// has tells whether one of the markers of other tools is among the lines: a name, or a name and its value.
func has(lines []line, names ...string) bool {
	for _, l := range lines {
		name, _, _ := strings.Cut(l.text[1:], "=")
		for _, want := range names {
			if name == want || l.text[1:] == want {
				return true
			}
		}
	}
	return false
}
