package patcher

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A jsonField is one field of a struct as encoding/json sees it: perhaps promoted from an embedded struct.
type jsonField struct {
	name   string
	tagged bool // the name comes from the tag
	index  []int
	t      reflect.Type

	omitEmpty, omitZero, quoted bool
	mergeKey                    string
}

// jsonFields returns the fields that encoding/json marshals, in the order of the struct. It follows the same rules: an
// embedded struct without a name lends its fields, the shallowest field of a name hides the others, a tagged one wins
// among equals, and what remains ambiguous has no JSON.
func jsonFields(t reflect.Type) []jsonField {
	type level struct {
		t     reflect.Type
		index []int
	}
	var found []jsonField
	visited := map[reflect.Type]bool{}
	next, nextCount := []level{{t: t}}, map[reflect.Type]int{}
	for len(next) > 0 {
		current, count := next, nextCount
		next, nextCount = nil, map[reflect.Type]int{}
		for _, l := range current {
			if visited[l.t] {
				continue
			}
			visited[l.t] = true
			for i := range l.t.NumField() {
				sf := l.t.Field(i)
				f, ok := parseField(sf)
				if !ok {
					continue
				}
				f.index = append(slices.Clone(l.index), i)
				inner := pointee(sf.Type)
				if f.tagged || !sf.Anonymous || inner.Kind() != reflect.Struct {
					found = append(found, f)
					if count[l.t] > 1 { // embedded twice on this level: both copies hide each other
						found = append(found, f)
					}
					continue
				}
				if nextCount[inner]++; nextCount[inner] == 1 {
					next = append(next, level{inner, f.index})
				}
			}
		}
	}
	return dominant(found)
}

// parseField reads the tag. It reports !ok for a field that encoding/json ignores.
func parseField(sf reflect.StructField) (f jsonField, ok bool) {
	tag := sf.Tag.Get("json")
	if tag == "-" || !sf.IsExported() && !(sf.Anonymous && isStruct(sf.Type)) {
		return f, false
	}
	name, options, _ := strings.Cut(tag, ",")
	f = jsonField{name: name, tagged: validName(name), t: sf.Type, mergeKey: sf.Tag.Get("patchMergeKey")}
	if !f.tagged {
		f.name = sf.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			f.quoted = canQuote(pointee(sf.Type))
		}
	}
	return f, true
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// pointee follows one pointer, unless a defined type is one.
func pointee(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// validName reports whether encoding/json takes the name of a tag; otherwise it uses the name of the field.
func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func canQuote(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Uintptr,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

// dominant keeps one field of each name, or none where two are equally good.
func dominant(fields []jsonField) []jsonField {
	byRank := func(a, b jsonField) int {
		if c := cmp.Compare(len(a.index), len(b.index)); c != 0 || a.tagged == b.tagged {
			return c
		}
		if a.tagged {
			return -1
		}
		return 1
	}
	slices.SortStableFunc(fields, func(a, b jsonField) int {
		return cmp.Or(cmp.Compare(a.name, b.name), byRank(a, b))
	})
	var kept []jsonField
	for i := 0; i < len(fields); {
		end := i + 1
		for end < len(fields) && fields[end].name == fields[i].name {
			end++
		}
		if end == i+1 || byRank(fields[i], fields[i+1]) != 0 {
			kept = append(kept, fields[i])
		}
		i = end
	}
	slices.SortFunc(kept, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	return kept
}
