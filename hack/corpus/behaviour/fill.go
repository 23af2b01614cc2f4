package behaviour

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// filler makes random values that JSON can carry there and back.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(int64(c.Uint32()), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) {
			t.Time = time.Unix(int64(c.Uint32()), int64(c.Intn(1e6))*1000)
		},
		func(t *time.Time, c randfill.Continue) { *t = time.Unix(int64(c.Uint32()), 0).UTC() },
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int31()) * time.Second },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1e6), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31())
			if c.Bool() {
				*v = intstr.FromString(word(c))
			}
		},
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = raw(c) },
		func(r *json.RawMessage, c randfill.Continue) { *r = raw(c) },
		func(o *runtime.Object, _ randfill.Continue) { *o = nil },
		func(f *metav1.FieldsV1, c randfill.Continue) { f.Raw = raw(c) },
		func(v *any, c randfill.Continue) { *v = word(c) },
		func(s *string, c randfill.Continue) { *s = word(c) },
		func(c *metav1.Condition, r randfill.Continue) {
			*c = metav1.Condition{
				Type: word(r), Status: metav1.ConditionTrue, ObservedGeneration: r.Int63(), Reason: word(r), Message: word(r),
				LastTransitionTime: metav1.Unix(int64(r.Uint32())+1, 0),
			}
		},
	)
}

func word(c randfill.Continue) string { return fmt.Sprintf("w%x", c.Uint32()) }

func raw(c randfill.Continue) []byte { return fmt.Appendf(nil, `{"n":%d,"w":%q}`, c.Int31(), word(c)) }

// random returns a status as a server would answer it; ok is false when this one cannot be had: a type with a JSON format of
// its own may refuse what the filler makes.
func random[S any](seed int64) (status *S, ok bool) {
	defer func() {
		if recover() != nil {
			status, ok = nil, false
		}
	}()
	filled := new(S)
	filler(seed).Fill(filled)
	fixRaw(reflect.ValueOf(filled).Elem(), 0)
	fixOwnJSON(reflect.ValueOf(filled).Elem(), 0, int(seed))
	return throughJSON(filled)
}

// fixRaw makes JSON of the raw bytes that types of other modules hold under the name Raw.
func fixRaw(v reflect.Value, depth int) {
	if depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fixRaw(v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fixRaw(v.Index(i), depth+1)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(key))
			fixRaw(element, depth+1)
			v.SetMapIndex(key, element)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if v.Type().Field(i).Name == "Raw" && field.CanSet() && field.Type() == reflect.TypeFor[[]byte]() {
				field.SetBytes([]byte(`{"raw":true}`))
				continue
			}
			fixRaw(field, depth+1)
		}
	}
}

// ownJSON are values of which a type that reads its own JSON takes one or another.
var ownJSON = []string{`"w"`, `["w"]`, `{"w":"w"}`, `1`, `true`}

// fixOwnJSON reads values anew that have methods for their JSON and refuse what the filler made: a union, say, whose kind is none that
// it knows. Which JSON comes first depends on the seed.
func fixOwnJSON(v reflect.Value, depth, seed int) {
	if depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fixOwnJSON(v.Elem(), depth+1, seed)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fixOwnJSON(v.Index(i), depth+1, seed+i)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(key))
			fixOwnJSON(element, depth+1, seed)
			v.SetMapIndex(key, element)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fixOwnJSON(v.Field(i), depth+1, seed+i)
			}
		}
	}
	if !v.CanAddr() || !v.Addr().CanInterface() {
		return
	}
	own, ok := v.Addr().Interface().(interface {
		json.Marshaler
		json.Unmarshaler
	})
	if !ok || marshals(own) {
		return
	}
	for i := range ownJSON {
		v.SetZero()
		if own.UnmarshalJSON([]byte(ownJSON[(seed+i)%len(ownJSON)])) == nil && marshals(own) {
			return
		}
	}
	v.SetZero()
}

// marshals tells whether a value has JSON. Methods may panic on what they do not know.
func marshals(value json.Marshaler) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	_, err := json.Marshal(value)
	return err == nil
}

func throughJSON[S any](in *S) (*S, bool) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, false
	}
	out := new(S)
	return out, json.Unmarshal(data, out) == nil
}
