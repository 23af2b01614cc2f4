package patcher

import "encoding/json"

// mergeInput returns two values that differ in what the delta does, and in nothing else: what MergeFrom makes a patch of.
// What is nil is not in the object.
func (d *delta) mergeInput() (base, status json.RawMessage) {
	switch {
	case d.text != nil:
		return nil, d.text
	case !d.object:
		return emptyObject, nil
	}
	b, s := mergeMembers(d.members)
	if d.proved {
		base = orEmpty(b)
	}
	return base, orEmpty(s)
}

func mergeMembers(members []delta) (base, status json.RawMessage) {
	for i := range members {
		m := &members[i]
		b, s := m.mergeInput()
		if b != nil {
			base = appendMember(base, m.key, b)
		}
		if s != nil {
			status = appendMember(status, m.key, s)
		}
	}
	return base, status
}

var emptyObject = json.RawMessage("{}")

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return emptyObject
	}
	return object
}

func appendMember(object json.RawMessage, key string, value []byte) json.RawMessage {
	if object == nil {
		object = make(json.RawMessage, 0, len(key)+len(value)+2)
		object = append(object, '{')
	} else {
		object[len(object)-1] = ','
	}
	object = append(object, key...)
	object = append(object, value...)
	return append(object, '}')
}
