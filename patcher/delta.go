package patcher

import (
	"encoding/json"
	"reflect"
)

// A delta is what a write does to one member of an object on the server.
type delta struct {
	key string // as it stands in JSON, with quotes and colon
	// text is the new value. A delta with none of text, object and entries removes the member.
	text json.RawMessage
	// object: the write goes into an object, and members say what it does there.
	object  bool
	members []delta
	// proved: the object exists on the server for sure. Of a struct that is zero the Go value cannot tell, and members
	// then have all that it has.
	proved bool
	// travels: nothing changes. It is sent in case the server does not have it.
	travels bool
	// entries are what the write does to the entries of a list that stays.
	entries  []entryDelta
	identity *member
	// keys are what tells the entries apart in a list of owners, which is never replaced whole.
	keys []*member
	// member and value are where the text comes from, for a list, a map and free-form JSON that are written in parts.
	member *member
	value  reflect.Value
}

// deltas are those of one object.
type deltas struct {
	walk
	members []delta
	found
}

// A walk says how to compare.
type walk struct {
	// byEntry: lists whose entries have an identity are written entry by entry.
	byEntry bool
	// keys are what tells the entries of a list apart that owners share.
	keys map[*member][]*member
	// settled: the object is an entry that was on the server whole, so zeros need not travel.
	settled bool
}

// found is what is known of an object after the walk.
type found struct {
	// changed: there is more than what must travel with any write.
	changed bool
	// kept: something of the base is on the server for sure.
	kept bool
	// null: the write stores a null, which a merge patch cannot do.
	null bool
	// entries: the write changes entries of lists.
	entries bool
	// keyed: some of them are of a list that owners share.
	keyed bool
	// whole: what changes is in an object of which it is not known whether it exists, and which is therefore sent whole.
	whole bool
}

func (d *deltas) add(m delta) { d.members = append(d.members, m) }

func (d *deltas) addText(key string, text []byte, travels bool) {
	d.null = d.null || hasNull(text)
	d.add(delta{key: key, text: text, travels: travels})
}

// addObject adds what happens inside an object.
func (d *deltas) addObject(m delta, inner deltas) {
	d.changed = d.changed || inner.changed
	d.kept = d.kept || m.proved
	if m.proved && len(inner.members) == 0 {
		return
	}
	d.null = d.null || inner.null
	d.entries = d.entries || inner.entries
	d.keyed = d.keyed || inner.keyed
	d.whole = d.whole || inner.whole || inner.changed && !m.proved
	m.object, m.members, m.travels = true, inner.members, !inner.changed
	d.add(m)
}

// wholeText is the new value of what the delta writes in parts.
func (d *delta) wholeText() (json.RawMessage, error) {
	_, text, err := d.member.texts(reflect.Value{}, d.value)
	return text, err
}

// hasNullInLists reports whether a list that the delta writes by its entries would hold a null if it was written whole.
func (d *delta) hasNullInLists() (bool, error) {
	if d.entries != nil {
		whole, err := d.wholeText()
		return hasNull(whole), err
	}
	for i := range d.members {
		if has, err := d.members[i].hasNullInLists(); has || err != nil {
			return has, err
		}
	}
	return false, nil
}
