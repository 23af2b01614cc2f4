package generator

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// requests are what the markers of one package ask for.
type requests struct {
	// pack is where the package as a whole is marked; invalid when it is not.
	pack token.Pos
	// types are the marked types, true and false, with the place of the marker.
	types map[string]request
	// subresources are the types with a status subresource, in the order of the source.
	subresources []string
}

type request struct {
	generate bool
	pos      token.Pos
}

// A marked collects the markers of one package.
type marked struct {
	fset     *token.FileSet
	faults   *faults
	registry *markers.Registry
	// count is how many markers there are.
	count int
	// once are the fields that are marked as write-once, with the place of the marker.
	once map[*ast.Field]token.Pos
	// owners are the types that declare owners, with the places of the markers.
	owners map[string][]token.Pos
	requests
}

// scanFile looks at every comment of a file: a marker in a place that nobody reads is an error, not silence.
func (m *marked) scanFile(file *ast.File) {
	owners, fields := attach(file), fieldOwners(file)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			m.scanComment(file, owners, fields[group], group, comment)
		}
	}
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, s := range gen.Specs {
			if spec := s.(*ast.TypeSpec); has(lines(owners.byType[spec]...), "kubebuilder:subresource:status") {
				m.subresources = append(m.subresources, spec.Name.Name)
			}
		}
	}
}

func (m *marked) scanComment(file *ast.File, owners commented, field *ast.Field, group *ast.CommentGroup, comment *ast.Comment) {
	text, block := comment.Text, strings.HasPrefix(comment.Text, "/*")
	offset := 0
	for raw := range strings.Lines(text) {
		content := strings.TrimSpace(strings.TrimLeft(strings.TrimSuffix(strings.TrimSpace(raw), "*/"), "/* \t"))
		at := comment.Pos() + token.Pos(offset+max(strings.Index(raw, content), 0))
		offset += len(raw)
		verdict := judge(content)
		if verdict != none {
			m.count++
		}
		switch {
		case verdict == none:
		case verdict == misspelt:
			m.fault(at, "%q looks like a misspelled marker of statuspatcher: write // +%s", content, meantMarker(content))
		case block:
			m.fault(at, "a marker in a /* */ comment is not read: write // %s on a line of its own", content)
		case group.Pos() < file.Package:
			m.onPackage(content, at)
		case owners.owner[group] != nil:
			m.onType(owners.owner[group].Name.Name, content, at)
		case field != nil:
			m.onField(field, content, at)
		default:
			m.noEffect(content, at)
		}
	}
}

// meantMarker is the marker that a misspelled one was meant to be.
func meantMarker(content string) string {
	if name, _, _ := strings.Cut(content, "="); meansWriteOnce(name) {
		return writeOnceMarker
	}
	return fmt.Sprintf("%s=%t", generateMarker, !strings.HasSuffix(strings.ToLower(content), "false"))
}

// noEffect reports a marker in a place where nobody reads it.
func (m *marked) noEffect(text string, pos token.Pos) {
	if isOwner(text) {
		m.fault(pos, "%s has no effect here: move it above the type declaration of a kind", text)
		return
	}
	if name, _, _ := strings.Cut(text, "="); name == "+"+writeOnceMarker || meansWriteOnce(name) {
		m.fault(pos, "%s has no effect here: move it above a field of the status of a kind", text)
		return
	}
	m.fault(pos, "%s has no effect here: move it above the type declaration of a kind, or above the package clause for all kinds of the package", text)
}

func (m *marked) onPackage(text string, pos token.Pos) {
	switch generate, ok := m.value(text, pos, markers.DescribesPackage); {
	case !ok:
	case !generate:
		m.fault(pos, "%s has no effect on a package: remove it, or move it above a kind", text)
	default:
		m.pack = pos
	}
}

func (m *marked) onType(name, text string, pos token.Pos) {
	if isOwner(text) {
		m.owners[name] = append(m.owners[name], pos)
		return
	}
	generate, ok := m.value(text, pos, markers.DescribesType)
	if !ok {
		return
	}
	if before, twice := m.types[name]; twice && before.generate != generate {
		m.fault(pos, "%s contradicts the marker in line %d: remove one of the two", text, m.fset.Position(before.pos).Line)
		return
	}
	m.types[name] = request{generate: generate, pos: pos}
}

// value reads a marker.
func (m *marked) value(text string, pos token.Pos, target markers.TargetType) (generate, ok bool) {
	name, value, hasValue := strings.Cut(text, "=")
	if name == "+"+writeOnceMarker || meansWriteOnce(name) || isOwner(text) {
		m.noEffect(text, pos)
		return false, false
	}
	if name != "+"+generateMarker && meansGenerate(name) {
		m.fault(pos, "unknown marker %s: write // +%s=true, or =false above a kind", text, generateMarker)
		return false, false
	}
	if name != "+"+generateMarker {
		m.fault(pos, "unknown marker %s: the markers are // +%s, with the value true, or above a kind false, // +%s above a field, and // +%s above a kind: remove this line", text, generateMarker, writeOnceMarker, ownerMarker)
		return false, false
	}
	if !hasValue {
		m.fault(pos, "%s has no value: write %s=true", text, text)
		return false, false
	}
	parsed, err := m.registry.Lookup(text, target).Parse(text)
	if err != nil || value != "true" && value != "false" {
		m.fault(pos, "invalid value %q: write // +%s=true, or =false above a kind", value, generateMarker)
		return false, false
	}
	return parsed.(bool), true
}

// meansGenerate tells whether the name of a marker was meant to be generateMarker: but for up to three slips, or with
// the value behind something else than an equals sign, as in generate:true.
func meansGenerate(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t:.+", r) })
	if len(words) < 2 {
		return false
	}
	return distance(strings.Join(words, ""), strings.ReplaceAll(generateMarker, ":", "")) <= 3 || words[1] == "generate" && len(words) == 3
}

func (m *marked) fault(pos token.Pos, format string, args ...any) {
	m.faults.at(m.fset.Position(pos), format, args...)
}
