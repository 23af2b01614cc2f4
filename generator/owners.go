package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// ownerMarker declares one of several controllers that share a status.
const ownerMarker = "statuspatcher:owner"

func isOwner(text string) bool {
	return text == "+"+ownerMarker || strings.HasPrefix(text, "+"+ownerMarker+"=")
}

// An ownerDecl is what a marker says of an owner. Its fields are named as those of patcher.Owner.
type ownerDecl struct {
	Name               string
	Fields, Conditions []string
	Rebases            bool
	Reads, Ignores     []string
	Entries            []string
	pos                token.Pos
}

// writes reports whether the owner writes the field at a path, or something that it is in.
func (o ownerDecl) writes(path string) bool {
	return slices.ContainsFunc(o.Fields, func(f string) bool { return path == f || strings.HasPrefix(path, f+".") })
}

// prefixes are what the names of the clients and patchers of a kind start with.
func (k kind) prefixes() []string {
	out := []string{k.obj.Name()}
	for _, o := range k.owners {
		out = append(out, k.obj.Name()+upperFirst(o.Name))
	}
	return out
}

// withoutKind reports owners of types that no patcher is generated for.
func (m *marked) withoutKind(kinds map[string]token.Pos) {
	for name, positions := range m.owners {
		if _, ok := kinds[name]; ok {
			continue
		}
		for _, pos := range positions {
			m.fault(pos, "+%s has no effect on %s, for which no patcher is generated: add // +%s=true above the type, or remove the line", ownerMarker, name, generateMarker)
		}
	}
}

// owners reads the markers of a kind, and says what is wrong with them.
func (r *resolver) owners(k kind, marks []line) []ownerDecl {
	var out []ownerDecl
	for _, l := range marks {
		if !isOwner(l.text) {
			continue
		}
		f := &ownerFaults{resolver: r, line: l}
		o := f.parse()
		o.pos = l.pos
		f.check(k, o)
		f.overlaps(out, o)
		if !f.found {
			out = append(out, o)
		}
	}
	return out
}

// ownerFaults reads one marker.
type ownerFaults struct {
	*resolver
	line  line
	found bool
}

// at reports a fault at the place of a part of the marker.
func (f *ownerFaults) at(part, format string, args ...any) {
	f.found = true
	f.faults.at(f.fset.Position(f.line.pos+token.Pos(max(strings.Index(f.line.text, part), 0))), format, args...)
}

var ownerName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

const ownerForm = "+" + ownerMarker + "=NAME,fields=a;b.c,conditions=Ready,reads=status.x,ignores=labels"

func (f *ownerFaults) parse() (o ownerDecl) {
	_, value, _ := strings.Cut(f.line.text, "=")
	parts := splitOutside(value, ',')
	if o.Name = parts[0]; !ownerName.MatchString(o.Name) {
		f.at(f.line.text, "%s: an owner needs a name that starts with a small letter, and has letters and digits: write %s", f.line.text, ownerForm)
	}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		name, list, ok := strings.Cut(part, "=")
		values := splitOutside(list, ';')
		if !ok || slices.Contains(values, "") {
			f.at(part, "argument %q has no values: write %s", part, ownerForm)
			continue
		}
		if seen[name] {
			f.at(part, "the argument %s is there twice: separate its values by semicolons", name)
		}
		seen[name] = true
		switch name {
		case "fields":
			o.Fields = values
		case "conditions":
			o.Conditions = values
		case "entries":
			o.Entries = values
		case "reads":
			o.Rebases = true
			if list != "none" {
				o.Reads = values
			}
		case "ignores":
			o.Ignores = values
		default:
			f.at(part, "unknown argument %s: the arguments of an owner are fields, conditions, entries, reads and ignores", name)
		}
	}
	return o
}

// check compares what an owner declares with the kind.
func (f *ownerFaults) check(k kind, o ownerDecl) {
	if len(o.Fields)+len(o.Conditions)+len(o.Entries) == 0 && !f.found {
		f.at(f.line.text, "owner %s owns nothing: add fields=, conditions= or entries=", o.Name)
	}
	for _, text := range o.Entries {
		if fault := f.badEntries(k, text); fault != "" {
			f.at(text, "entries=%s: %s", text, fault)
		}
	}
	for _, path := range o.Fields {
		if fault := f.missing(k, path); fault != "" {
			f.at(path, "fields=%s: %s", path, fault)
		}
	}
	if len(o.Conditions) > 0 && !k.conditions {
		f.at("conditions=", "conditions=: the status of %s has no Conditions of type []metav1.Condition", k.obj.Name())
	}
	if len(o.Conditions) > 0 && o.writes("conditions") {
		f.at("conditions=", "owner %s owns the whole list with fields=conditions: remove one of the two", o.Name)
	}
	for _, name := range o.Reads {
		if fault := f.unreadable(k, name); fault != "" {
			f.at(name, "reads=%s: %s", name, fault)
		}
	}
	for _, name := range o.Ignores {
		if !slices.Contains([]string{"labels", "annotations", "spec"}, name) {
			f.at(name, "ignores=%s: what can be ignored is labels, annotations and spec", name)
		}
	}
	if len(o.Ignores) > 0 && !o.Rebases {
		f.at("ignores=", "ignores= means nothing without reads=, because then the whole object is the decision: declare what the owner reads, or reads=none")
	}
}

// unreadable says why a name cannot be in reads.
func (f *ownerFaults) unreadable(k kind, name string) string {
	path, ofStatus := strings.CutPrefix(name, "status.")
	condition, isCondition := strings.CutPrefix(path, "conditions[")
	switch {
	case name == "finalizers" || name == "ownerReferences":
		return ""
	case !ofStatus:
		return "what can be read is status.x, status.conditions[T], finalizers and ownerReferences; labels, annotations and the spec are always part of the decision"
	case isCondition && (!k.conditions || !strings.HasSuffix(condition, "]") || len(condition) < 2):
		return "write status.conditions[Ready], for a status with Conditions of type []metav1.Condition"
	case isCondition:
		return ""
	}
	return f.missing(k, path)
}

// badEntries says why a text does not name entries of a list: parents[controllerName=example.com/gateway,parentRef].
func (f *ownerFaults) badEntries(k kind, text string) string {
	path, keys, found := strings.Cut(text, "[")
	keys, closed := strings.CutSuffix(keys, "]")
	if !found || !closed || keys == "" {
		return "write the list and the members that tell its entries apart, as in parents[controllerName=example.com/gateway,parentRef]"
	}
	if fault := f.missing(k, path); fault != "" {
		return fault
	}
	list, ok := f.typeAt(k, path).Underlying().(*types.Slice)
	if !ok {
		return path + " is not a list: name it in fields="
	}
	entry, ok := types.Unalias(deref(list.Elem())).Underlying().(*types.Struct)
	if !ok {
		return "the entries of " + path + " are not objects: name the list in fields="
	}
	fields := jsonFieldsOf(entry)
	for _, key := range strings.Split(keys, ",") {
		name, value, fixed := strings.Cut(key, "=")
		t, ok := fields[name]
		switch {
		case !ok:
			return fmt.Sprintf("the entries of %s have no member %q in JSON: they have %s", path, name, strings.Join(sortedKeys(fields), ", "))
		case fixed && value == "":
			return fmt.Sprintf("key %s has an empty value: write one, or leave the equals sign out", name)
		case fixed && !isString(t):
			return fmt.Sprintf("key %s has a value, and is not a string: leave the value out", name)
		}
	}
	return ""
}

func isString(t types.Type) bool {
	basic, ok := types.Unalias(deref(t)).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// typeAt is the type of the field at a path that exists.
func (f *ownerFaults) typeAt(k kind, path string) types.Type {
	t := types.Type(k.status.Type())
	for _, name := range strings.Split(path, ".") {
		t = jsonFieldsOf(types.Unalias(deref(t)).Underlying().(*types.Struct))[name]
	}
	return types.Unalias(deref(t))
}

// splitOutside splits a text at a separator that is not in brackets.
func splitOutside(text string, separator byte) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '[':
			depth++
		case text[i] == ']':
			depth--
		case text[i] == separator && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// lists are the paths of the lists that the owner has entries of, and their texts.
func (o ownerDecl) lists() map[string]string {
	out := map[string]string{}
	for _, text := range o.Entries {
		path, _, _ := strings.Cut(text, "[")
		out[path] = text
	}
	return out
}

// fixedValue reports whether a text of entries has a value for one of its keys.
func fixedValue(text string) bool {
	_, keys, _ := strings.Cut(text, "[")
	return strings.Contains(keys, "=")
}

// missing says why a path does not lead to a field of the status.
func (f *ownerFaults) missing(k kind, path string) string {
	t, in := k.status.Type(), k.status.Name()
	for _, name := range strings.Split(path, ".") {
		s, ok := types.Unalias(deref(t)).Underlying().(*types.Struct)
		if !ok {
			return fmt.Sprintf("%s is not an object, so nothing in it can be named: name %s itself", in, in)
		}
		fields := jsonFieldsOf(s)
		next, ok := fields[name]
		if !ok {
			return fmt.Sprintf("%s has no field %q in JSON: it has %s", in, name, strings.Join(sortedKeys(fields), ", "))
		}
		t, in = next, name
	}
	return ""
}

// jsonFieldsOf are the fields of a struct by their JSON names, those of embedded structs included.
func jsonFieldsOf(s *types.Struct) map[string]types.Type {
	out := map[string]types.Type{}
	for i := range s.NumFields() {
		field, tag := s.Field(i), jsonTag(s.Tag(i))
		if tag.forgotten {
			continue
		}
		if inner, ok := types.Unalias(deref(field.Type())).Underlying().(*types.Struct); ok && field.Embedded() && tag.name == "" {
			for name, t := range jsonFieldsOf(inner) {
				if _, hidden := out[name]; !hidden {
					out[name] = t
				}
			}
			continue
		}
		if name := tag.name; name != "" {
			out[name] = field.Type()
		} else if field.Exported() {
			out[field.Name()] = field.Type()
		}
	}
	return out
}

// overlaps reports what two owners would both write.
func (f *ownerFaults) overlaps(others []ownerDecl, o ownerDecl) {
	for i, path := range o.Fields {
		for _, other := range o.Fields[:i] {
			if related(path, other) {
				f.at(path, "fields=: owner %s has %s and %s, of which one is a part of the other: name one of them", o.Name, other, path)
			}
		}
	}
	for _, other := range others {
		at := f.fset.Position(other.pos).Line
		if strings.EqualFold(other.Name, o.Name) {
			f.at(o.Name, "owner %s is declared twice, the first time in line %d: write one line for each owner", o.Name, at)
			continue
		}
		for _, path := range o.Fields {
			for _, theirs := range other.Fields {
				if related(path, theirs) {
					f.at(path, "status.%s would belong to owner %s, and status.%s to owner %s in line %d: a field has one owner", path, o.Name, theirs, other.Name, at)
				}
			}
		}
		f.overlappingEntries(o, other, at)
		f.overlappingEntries(other, o, at)
		for path, text := range o.lists() {
			if theirs, both := other.lists()[path]; both && (!fixedValue(text) || !fixedValue(theirs) || text == theirs) {
				f.at(text, "entries of status.%s would belong to owner %s, and to owner %s in line %d: give one of the keys the value that each owner's entries have, as in controllerName=example.com/gateway", path, o.Name, other.Name, at)
			}
		}
		for _, condition := range o.Conditions {
			if slices.Contains(other.Conditions, condition) || other.writes("conditions") {
				f.at(condition, "condition %s would belong to owner %s, and to owner %s in line %d: a condition has one owner", condition, o.Name, other.Name, at)
			}
		}
		if o.writes("conditions") && len(other.Conditions) > 0 {
			f.at("conditions", "status.conditions would belong to owner %s, and some of it to owner %s in line %d: name the conditions of each", o.Name, other.Name, at)
		}
	}
}

// overlappingEntries reports entries of a list that another owner has as a whole.
func (f *ownerFaults) overlappingEntries(one, other ownerDecl, at int) {
	for path := range one.lists() {
		for _, field := range other.Fields {
			if related(path, field) {
				f.at(path, "status.%s would belong to owner %s as a whole, and entries of it to owner %s, in line %d and in this one: a list is shared by entries of each, or has one owner", field, other.Name, one.Name, at)
			}
		}
	}
}

// related reports whether two paths are the same, or one leads to a part of what the other leads to.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}
