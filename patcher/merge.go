package patcher

import "encoding/json"

// mergeInput returns two values that differ in what the delta does, and in nothing else: what MergeFrom makes a patch of.
// What is nil is not in the object.
func (d *delta) mergeInput() (base, status json.RawMessage, err error) {
	switch {
	case d.text != nil:
		return nil, d.text, nil
	case d.entries != nil:
		status, err = d.wholeText()
		return nil, status, err
	case !d.object:
		return emptyObject, nil, nil
	}
	base, status, err = mergeMembers(d.members)
	if base = orEmpty(base); !d.proved {
		base = nil
	}
	return base, orEmpty(status), err
}

func mergeMembers(members []delta) (base, status json.RawMessage, err error) {
	for i := range members {
		m := &members[i]
		b, s, err := m.mergeInput()
		if err != nil {
			return nil, nil, err
		}
		if b != nil {
			base = appendMember(base, m.key, b)
		}
		if s != nil {
			status = appendMember(status, m.key, s)
		}
	}
	return base, status, nil
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
