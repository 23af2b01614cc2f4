package patcher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A change is the difference between the base and a status, as the API server will see it.
type change[S any] struct {
	// sent is the status as it is sent: a shallow copy, with its conditions normalised.
	sent S
	// base and status are the JSON of both, as text or as trees, without what is equal.
	base, status any
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

	trimmedBase, trimmedStatus := *base, d.sent
	c.kind.Trim(&trimmedBase, &trimmedStatus)
	trimmedBaseValue, trimmedStatusValue := reflect.ValueOf(&trimmedBase).Elem(), reflect.ValueOf(&trimmedStatus).Elem()
	c.hiding.untrim(reflect.ValueOf(base).Elem(), reflect.ValueOf(&d.sent).Elem(), trimmedBaseValue, trimmedStatusValue)
	if text, ok := c.texts.diff(trimmedBaseValue, trimmedStatusValue); ok {
		return d.ofTexts(text), nil
	}
	return c.changeOfTrees(d, &trimmedBase, &trimmedStatus)
}

func (d *change[S]) ofTexts(text textDiff) *change[S] {
	if !text.changed {
		return nil
	}
	if text.base != nil {
		d.base = text.base
	}
	d.status = orEmpty(text.status)
	return d
}

// changeOfTrees finds out what takes a look into the JSON: required fields in objects, raw JSON, nulls, fractions.
func (c *Client[T, S]) changeOfTrees(d *change[S], base, status *S) (*change[S], error) {
	var err error
	if d.base, err = c.tree(base); err != nil {
		return nil, err
	}
	if d.status, err = c.tree(status); err != nil {
		return nil, err
	}
	dropUnstorable(d.base, d.status)
	if reflect.DeepEqual(d.base, d.status) {
		return nil, nil
	}
	c.fields.dropZeros(d.base, d.status)
	return d, nil
}

// patch is the request that carries the change, locked to resourceVersion.
func (d *change[S]) patch(resourceVersion string) (client.Patch, error) {
	return lockedStatusPatch(resourceVersion, d.base, d.status)
}

// tree is the JSON of a status as maps, lists and json.Numbers, which keep every digit of an int64. Any other number is
// spelled as the server will: it keeps int64 and float64, so that the 1.0 of raw JSON comes back as 1, and text against
// text the same value would be sent for ever.
func (c *Client[T, S]) tree(status *S) (any, error) {
	data, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("marshalling the status of a %s: %w", c.kind.Name, err)
	}
	tree, err := decodeTree(data)
	if err != nil {
		return nil, fmt.Errorf("reading back the status of a %s: %w", c.kind.Name, err)
	}
	c.fields.fillEmpty(tree)
	return tree, nil
}

func decodeTree(data []byte) (tree any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err = decoder.Decode(&tree); err == nil {
		tree = spellNumbers(tree)
	}
	return tree, err
}

// spellNumbers changes maps and lists in place.
func spellNumbers(tree any) any {
	switch value := tree.(type) {
	case json.Number:
		return spell(value)
	case map[string]any:
		for key, v := range value {
			if spelled := spellNumbers(v); isNumber(v) && spelled != v {
				value[key] = spelled
			}
		}
	case []any:
		for i, v := range value {
			value[i] = spellNumbers(v)
		}
	}
	return tree
}

func isNumber(value any) bool {
	_, ok := value.(json.Number)
	return ok
}

func spell(number json.Number) json.Number {
	if i, err := number.Int64(); err == nil {
		if i == 0 {
			return "0" // it may have been -0
		}
		return number
	}
	f, err := number.Float64()
	if err != nil {
		return number
	}
	text, err := json.Marshal(f)
	if err != nil {
		return number
	}
	if string(text) == "-0" {
		return "0"
	}
	return json.Number(text)
}

// dropUnstorable removes the nulls that a merge patch cannot store, since null means delete to it: a null in status is
// the same as an absent key. Otherwise each reconcile would send it again, and the server would drop it again.
func dropUnstorable(base, status any) {
	b, isObject := base.(map[string]any)
	s, too := status.(map[string]any)
	if !isObject || !too {
		dropNulls(status)
		return
	}
	for key, value := range s {
		old, inBase := b[key]
		switch {
		case value == nil:
			delete(s, key)
			if inBase && old == nil {
				delete(b, key)
			}
		case inBase && isList(value) && isList(old):
			dropNulls(value)
			dropNulls(old)
		default:
			dropUnstorable(old, value)
		}
	}
}

func isList(value any) bool {
	_, ok := value.([]any)
	return ok
}

// dropNulls drops them from the objects in lists too, as the server does.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			if v == nil {
				delete(value, key)
			} else {
				dropNulls(v)
			}
		}
	case []any:
		for _, v := range value {
			dropNulls(v)
		}
	}
}

// equalStatus reports whether there is nothing to send between base and status.
func (c *Client[T, S]) equalStatus(base, status *S) (bool, error) {
	d, err := c.diff(base, status)
	return d == nil, err
}
