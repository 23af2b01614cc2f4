package patcher

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A jsonPatch is the second format of a write, under the same lock: its first operation replaces the resourceVersion by
// that of the base, which the API server takes as the precondition that it is. It stores null, and addresses one
// entry of a list; a merge patch can do neither.
//
// The server applies the operations before it checks the version. They therefore start at the deepest object that exists
// for sure, members are added, which replaces them as well, and the entry at an index is tested before it is changed.
type jsonPatch struct {
	body       []byte
	operations int
	path       []byte // as it stands in JSON
	// lean leaves out what only travels. If the server does lack it, a 422 is followed by a merge patch, which has it.
	lean bool
}

// maxOperations is far below the 10,000 at which the API server stops. What takes more is replaced whole.
const maxOperations = 1000

// smallList is the size in bytes up to which operations on a list are worth it even if the list itself is smaller: the
// fields that the Go type does not know survive.
const smallList = 4096

// lockedJSONPatch builds the request.
func lockedJSONPatch(resourceVersion string, status *delta, lean bool) (client.Patch, error) {
	p := &jsonPatch{body: make([]byte, 0, 512), path: make([]byte, 0, 128), lean: lean}
	p.body = append(p.body, '[')
	p.path = append(p.path, "/metadata/resourceVersion"...)
	p.operation("replace", quote(resourceVersion))
	p.path = p.path[:0]
	if err := p.member(status); err != nil {
		return nil, err
	}
	return client.RawPatch(types.JSONPatchType, append(p.body, ']')), nil
}

func (p *jsonPatch) operation(op string, value []byte) {
	if p.operations > 0 {
		p.body = append(p.body, ',')
	}
	p.operations++
	p.body = append(append(p.body, `{"op":"`...), op...)
	p.body = append(append(p.body, `","path":"`...), p.path...)
	p.body = append(p.body, '"')
	if value != nil {
		p.body = append(append(p.body, `,"value":`...), value...)
	}
	p.body = append(p.body, '}')
}

// escaped makes a step of a path of a name.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// step goes to a member, and returns the way back.
func (p *jsonPatch) step(key string) (back int) {
	back = len(p.path)
	name := key[1 : len(key)-len(`":`)] // quoted by encoding/json, which adds neither ~ nor /
	if strings.ContainsAny(name, "~/") {
		name = escaped.Replace(name)
	}
	p.path = append(append(p.path, '/'), name...)
	return back
}

func (p *jsonPatch) members(members []delta) error {
	for i := range members {
		if err := p.member(&members[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *jsonPatch) member(d *delta) error {
	if p.lean && d.travels {
		return nil
	}
	back := p.step(d.key)
	defer func() { p.path = p.path[:back] }()
	switch {
	case d.text != nil:
		p.operation("add", d.text)
	case d.entries != nil:
		return p.inParts(d, len(d.entries), func() error { return p.entries(d) })
	case d.object && d.proved:
		return p.inParts(d, 0, func() error { return p.members(d.members) })
	case d.object:
		_, whole, err := d.mergeInput()
		p.operation("add", whole)
		return err
	default:
		p.operation("remove", nil)
	}
	return nil
}

// inParts writes parts of a list, of a map or of free-form JSON, unless that takes too many operations, or more bytes than the list.
func (p *jsonPatch) inParts(d *delta, atLeast int, parts func() error) error {
	body, operations := len(p.body), p.operations
	replaceable := d.member != nil && d.keys == nil
	if !replaceable || atLeast <= maxOperations {
		if err := parts(); err != nil {
			return err
		}
	}
	few := atLeast <= maxOperations && p.operations-operations <= maxOperations
	if !replaceable || few && (d.entries == nil || len(p.body)-body <= smallList) {
		return nil
	}
	whole, err := d.wholeText()
	if err != nil || few && (d.entries == nil || len(p.body)-body <= len(whole)) {
		return err
	}
	p.body, p.operations = p.body[:body], operations
	p.operation("add", whole)
	return nil
}

func (p *jsonPatch) entries(d *delta) error {
	back := len(p.path)
	defer func() { p.path = p.path[:back] }()
	for i := range d.entries {
		e := &d.entries[i]
		p.path = p.path[:back]
		switch {
		case e.tests != nil:
			p.path = append(p.path, '/')
			p.path = strconv.AppendInt(p.path, int64(e.index), 10)
			for n, key := range d.keys {
				if e.tests[n] != nil {
					entry := p.step(key.key)
					p.operation("test", e.tests[n])
					p.path = p.path[:entry]
				}
			}
		case e.test == nil:
			p.path = append(p.path, "/-"...)
		default:
			p.path = append(p.path, '/')
			p.path = strconv.AppendInt(p.path, int64(e.index), 10)
			entry := p.step(d.identity.key)
			p.operation("test", e.test)
			p.path = p.path[:entry]
		}
		switch e.op {
		case changeEntry:
			if err := p.members(e.members); err != nil {
				return err
			}
		case removeEntry:
			p.operation("remove", nil)
		case addEntry:
			p.operation("add", e.text)
		}
	}
	return nil
}
