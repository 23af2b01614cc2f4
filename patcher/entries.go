package patcher

import (
	"encoding/json"
	"reflect"
	"slices"
	"unicode/utf8"
)

// With PatchListEntries, a list whose entries have an identity is written entry by entry, so that the fields of other
// entries that the Go type does not know survive, and the request does not grow with the list.

// An entryDelta is what a write does to one entry of a list.
type entryDelta struct {
	op entryOp
	// index is where, when the operations before it are done.
	index int
	// test is the JSON of the identity of the entry that is there, which the server compares first; nil at the end of the
	// list, where none is.
	test []byte
	// tests are the JSON of each key, in a list of owners.
	tests [][]byte
	// members are what changes inside.
	members []delta
	// text is an entry that is added.
	text []byte
}

type entryOp int

const (
	changeEntry entryOp = iota
	removeEntry
	addEntry
)

// diffEntries compares two lists entry by entry. It reports !done where that cannot be said in operations on entries: an
// identity is missing or not unique, or entries changed places.
func (m *member) diffEntries(d *deltas, base, status reflect.Value) (done bool, err error) {
	identity := m.identity()
	if identity == nil {
		return false, nil
	}
	var roomOfWas, roomOfIs [smallRoster]string
	was, told := newRoster(identity, base, roomOfWas[:0])
	if !told {
		return false, nil
	}
	is, told := newRoster(identity, status, roomOfIs[:0])
	if !told {
		return false, nil
	}
	whole := delta{key: m.key, identity: identity, member: m, value: status}
	var removed []entryDelta
	last := -1
	for i, key := range was.keys {
		j := is.find(key, i)
		if j < 0 {
			removed = append(removed, entryDelta{op: removeEntry, index: i, test: quote(key)})
			continue
		}
		if j < last {
			return false, nil
		}
		last = j
		if err := m.diffEntry(d, &whole, i, key, base.Index(i), status.Index(j)); err != nil {
			return false, err
		}
	}
	slices.Reverse(removed)
	whole.entries = append(whole.entries, removed...)
	if err := m.addEntries(d, &whole, &was, &is, len(was.keys)-len(removed)); err != nil {
		return false, err
	}
	d.kept = true
	if whole.entries != nil {
		d.changed, d.entries = true, true
		d.add(whole)
	}
	return true, nil
}

func (m *member) identity() *member {
	if m.shape.elem.kind != object {
		return nil
	}
	if named := m.shape.elem.byName[m.mergeKey]; named != nil {
		return named
	}
	return m.shape.elem.identity
}

func (m *member) diffEntry(d *deltas, whole *delta, index int, key string, was, is reflect.Value) error {
	if m.shape.elem.same(was, is) {
		return nil
	}
	inner := deltas{walk: walk{byEntry: true, settled: true}, members: make([]delta, 0, 4)}
	err := m.shape.elem.diff(&inner, was, is, nil)
	if inner.changed {
		d.null = d.null || inner.null
		whole.entries = append(whole.entries, entryDelta{op: changeEntry, index: index, test: quote(key), members: inner.members})
	}
	return err
}

// addEntries inserts the entries that are new, in the order of the list, of which stayed are there when it begins.
func (m *member) addEntries(d *deltas, whole *delta, was, is *roster, stayed int) error {
	length := stayed
	for j, key := range is.keys {
		if was.find(key, j) >= 0 {
			continue
		}
		entry := member{shape: m.shape.elem}
		_, text, err := entry.texts(reflect.Value{}, whole.value.Index(j))
		if err != nil {
			return err
		}
		added := entryDelta{op: addEntry, index: j, text: text}
		if j < length {
			added.test = quote(is.nextOf(was, j))
		}
		d.null = d.null || hasNull(text)
		whole.entries = append(whole.entries, added)
		length++
	}
	return nil
}

// A roster has the identities of the entries of a list.
type roster struct {
	keys []string
	at   map[string]int
}

// smallRoster is how many keys are found without a map.
const smallRoster = 16

// newRoster reads the keys into room if that is large enough. It reports !told if an entry has no identity, or two entries
// have the same.
func newRoster(identity *member, list reflect.Value, room []string) (r roster, told bool) {
	r.keys = slices.Grow(room, list.Len())
	if list.Len() > smallRoster {
		r.at = make(map[string]int, list.Len())
	}
	for i := range list.Len() {
		v := identity.of(list.Index(i))
		if v.Kind() != reflect.String {
			return r, false
		}
		key := asStored(v.String())
		if r.find(key, -1) >= 0 {
			return r, false
		}
		r.keys = append(r.keys, key)
		if r.at != nil {
			r.at[key] = i
		}
	}
	return r, true
}

// find returns where the key is, or -1. It looks at hint first: most lists keep their order.
func (r *roster) find(key string, hint int) int {
	if hint >= 0 && hint < len(r.keys) && r.keys[hint] == key {
		return hint
	}
	if r.at == nil {
		return slices.Index(r.keys, key)
	}
	if i, ok := r.at[key]; ok {
		return i
	}
	return -1
}

// nextOf is the first key after i that the other roster has as well.
func (r *roster) nextOf(other *roster, i int) string {
	for _, key := range r.keys[i+1:] {
		if other.find(key, -1) >= 0 {
			return key
		}
	}
	return ""
}

// quote returns the text as encoding/json writes it.
func quote(text string) []byte {
	if isPlain(text) {
		quoted := make([]byte, 0, len(text)+2)
		quoted = append(quoted, '"')
		quoted = append(quoted, text...)
		return append(quoted, '"')
	}
	quoted, _ := json.Marshal(text) // a string always marshals
	return quoted
}

// isPlain reports whether encoding/json writes the text as it is, between quotes.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
