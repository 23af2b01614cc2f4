package statusfuzz

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

// mutator makes small changes, so that most pairs are nearly equal: that is where equality goes wrong.
type mutator struct {
	*rand.Rand
	filler *randfill.Filler
}

// mutate changes one thing somewhere in v; v shares nothing with another value.
func (m *mutator) mutate(v reflect.Value) {
	if v.CanAddr() && v.Addr().CanInterface() && m.mutateKnown(v.Addr().Interface()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		m.mutateField(v)
	case reflect.Pointer:
		m.mutatePointer(v)
	case reflect.Slice:
		m.mutateSlice(v)
	case reflect.Map:
		m.mutateMap(v)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(v.Int() + int64(m.Intn(3)-1))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		m.fill(v)
	}
}

// mutateKnown changes types that are more than their fields.
func (m *mutator) mutateKnown(value any) bool {
	switch value := value.(type) {
	case *metav1.Time:
		choice := m.Intn(5)
		if value.IsZero() {
			choice = 4 // a fraction of a second in year 1 is no time that anybody means, and null once it was stored
		}
		switch choice {
		case 0:
			*value = metav1.NewTime(value.Add(time.Duration(m.Intn(1e9))))
		case 1:
			*value = metav1.NewTime(value.Add(time.Second))
		case 2:
			*value = metav1.NewTime(value.In(pick(m.Rand, zones)))
		case 3:
			*value = value.Rfc3339Copy()
		default:
			*value = randomTime(m.Rand)
		}
	case *resource.Quantity:
		*value = resource.MustParse(pick(m.Rand, quantities))
	case *runtime.RawExtension:
		value.Raw = []byte(randomJSON(m.Rand, 2))
	case *metav1.Condition:
		m.mutateCondition(value)
	default:
		return false
	}
	return true
}

// blur changes what has no JSON of its own: the zone and the fraction of a second, nil and empty.
func (m *mutator) blur(v reflect.Value) {
	if v.CanAddr() {
		if t, ok := v.Addr().Interface().(*metav1.Time); ok {
			if !t.IsZero() {
				*t = metav1.NewTime(t.Truncate(time.Second).Add(time.Duration(m.Intn(1e9))).In(pick(m.Rand, zones)))
			}
			return
		}
		if _, opaque := v.Addr().Interface().(json.Marshaler); opaque {
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				m.blur(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			m.blur(v.Elem())
		}
	case reflect.Slice:
		if v.Len() == 0 && m.Intn(2) == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			m.blur(v.Index(i))
		}
	case reflect.Map:
		if v.Len() == 0 && m.Intn(2) == 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
	}
}

func (m *mutator) mutateCondition(c *metav1.Condition) {
	switch m.Intn(6) {
	case 0:
		c.Type = pick(m.Rand, conditionTypes)
	case 1:
		c.Status = pick(m.Rand, []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse})
	case 2:
		c.Message = randomString(m.Rand)
	case 3:
		if m.Intn(64) == 0 { // they cost as much as hundreds of others
			c.Message = pick(m.Rand, longMessages)
		}
	case 4:
		c.ObservedGeneration++
	default:
		c.LastTransitionTime = randomTime(m.Rand)
	}
}

func (m *mutator) fill(v reflect.Value) { m.filler.Fill(v.Addr().Interface()) }

func (m *mutator) mutateField(v reflect.Value) {
	for range 4 { // an unexported field is left alone
		if i := m.Intn(v.NumField()); v.Type().Field(i).IsExported() {
			m.mutate(v.Field(i))
			return
		}
	}
}

func (m *mutator) mutatePointer(v reflect.Value) {
	switch {
	case v.IsNil():
		v.Set(reflect.New(v.Type().Elem()))
		if m.Intn(2) == 0 {
			m.fill(v.Elem())
		}
	case m.Intn(5) == 0:
		v.SetZero()
	default:
		m.mutate(v.Elem())
	}
}

func (m *mutator) mutateSlice(v reflect.Value) {
	n := v.Len()
	choice := m.Intn(8)
	switch {
	case choice == 0 && v.IsNil():
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case choice == 0:
		v.SetZero()
	case choice == 1 && n == 0 && !v.IsNil():
		v.SetZero()
	case choice == 1:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case choice == 2 && n > 1:
		reflect.Swapper(v.Interface())(0, n-1)
	case choice == 3 && n > 0:
		v.Set(v.Slice(0, n-1))
	case choice == 4 || n == 0:
		element := reflect.New(v.Type().Elem())
		m.filler.Fill(element.Interface())
		v.Set(reflect.Append(v, element.Elem()))
	default:
		m.mutate(v.Index(m.Intn(n)))
	}
}

func (m *mutator) mutateMap(v reflect.Value) {
	choice := m.Intn(6)
	if v.IsNil() || choice == 0 && v.Len() > 0 {
		v.Set(reflect.MakeMap(v.Type()))
		return
	}
	if choice == 1 && v.Len() == 0 {
		v.SetZero()
		return
	}
	key, value := reflect.New(v.Type().Key()), reflect.New(v.Type().Elem())
	if choice < 4 || v.Len() == 0 {
		m.filler.Fill(key.Interface())
		m.filler.Fill(value.Interface())
		v.SetMapIndex(key.Elem(), value.Elem())
		return
	}
	m.changeEntry(v, smallestKey(v), value.Elem(), choice == 4)
}

func (m *mutator) changeEntry(v, key, value reflect.Value, remove bool) {
	if remove {
		v.SetMapIndex(key, reflect.Value{})
		return
	}
	value.Set(v.MapIndex(key))
	m.mutate(value)
	v.SetMapIndex(key, value)
}

// smallestKey does not depend on the order of the map, so that an input always means the same pair.
func smallestKey(v reflect.Value) reflect.Value {
	smallest := v.MapKeys()[0]
	for _, key := range v.MapKeys() {
		if key.String() < smallest.String() {
			smallest = key
		}
	}
	return smallest
}
