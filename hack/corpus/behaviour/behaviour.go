// Package behaviour checks what a generated status patcher does, for any kind: the corpus run compiles it into a test of each
// package that was generated.
package behaviour

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// rounds is how many random statuses a kind is tried with.
const rounds = 40

// A Fetch is the method of a generated StatusClient.
type Fetch[T client.Object, P any] func(context.Context, client.ObjectKey, ...client.GetOption) (T, P, error)

// A Patcher is what all generated StatusPatchers have.
type Patcher interface {
	Changed() bool
	Flush(context.Context) (patcher.Result, error)
}

// Check runs a test of one kind: what is flushed is what the server has, nothing is sent when nothing changed, and equality
// agrees with JSON.
func Check[T client.Object, S any, P Patcher](t *testing.T, kind *patcher.Kind[T, S], fetch func(client.Client) Fetch[T, P]) {
	t.Helper()
	t.Run(kind.Name, func(t *testing.T) { check(t, kind, fetch) })
}

// A reporter is the part of testing.TB that is used here, so that a test can see a check fail.
type reporter interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

func check[T client.Object, S any, P Patcher](t reporter, kind *patcher.Kind[T, S], fetch func(client.Client) Fetch[T, P]) {
	t.Helper()
	statuses := samples[S]()
	if len(statuses) < 4 {
		t.Fatalf("only %d of %d random statuses can be had: the filler does not know a type of it", len(statuses), rounds)
	}
	for i, status := range statuses {
		other := statuses[(i+1)%len(statuses)]
		checkEqual(t, kind, status, other)
		checkFlush(t, kind, fetch, status, other)
	}
	checkFlush(t, kind, fetch, new(S), statuses[0])
	checkFlush(t, kind, fetch, statuses[0], new(S))
}

func samples[S any]() []*S {
	var out []*S
	for seed := range rounds {
		if status, ok := random[S](int64(seed)); ok {
			out = append(out, status)
		}
	}
	return out
}

// checkEqual compares a status with a copy of itself, with another one, and with itself but for one field.
func checkEqual[T client.Object, S any](t reporter, kind *patcher.Kind[T, S], a, b *S) {
	t.Helper()
	same := new(S)
	kind.DeepCopyInto(a, same)
	if !kind.Equal(a, same) && (!isProtobuf(a) || text(t, a) != text(t, same)) {
		t.Errorf("a copy is not equal to %s", text(t, a))
	}
	sound(t, kind, a, b)
	fields := reflect.ValueOf(same).Elem()
	if fields.Kind() != reflect.Struct {
		return
	}
	for i := range fields.NumField() {
		if !fields.Field(i).CanSet() {
			continue
		}
		mixed := new(S)
		kind.DeepCopyInto(a, mixed)
		reflect.ValueOf(mixed).Elem().Field(i).Set(reflect.ValueOf(b).Elem().Field(i))
		sound(t, kind, a, mixed)
	}
}

// isProtobuf tells whether a status is a protobuf message. Such a message caches its size and the like in fields that are not
// exported, and its copies do not have that. So Equal, which compares them by reflection, may take equal messages for different
// ones. Nothing is lost and nothing is sent by that: the patcher then compares the JSON, as checkFlush sees on every base, which is a
// copy too. A type with nothing but a MarshalJSON of its own is no exception.
func isProtobuf(status any) bool {
	_, ok := reflect.TypeOf(status).MethodByName("ProtoReflect") // not ProtoMessage, which the plain structs of Kubernetes have, too
	return ok
}

func sound[T client.Object, S any](t reporter, kind *patcher.Kind[T, S], a, b *S) {
	t.Helper()
	if kind.Equal(a, b) && text(t, a) != text(t, b) {
		t.Errorf("equal, with different JSON:\n%s\n%s", text(t, a), text(t, b))
	}
}

// checkFlush lets a server have base, and a patcher make it status.
func checkFlush[T client.Object, S any, P Patcher](t reporter, kind *patcher.Kind[T, S], fetch func(client.Client) Fetch[T, P], base, status *S) {
	t.Helper()
	server, err := newServer(base)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	obj, p, err := fetch(server)(ctx, types.NamespacedName{Namespace: "default", Name: "subject"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := p.Flush(ctx); p.Changed() || err != nil || result != patcher.ResultUnchanged || server.requests != 0 {
		t.Errorf("nothing changed: %s, %v, %d requests", result, err, server.requests)
	}
	mutated := new(S)
	kind.DeepCopyInto(status, mutated)
	*kind.Status(obj) = *mutated
	result, err := p.Flush(ctx)
	if err != nil {
		t.Fatalf("flush: %v", err)
	}
	got, want := new(S), canonical(t, status)
	if err := into(server.object["status"], got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, canonical(t, got)); diff != "" {
		t.Errorf("%s: the server has another status than was flushed (-flushed +server):\n%s", result, diff)
	}
	before := server.requests
	if result, err := p.Flush(ctx); err != nil || result != patcher.ResultUnchanged || server.requests != before {
		t.Errorf("a second flush: %s, %v, %d more requests", result, err, server.requests-before)
	}
}

func into(value, out any) error {
	data, err := json.Marshal(value)
	if err != nil || value == nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// canonical is the JSON of a status without what a merge patch cannot tell from absent, null, and what a patcher promises not to tell
// from it: empty lists, bytes and objects. Where a field is omitted when it is empty, nothing else can be. Where it is required, a nil
// slice is written like an empty one, because API servers refuse null there (S07 and S17 of docs/semantics.md): [] for a list, and ""
// for bytes.
func canonical(t reporter, status any) any {
	t.Helper()
	copied := reflect.New(reflect.TypeOf(status).Elem())
	if err := into(status, copied.Interface()); err != nil {
		t.Fatal(err)
	}
	dropEmptyBytes(copied.Elem(), 0)
	decoded, err := decode(copied.Interface())
	if err != nil {
		t.Fatal(err)
	}
	return withoutEmpty(decoded)
}

// dropEmptyBytes makes nil of empty byte slices. In JSON they look like empty strings, which are something else: those count.
func dropEmptyBytes(v reflect.Value, depth int) {
	if depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dropEmptyBytes(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Len() == 0 && v.CanSet() {
			v.SetZero()
		}
		for i := range v.Len() {
			dropEmptyBytes(v.Index(i), depth+1)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(key))
			dropEmptyBytes(element, depth+1)
			v.SetMapIndex(key, element)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				dropEmptyBytes(v.Field(i), depth+1)
			}
		}
	}
}

func withoutEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if field = withoutEmpty(field); field == nil {
				delete(value, name)
			} else {
				value[name] = field
			}
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		for i := range value {
			value[i] = withoutEmpty(value[i])
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

func text(t reporter, status any) string {
	t.Helper()
	data, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
