package patcher

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A change is the difference between the base and a status, as the API server will see it.
type change[S any] struct {
	// sent is the status as it is sent: a shallow copy, with its conditions normalised.
	sent S
	// status is what the write does to the member of that name, and found what is known of it.
	status delta
	found  found
}

// diff decides whether status differs from base; nil means that there is nothing to send. Every decision of the patcher
// comes from here: typed equality first, and where that says different, the JSON, in which times have seconds and an
// empty list that is omitted is no list.
func (c *Client[T, S]) diff(base, status *S) (*change[S], error) {
	if c.kind.Equal(base, status) {
		return nil, nil
	}
	return c.change(base, status)
}

// change is diff where typed equality has said different.
func (c *Client[T, S]) change(base, status *S) (*change[S], error) {
	d := &change[S]{sent: *status}
	c.normaliseConditions(base, &d.sent)
	root, err := c.deltas(base, &d.sent)
	switch {
	case err != nil:
		return nil, fmt.Errorf("comparing the JSON of two statuses of a %s: %w", c.kind.Name, err)
	case !root.changed:
		return nil, nil
	}
	d.status, d.found = root.members[0], root.found
	if d.found.entries && d.found.whole && !d.found.null { // lists will be written whole, so with what is null in them
		d.found.null, err = d.status.hasNullInLists()
	}
	return d, err
}

// deltas has one member, the status, unless base and status are the same.
func (c *Client[T, S]) deltas(base, status *S) (d deltas, err error) {
	d.byEntry = c.options.listEntries
	if c.owner != nil {
		d.keys = c.owner.keys
	}
	root := member{key: `"status":`, shape: c.shape, required: true}
	was, is := reflect.ValueOf(base).Elem(), reflect.ValueOf(status).Elem()
	if c.shape.kind != object || was.Kind() == reflect.Pointer {
		return d, root.diff(&d, was, is)
	}
	inner := deltas{walk: d.walk}
	err = c.shape.diff(&inner, was, is, c.equalMembers(base, status))
	d.addObject(delta{key: root.key, proved: inner.kept}, inner)
	return d, err
}

// equalMembers asks the generated Trim, whose typed equality is faster than any reflection, which members are equal.
func (c *Client[T, S]) equalMembers(base, status *S) func(*member) bool {
	trimmed := &struct{ base, status S }{*base, *status}
	c.kind.Trim(&trimmed.base, &trimmed.status)
	was, is := reflect.ValueOf(&trimmed.base).Elem(), reflect.ValueOf(&trimmed.status).Elem()
	return func(m *member) bool {
		return !m.required && len(m.index) == 1 && was.Field(m.index[0]).IsZero() && is.Field(m.index[0]).IsZero()
	}
}

// asJSONPatch reports whether the change is written as a JSON patch: where a merge patch cannot express it, and for
// entries of lists. For those alone no object is replaced that may have fields that the Go type does not know.
func (d *change[S]) asJSONPatch() bool {
	return d.found.null || d.found.keyed || d.found.entries && !d.found.whole
}

// patch is the request that carries the change, locked to resourceVersion.
func (d *change[S]) patch(resourceVersion string) (client.Patch, error) {
	if d.asJSONPatch() {
		return lockedJSONPatch(resourceVersion, &d.status, !d.found.null)
	}
	return d.mergePatch(resourceVersion)
}

// fullPatch is the request that also has what a lean JSON patch leaves out: a merge patch, if that can express the change.
func (d *change[S]) fullPatch(resourceVersion string) (client.Patch, error) {
	nulls, err := d.status.hasNullInLists()
	switch {
	case err != nil:
		return nil, err
	case nulls || d.found.keyed: // a merge patch would replace the entries of other owners
		return lockedJSONPatch(resourceVersion, &d.status, false)
	}
	return d.mergePatch(resourceVersion)
}

func (d *change[S]) mergePatch(resourceVersion string) (client.Patch, error) {
	base, status, err := d.status.mergeInput()
	if err != nil {
		return nil, err
	}
	return lockedStatusPatch(resourceVersion, base, status)
}

// equalStatus reports whether there is nothing to send between base and status.
func (c *Client[T, S]) equalStatus(base, status *S) (bool, error) {
	d, err := c.diff(base, status)
	return d == nil, err
}
