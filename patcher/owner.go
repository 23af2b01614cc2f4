package patcher

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An Owner is one of several controllers that share a status: what it writes, and what it decides on. Generated code declares one
// for each marker +statuspatcher:owner; nobody writes it by hand.
type Owner struct {
	// Name is what errors call the owner.
	Name string
	// Fields are the paths of the fields that it writes, in JSON names below the status, and Conditions the types of the conditions.
	Fields, Conditions []string
	// Entries are entries of lists that it writes, by the members that tell them apart: "parents[controllerName=example.com/gateway,parentRef]".
	// Without a value, the entries that it has changed are its own.
	Entries []string
	// Rebases tells that the owner declares what it reads. Otherwise the whole object is its decision, and nothing is rebased.
	Rebases bool
	// Reads are what it decides on beside its own fields: "status.plan", "status.conditions[Ready]", "finalizers" and
	// "ownerReferences".
	Reads []string
	// Ignores are what it does not decide on, of "labels", "annotations" and "spec".
	Ignores []string
}

// ownership is an Owner whose paths are resolved.
type ownership struct {
	*Owner
	fields  []ownedField
	entries []ownedEntries
	keys    map[*member][]*member
	reads   []read
	// ignored has the entries of Ignores.
	ignored map[string]bool
}

// An ownedField is a field that an owner writes, or reads.
type ownedField struct {
	path string
	onceField
}

// A read is something that an owner decides on and does not write.
type read struct {
	name      string
	field     *ownedField // of the status
	condition string      // or the type of a condition, or else metadata
}

func resolveOwner(kind string, status reflect.Type, root *shape, o *Owner) *ownership {
	out := &ownership{Owner: o, ignored: map[string]bool{}}
	for _, f := range onceFieldsOf(kind, status, root, o.Fields) {
		out.fields = append(out.fields, ownedField{f.path, f})
	}
	for _, text := range o.Entries {
		e := resolveEntries(kind, status, root, text)
		if out.keys == nil {
			out.keys = map[*member][]*member{}
		}
		out.entries, out.keys[e.list.member] = append(out.entries, e), e.keys
	}
	for _, name := range o.Reads {
		r := read{name: name}
		path, ofStatus := strings.CutPrefix(name, "status.")
		if condition, found := strings.CutPrefix(path, "conditions["); ofStatus && found {
			r.condition = strings.TrimSuffix(condition, "]")
		} else if ofStatus {
			f := onceFieldsOf(kind, status, root, []string{path})[0]
			r.field = &ownedField{f.path, f}
		}
		out.reads = append(out.reads, r)
	}
	for _, name := range o.Ignores {
		out.ignored[name] = true
	}
	return out
}

// sameIn reports whether the field has the same JSON in two statuses, and its parent exists in both or in neither.
func (f *ownedField) sameIn(a, b reflect.Value) bool {
	was, hadParent := f.in(a)
	is, parent := f.in(b)
	if hadParent != parent {
		return false
	}
	if !parent {
		return true
	}
	old, now := f.shown(was), f.shown(is)
	if !old.IsValid() || !now.IsValid() {
		return old.IsValid() == now.IsValid()
	}
	if f.member.shape.same(old, now) {
		return true
	}
	oldText, text, err := f.member.texts(old, now)
	return err == nil && bytes.Equal(oldText, text)
}

// shown is the value as it is in the JSON: not valid where it is left out.
func (f *ownedField) shown(v reflect.Value) reflect.Value {
	if !v.IsValid() || f.member.omitted != nil && f.member.omitted(v) {
		return reflect.Value{}
	}
	return v
}

// transplant gives the field in dst the value that it has in src. A parent that only src has is made; one that only dst has stays, and
// so does the field.
func (f *ownedField) transplant(dst, src reflect.Value) {
	value, parent := f.in(src)
	if !parent || !value.IsValid() {
		return
	}
	if _, exists := f.in(dst); !exists && !f.shown(value).IsValid() {
		return // nothing to write below a parent that does not exist
	}
	f.made(dst).Set(value)
}

// transplantOwned gives dst, which shares nothing, what the owner writes, as it is in src. It takes over memory of src. Base is what src
// was made of. Conditions and entries keep the order of dst, and new ones go last.
func (c *Client[T, S]) transplantOwned(o *ownership, dst, base, src *S) error {
	to, from := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	for i := range o.fields {
		o.fields[i].transplant(to, from)
	}
	for i := range o.entries {
		if err := o.entries[i].transplant(to, reflect.ValueOf(base).Elem(), from); err != nil {
			return err
		}
	}
	if len(o.Conditions) > 0 {
		c.transplantConditions(o, dst, src)
	}
	return nil
}

func (c *Client[T, S]) transplantConditions(o *ownership, dst, src *S) {
	wanted := c.kind.readConditions(src)
	present := c.kind.readConditions(dst)
	conditions := make([]metav1.Condition, 0, len(present)+len(o.Conditions))
	for _, condition := range present {
		if !o.ownsCondition(condition.Type) {
			conditions = append(conditions, condition)
		} else if mine := meta.FindStatusCondition(wanted, condition.Type); mine != nil {
			conditions = append(conditions, *mine)
		}
	}
	for _, condition := range wanted {
		if o.ownsCondition(condition.Type) && meta.FindStatusCondition(present, condition.Type) == nil {
			conditions = append(conditions, condition)
		}
	}
	if len(conditions) > 0 || len(present) > 0 {
		*c.kind.Conditions(c.kind.made(dst)) = conditions
	}
}

func (o *ownership) ownsCondition(conditionType string) bool {
	for _, own := range o.Conditions {
		if own == conditionType {
			return true
		}
	}
	return false
}

// checkOwned is a *NotOwnedError if base and status differ in more than what the owner writes.
func (c *Client[T, S]) checkOwned(key client.ObjectKey, base, status *S) error {
	mine := c.kind.statusCopy(base)
	if err := c.transplantOwned(c.owner, mine, base, c.kind.statusCopy(status)); err != nil {
		return fmt.Errorf("%s: owner %s: %w", c.describe(key), c.owner.Name, err)
	}
	foreign, err := c.diff(mine, status)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.describe(key), err)
	case foreign == nil:
		return nil
	}
	return &NotOwnedError{Kind: c.kind.Name, Key: key, Owner: c.owner.Name, Path: c.foreignPath(foreign, mine, status)}
}

// foreignPath names what a change would write that is not the owner's.
func (c *Client[T, S]) foreignPath(d *change[S], mine, status *S) string {
	path := changedPath(&d.status)
	if path == "conditions" {
		was, is := c.kind.readConditions(mine), c.kind.readConditions(status)
		for _, list := range [][2][]metav1.Condition{{is, was}, {was, is}} {
			for _, condition := range list[0] {
				if other := meta.FindStatusCondition(list[1], condition.Type); other == nil || !EqualCondition(&condition, other) {
					return "conditions[" + condition.Type + "]"
				}
			}
		}
	}
	return path
}

// changedPath leads to the first thing that a delta of the status changes.
func changedPath(d *delta) string {
	var names []string
	for d.object {
		next := -1
		for i := range d.members {
			if !d.members[i].travels {
				next = i
				break
			}
		}
		if next < 0 {
			break
		}
		d = &d.members[next]
		names = append(names, d.key[1:len(d.key)-len(`":`)])
	}
	return strings.Join(names, ".")
}
