package patcher

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Entries of a list that several owners share are identified by one member or several, compared as JSON, whether or not the CRD declares
// the list as a map.

// ownedEntries are the entries of one list that an owner writes.
type ownedEntries struct {
	list ownedField
	keys []*member
	// values are the JSON of the keys that the owner's entries have; nil where any value will do.
	values [][]byte
}

// resolveEntries reads "parents[controllerName=example.com/gateway,parentRef]".
func resolveEntries(kind string, status reflect.Type, root *shape, text string) ownedEntries {
	path, keys, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	f := onceFieldsOf(kind, status, root, []string{path})[0]
	e := ownedEntries{list: ownedField{f.path, f}}
	for _, key := range strings.Split(keys, ",") {
		name, value, fixed := strings.Cut(key, "=")
		m := f.member.shape.elem.byName[name]
		if m == nil {
			panic(fmt.Sprintf("statuspatcher: the entries of status.%s of %s have no %s: run statuspatcher-gen again", path, kind, name))
		}
		e.keys = append(e.keys, m)
		if e.values = append(e.values, nil); fixed {
			e.values[len(e.values)-1] = quote(value)
		}
	}
	return e
}

// list is the list in a status; not valid if there is none.
func (e *ownedEntries) in(status reflect.Value) reflect.Value {
	v, _ := e.list.in(status)
	return indirect(v)
}

// A keyring has the keys of the entries of a list, in their order. A key that is there twice is numbered.
type keyring struct {
	keys  []string
	texts [][][]byte
	twice map[string]bool
}

// keyringOf reads the keys of the entries.
func keyringOf(keys []*member, list reflect.Value) (keyring, error) {
	r := keyring{twice: map[string]bool{}}
	if !list.IsValid() {
		return r, nil
	}
	seen := map[string]int{}
	for i := range list.Len() {
		texts := make([][]byte, len(keys))
		for n, key := range keys {
			_, text, err := key.texts(reflect.Value{}, key.of(list.Index(i)))
			if err != nil {
				return r, err
			}
			texts[n] = text
		}
		key := string(bytes.Join(texts, []byte{0}))
		if seen[key]++; seen[key] > 1 {
			r.twice[key] = true
			key = fmt.Sprint(key, "\x00", seen[key])
			r.twice[key] = true
		}
		r.keys, r.texts = append(r.keys, key), append(r.texts, texts)
	}
	return r, nil
}

// matches reports whether an entry with these keys has the values that the owner's entries have.
func (e *ownedEntries) matches(texts [][]byte) bool {
	for n, value := range e.values {
		if value != nil && !bytes.Equal(value, texts[n]) {
			return false
		}
	}
	return true
}

// fixed reports whether a value says which entries are the owner's. Otherwise they are those that it has changed.
func (e *ownedEntries) fixed() bool {
	return slices.ContainsFunc(e.values, func(v []byte) bool { return v != nil })
}

// mine returns the keys of the entries in base and in wanted that are the owner's.
func (e *ownedEntries) mine(base, wanted reflect.Value) (map[string]bool, error) {
	was, err := keyringOf(e.keys, base)
	if err != nil {
		return nil, err
	}
	is, err := keyringOf(e.keys, wanted)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i, key := range was.keys {
		j := slices.Index(is.keys, key)
		if e.matches(was.texts[i]) && (e.fixed() || j < 0 || !e.sameEntry(base.Index(i), wanted.Index(j))) {
			own[key] = true
		}
	}
	for j, key := range is.keys {
		if e.matches(is.texts[j]) && (e.fixed() || slices.Index(was.keys, key) < 0) {
			own[key] = true
		}
	}
	for key := range own {
		if was.twice[key] || is.twice[key] {
			return nil, e.twice(key)
		}
	}
	return own, nil
}

func (e *ownedEntries) twice(key string) error {
	return fmt.Errorf("status.%s has two entries with the same keys %s, of which none can be told to be the owner's: remove one of them",
		e.list.path, strings.ReplaceAll(key, "\x00", ", "))
}

func (e *ownedEntries) sameEntry(a, b reflect.Value) bool {
	entry := member{shape: e.list.member.shape.elem}
	if entry.shape.same(a, b) {
		return true
	}
	was, is, err := entry.texts(a, b)
	return err == nil && bytes.Equal(was, is)
}

// transplant gives the list in dst the owner's entries of src, of which base says which they are. Entries keep their order, and new ones
// go last.
func (e *ownedEntries) transplant(dst, base, src reflect.Value) error {
	wanted, present := e.in(src), e.in(dst)
	own, err := e.mine(e.in(base), wanted)
	if err != nil || len(own) == 0 {
		return err
	}
	is, err := keyringOf(e.keys, wanted)
	if err != nil {
		return err
	}
	there, err := keyringOf(e.keys, present)
	if err != nil {
		return err
	}
	out := reflect.MakeSlice(e.list.member.typeIn(e.list.made(dst)), 0, len(is.keys)+len(there.keys))
	for i, key := range there.keys {
		switch j := slices.Index(is.keys, key); {
		case !own[key]:
			out = reflect.Append(out, present.Index(i))
		case there.twice[key]:
			return e.twice(key)
		case j >= 0:
			out = reflect.Append(out, wanted.Index(j))
		}
	}
	for j, key := range is.keys {
		if own[key] && !slices.Contains(there.keys, key) {
			out = reflect.Append(out, wanted.Index(j))
		}
	}
	list := e.list.made(dst)
	for list.Kind() == reflect.Pointer {
		list = list.Elem()
	}
	list.Set(out)
	return nil
}

// typeIn is the type of a list that may be behind a pointer, which is made.
func (m *member) typeIn(list reflect.Value) reflect.Type {
	for list.Kind() == reflect.Pointer {
		if list.IsNil() {
			list.Set(reflect.New(list.Type().Elem()))
		}
		list = list.Elem()
	}
	return list.Type()
}

// sameIn reports whether the owner's entries are the same in the base and live: those that are wanted, or were there.
func (e *ownedEntries) sameIn(base, wanted, live reflect.Value) (bool, error) {
	own, err := e.mine(e.in(base), e.in(wanted))
	if err != nil {
		return false, err
	}
	was, err := keyringOf(e.keys, e.in(base))
	if err != nil {
		return false, err
	}
	is, err := keyringOf(e.keys, e.in(live))
	if err != nil {
		return false, err
	}
	for j, key := range is.keys {
		if e.fixed() && e.matches(is.texts[j]) {
			own[key] = true // another replica may have added one
		}
	}
	for key := range own {
		i, j := slices.Index(was.keys, key), slices.Index(is.keys, key)
		if is.twice[key] {
			return false, e.twice(key)
		}
		if (i < 0) != (j < 0) || i >= 0 && !e.sameEntry(e.in(base).Index(i), e.in(live).Index(j)) {
			return false, nil
		}
	}
	return true, nil
}

// diffKeyed compares two lists entry by entry, by those keys. It is for lists of owners, in which entries do not change places.
func (m *member) diffKeyed(d *deltas, keys []*member, base, status reflect.Value) (done bool, err error) {
	was, err := keyringOf(keys, base)
	if err != nil {
		return false, err
	}
	is, err := keyringOf(keys, status)
	if err != nil {
		return false, err
	}
	whole := delta{key: m.key, keys: keys, member: m, value: status}
	var removed []entryDelta
	last := -1
	for i, key := range was.keys {
		j := slices.Index(is.keys, key)
		if j < 0 {
			removed = append(removed, entryDelta{op: removeEntry, index: i, tests: was.texts[i]})
			continue
		}
		if j < last {
			return false, nil
		}
		last = j
		if m.shape.elem.same(base.Index(i), status.Index(j)) {
			continue
		}
		inner := deltas{walk: walk{byEntry: true, settled: true}}
		if err := m.shape.elem.diff(&inner, base.Index(i), status.Index(j), nil); err != nil {
			return false, err
		}
		if inner.changed {
			d.null = d.null || inner.null
			whole.entries = append(whole.entries, entryDelta{op: changeEntry, index: i, tests: was.texts[i], members: inner.members})
		}
	}
	slices.Reverse(removed)
	whole.entries = append(whole.entries, removed...)
	for j, key := range is.keys {
		if slices.Contains(was.keys, key) {
			continue
		}
		if j < last {
			return false, nil
		}
		entry := member{shape: m.shape.elem}
		_, text, err := entry.texts(reflect.Value{}, status.Index(j))
		if err != nil {
			return false, err
		}
		d.null = d.null || hasNull(text)
		whole.entries = append(whole.entries, entryDelta{op: addEntry, text: text})
	}
	d.kept = true
	if whole.entries != nil {
		d.changed, d.entries, d.keyed = true, true, true
		d.add(whole)
	}
	return true, nil
}
