package sim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// operation is one request. What it takes from earlier answers (a whole object, a resourceVersion, a UID) is named by
// the index of the answer, for the two servers answer with different ones.
type operation struct {
	method      string
	path        string
	contentType string
	content     any // marshalled, unless from an answer

	object  int // the answer whose object is sent back, changed by edit; -1 for none
	edit    map[string]any
	version int    // the answer whose resourceVersion is put in; -1 for none, -2 drops it
	uid     int    // likewise
	where   string // "metadata" or "preconditions": where version and uid go
}

func (o operation) text() string {
	content, _ := json.Marshal(o.content)
	edit, _ := json.Marshal(o.edit)
	return fmt.Sprintf("%s %s %s %s object=%d edit=%s version=%d uid=%d", o.method, o.path, o.contentType, content, o.object, edit, o.version, o.uid)
}

func (s *side) body(op operation) ([]byte, error) {
	content := op.content
	if op.object >= 0 && op.object < len(s.seen) && s.seen[op.object] != nil {
		object := clone(s.seen[op.object]).(map[string]any)
		overlay(object, op.edit)
		content = object
	} else if op.object >= 0 {
		content = op.edit
	}
	if content == nil {
		return nil, nil
	}
	if fields, ok := content.(map[string]any); ok && (op.version != -1 || op.uid != -1) {
		fields = clone(fields).(map[string]any)
		s.identify(op, fields)
		content = fields
	}
	return json.Marshal(content)
}

func (s *side) identify(op operation, fields map[string]any) {
	target, ok := fields[op.where].(map[string]any)
	if !ok {
		target = map[string]any{}
		fields[op.where] = target
	}
	for name, index := range map[string]int{"resourceVersion": op.version, "uid": op.uid} {
		if index == -2 {
			delete(target, name)
		} else if index >= 0 && index < len(s.seen) && s.seen[index] != nil {
			target[name] = s.seen[index]["metadata"].(map[string]any)[name]
		}
	}
}

// clone copies by way of JSON, as the wire does.
func clone(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// overlay sets fields, and deletes those that are null.
func overlay(object, edit map[string]any) {
	for name, value := range edit {
		child, isObject := value.(map[string]any)
		current, ok := object[name].(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isObject && ok:
			overlay(current, child)
		default:
			object[name] = clone(value)
		}
	}
}

type generator struct {
	*rand.Rand
	namespace, prefix string
	at                int
}

func randomOperation(rng *rand.Rand, namespace, prefix string, at int) operation {
	g := &generator{Rand: rng, namespace: namespace, prefix: prefix, at: at}
	op := operation{object: -1, version: -1, uid: -1, where: "metadata"}
	kind := pick(g, "Cell", "Cell", "Cell", "ConfigMap")
	name := prefix + pick(g, "a", "a", "b")
	if at == 0 {
		return g.create(op, kind, name)
	}
	switch g.IntN(20) {
	case 0, 1, 2:
		return g.create(op, kind, name)
	case 3:
		return g.read(op, kind, name)
	case 4, 5, 6:
		return g.update(op, kind, name, "")
	case 7, 8:
		return g.update(op, "Cell", name, "/status")
	case 9, 10, 11:
		return g.mergePatch(op, kind, name, "")
	case 12, 13, 14:
		return g.mergePatch(op, "Cell", name, "/status")
	case 15:
		return g.jsonPatch(op, kind, name)
	case 16, 17:
		return g.apply(op, kind, name)
	}
	return g.remove(op, kind, name)
}

func pick[T any](g *generator, options ...T) T { return options[g.IntN(len(options))] }

func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) collection(kind string) string {
	if kind == "Cell" {
		return "/apis/test.statuspatcher.dev/v1/namespaces/" + g.namespace + "/cells"
	}
	return "/api/v1/namespaces/" + g.namespace + "/configmaps"
}

func (g *generator) create(op operation, kind, name string) operation {
	op.method, op.path, op.contentType = "POST", g.collection(kind), "application/json"
	metadata := g.metadata()
	metadata["name"] = name
	labels := map[string]any{"sequence": g.prefix + "x"}
	if old, ok := metadata["labels"].(map[string]any); ok {
		overlay(labels, old)
	}
	metadata["labels"] = labels
	if g.chance(20) {
		metadata["namespace"] = "elsewhere"
	}
	if g.chance(12) {
		metadata["name"] = "Not_A_Name"
	}
	object := g.fields(kind)
	object["metadata"] = metadata
	g.identity(object, kind)
	if g.chance(8) {
		op.version = g.IntN(g.at + 1)
	}
	if g.chance(8) {
		op.uid = g.IntN(g.at + 1)
	}
	op.content = object
	return op
}

func (g *generator) identity(object map[string]any, kind string) {
	object["apiVersion"], object["kind"] = "v1", kind
	if kind == "Cell" {
		object["apiVersion"] = "test.statuspatcher.dev/v1"
	}
	if g.chance(40) {
		object["apiVersion"] = "test.statuspatcher.dev/v9"
	}
}

func (g *generator) read(op operation, kind, name string) operation {
	op.method, op.path = "GET", g.collection(kind)+"/"+name
	if g.chance(2) {
		op.path = g.collection(kind) + "?labelSelector=" + pick(g, "sequence%3D"+g.prefix+"x", "color%3Dred,sequence%3D"+g.prefix+"x")
	}
	if g.chance(6) {
		op.path = g.collection(kind) + "?fieldSelector=metadata.name%3D" + name
	}
	return op
}

func (g *generator) update(op operation, kind, name, subresource string) operation {
	op.method, op.path, op.contentType = "PUT", g.collection(kind)+"/"+name+subresource, "application/json"
	op.object = g.IntN(g.at)
	op.edit = g.fields(kind)
	plainIgnored(op.edit, subresource)
	if g.chance(4) {
		op.edit = map[string]any{} // often a no-op
	}
	op.edit["metadata"] = g.metadata()
	op.edit["metadata"].(map[string]any)["name"] = name
	g.identity(op.edit, kind)
	g.guard(&op)
	if g.chance(30) {
		op.edit["metadata"].(map[string]any)["name"] = "another"
	}
	return op
}

// plainIgnored keeps what is not valid out of the spec of a status write: who owns what after a request whose ignored
// half does not fit its schema is not simulated to the last case.
func plainIgnored(fields map[string]any, subresource string) {
	if spec, ok := fields["spec"].(map[string]any); ok && subresource != "" {
		delete(spec, "members")
		delete(spec, "ports")
		delete(spec, "size")
	}
}

// guard sometimes drops or replaces the resourceVersion and the UID.
func (g *generator) guard(op *operation) {
	switch g.IntN(8) {
	case 0:
		op.version = -2
	case 1, 2, 3:
		op.version = g.at - 1 // the latest answer is the likeliest to be current
	case 4:
		op.version = g.IntN(g.at)
	}
	switch g.IntN(8) {
	case 0:
		op.uid = -2
	case 1:
		op.uid = g.IntN(g.at)
	}
}

func (g *generator) mergePatch(op operation, kind, name, subresource string) operation {
	op.method, op.path, op.contentType = "PATCH", g.collection(kind)+"/"+name+subresource, "application/merge-patch+json"
	patch := g.fields(kind)
	plainIgnored(patch, subresource)
	if g.chance(2) {
		patch["metadata"] = g.metadata()
	}
	if g.chance(6) {
		patch["spec"] = nil
	}
	if g.chance(8) {
		patch["status"] = nil
	}
	op.content = patch
	if g.chance(2) {
		g.guard(&op)
	}
	if g.chance(40) {
		op.contentType = "application/strategic-merge-patch+json"
	}
	return op
}

func (g *generator) jsonPatch(op operation, kind, name string) operation {
	op.method, op.path, op.contentType = "PATCH", g.collection(kind)+"/"+name+pick(g, "", "/status"), "application/json-patch+json"
	if kind == "ConfigMap" {
		op.path = g.collection(kind) + "/" + name
	}
	one := func() any {
		return pick[any](g,
			map[string]any{"op": "replace", "path": "/spec/size", "value": g.IntN(4)},
			map[string]any{"op": "add", "path": "/spec/paused", "value": true},
			map[string]any{"op": "remove", "path": "/spec/tags"},
			map[string]any{"op": "test", "path": "/spec/size", "value": g.IntN(4)},
			map[string]any{"op": "add", "path": "/metadata/labels/color", "value": "red"},
			map[string]any{"op": "add", "path": "/status", "value": map[string]any{"phase": "New"}},
			map[string]any{"op": "add", "path": "/status/seen", "value": g.IntN(3)},
			map[string]any{"op": "remove", "path": "/metadata/finalizers"},
		)
	}
	operations := []any{one()}
	if g.chance(2) {
		operations = append(operations, one())
	}
	op.content = operations
	return op
}

func (g *generator) apply(op operation, kind, name string) operation {
	subresource := ""
	if kind == "Cell" && g.chance(3) {
		subresource = "/status"
	}
	op.method, op.contentType = "PATCH", "application/apply-patch+yaml"
	op.path = g.collection(kind) + "/" + name + subresource + "?fieldManager=" + pick(g, "m1", "m2") + pick(g, "", "&force=true")
	object := g.fields(kind)
	metadata := g.metadata()
	metadata["name"] = name
	if list, ok := metadata["finalizers"].([]any); ok && len(list) == 0 {
		// Applying an empty list makes kube-apiserver lose who owns what at the next write (it logs that this should not
		// happen); the simulated one keeps it.
		delete(metadata, "finalizers")
	}
	if kind == "ConfigMap" { // of built-in kinds the simulated server does not know every field
		delete(object, "unknown")
		delete(metadata, "unknown")
	}
	object["metadata"] = metadata
	g.identity(object, kind)
	op.content = object
	if g.chance(6) {
		g.guard(&op)
	}
	return op
}

func (g *generator) remove(op operation, kind, name string) operation {
	op.method, op.path, op.contentType = "DELETE", g.collection(kind)+"/"+name, "application/json"
	options := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}
	if g.chance(4) {
		options["propagationPolicy"] = pick(g, "Background", "Foreground", "Orphan")
	}
	op.content = options
	if g.chance(3) {
		op.where = "preconditions"
		g.guard(&op)
	}
	return op
}

func (g *generator) metadata() map[string]any {
	out := map[string]any{}
	if g.chance(3) {
		out["labels"] = map[string]any{"color": pick[any](g, "red", "blue", nil)}
	}
	if g.chance(4) {
		out["annotations"] = map[string]any{"note": pick[any](g, "x", "y", nil)}
	}
	if g.chance(4) {
		out["finalizers"] = pick[any](g, []any{"test.dev/a"}, []any{"test.dev/a", "test.dev/b"}, []any{}, nil)
	}
	if g.chance(12) {
		out["generation"] = 7
	}
	if g.chance(20) {
		out["creationTimestamp"] = "2020-01-01T00:00:00Z"
	}
	if g.chance(25) {
		out["unknown"] = "x"
	}
	return out
}

func (g *generator) fields(kind string) map[string]any {
	if kind == "ConfigMap" {
		out := map[string]any{"data": map[string]any{"k": pick[any](g, "1", "2", nil), "l": pick(g, "1", "2")}}
		if g.chance(6) {
			out["unknown"] = "x"
		}
		if g.chance(10) {
			out["immutable"] = false
		}
		return out
	}
	out := map[string]any{}
	if !g.chance(4) {
		out["spec"] = g.spec()
	}
	if !g.chance(3) {
		out["status"] = g.status()
	}
	if g.chance(10) {
		out["unknown"] = map[string]any{"x": 1}
	}
	return out
}

func (g *generator) spec() map[string]any {
	out := map[string]any{}
	for _, set := range []func(){
		func() { out["size"] = pick[any](g, 0, 1, 2, 2, 13, 1000, "three", nil) },
		func() { out["paused"] = pick[any](g, true, false, nil) },
		func() { out["mode"] = pick[any](g, "auto", "manual", "odd", nil) },
		func() {
			out["tags"] = pick[any](g, map[string]any{"t": "1"}, map[string]any{"t": nil}, map[string]any{}, nil)
		},
		func() {
			out["ports"] = pick[any](g, []any{map[string]any{"name": "x"}}, []any{map[string]any{"name": "x", "number": 1}, map[string]any{"name": "y"}},
				[]any{map[string]any{"name": "x"}, map[string]any{"name": "x"}}, []any{}, []any{nil}, nil)
		},
		func() {
			out["members"] = pick[any](g, []any{"m"}, []any{"m", "n"}, []any{"m", "m"}, []any{nil, "m"}, nil)
		},
		func() { out["nonsense"] = 1 },
	} {
		if g.chance(3) {
			set()
		}
	}
	return out
}

func (g *generator) status() map[string]any {
	condition := func(kind, status string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": "Because", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z"}
	}
	out := map[string]any{}
	for _, set := range []func(){
		func() { out["phase"] = pick[any](g, "New", "Done", "a text that is far too long", nil) },
		func() {
			out["plan"] = pick[any](g, map[string]any{"id": "p"}, map[string]any{"id": "q", "step": 1}, map[string]any{"step": 2}, map[string]any{"id": ""}, nil)
		},
		func() { out["seen"] = g.IntN(3) },
		func() { out["observedGeneration"] = g.IntN(3) },
		func() {
			out["free"] = pick[any](g, map[string]any{"x": nil, "y": 1}, map[string]any{"deep": map[string]any{"a": []any{nil, 1}}}, nil)
		},
		func() {
			out["conditions"] = pick[any](g, []any{condition("Ready", "True")}, []any{condition("Ready", "False"), condition("Old", "True")},
				[]any{map[string]any{"type": "Ready", "status": "True"}}, []any{condition("Ready", "True"), condition("Ready", "True")}, []any{}, nil)
		},
		func() { out["nonsense"] = 1 },
	} {
		if g.chance(3) {
			set()
		}
	}
	return out
}
