package patcher

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type (
	lowest    struct{ Deep, Hidden, Twice string }
	lower     struct{ lowest }
	left      struct{ Both, Twice string }
	right     struct{ Both, Twice string }
	tagged    struct{ X string }
	untagged  struct{ X string }
	byPointer struct {
		N int `json:"n"`
	}
	doubled    struct{ Same string }
	firstHalf  struct{ doubled }
	secondHalf struct{ doubled }
	numeral    int
	wrapped    struct{ v string }
	zeroer     struct{ N int }
)

func (w *wrapped) MarshalJSON() ([]byte, error) { return json.Marshal("<" + w.v + ">") }

// IsZero is another zero than the usual one.
func (z zeroer) IsZero() bool { return z.N == 7 }

func ptr[V any](v V) *V { return &v }

// oddities are values whose JSON takes the rules of encoding/json to the letter.
var oddities = map[string]any{
	"a field hidden by an outer one": &struct {
		lower
		Hidden string
	}{lower{lowest{"d", "h", "t"}}, "outer"},
	"two of one name and depth": &struct {
		left
		right
	}{left{"l", "1"}, right{"r", "2"}},
	"a tagged one wins among equals": &struct {
		tagged
		untagged
		Y string `json:"X"`
	}{tagged{"1"}, untagged{"2"}, "3"},
	"the same struct embedded twice": &struct {
		firstHalf
		secondHalf
	}{firstHalf{doubled{"1"}}, secondHalf{doubled{"2"}}},
	"an embedded pointer":             &struct{ *byPointer }{&byPointer{1}},
	"an embedded pointer that is nil": &struct{ *byPointer }{},
	"an embedded struct with a name": &struct {
		byPointer `json:"named"`
	}{byPointer{2}},
	"an embedded type that is not a struct": &struct{ numeral }{3},
	"inline says nothing": &struct {
		Inner byPointer `json:",inline"`
	}{byPointer{4}},
	"a name that is a dash": &struct {
		A int `json:"-,"`
		B int `json:"-"`
	}{1, 2},
	"odd names": &struct {
		A int `json:"a/b~c"`
		B int `json:"<&>"`
		C int `json:"bad\"name"`
		D int `json:"ü.ö"`
		E int `json:" "`
	}{1, 2, 3, 4, 5},
	"the string option": &struct {
		I int      `json:"i,string"`
		P *int     `json:"p,string"`
		N *int     `json:"n,string"`
		S string   `json:"s,string"`
		B bool     `json:"b,string"`
		F float64  `json:"f,string"`
		L []string `json:"l,string"`
		E int      `json:"e,omitempty,string"`
	}{I: 5, P: ptr(6), S: "a\"b", F: 1.5, L: []string{"x"}},
	"omitempty": &struct {
		A [0]int         `json:"a,omitempty"`
		B [1]int         `json:"b,omitempty"`
		C any            `json:"c,omitempty"`
		D metav1.Time    `json:"d,omitempty"`
		E map[string]int `json:"e,omitempty"`
		F struct{}       `json:"f,omitempty"`
		G float64        `json:"g,omitempty"`
	}{E: map[string]int{}},
	"omitzero": &struct {
		A metav1.Time    `json:"a,omitzero"`
		B map[string]int `json:"b,omitzero"`
		C zeroer         `json:"c,omitzero"`
		D zeroer         `json:"d,omitzero"`
		E *zeroer        `json:"e,omitzero"`
		F byPointer      `json:"f,omitzero"`
		G []string       `json:"g,omitempty,omitzero"`
	}{B: map[string]int{}, C: zeroer{7}, D: zeroer{0}, E: &zeroer{7}, G: []string{}},
	"a method that only a pointer has, where there is one": &struct {
		A wrapped            `json:"a"`
		B map[string]wrapped `json:"b"`
		C []wrapped          `json:"c"`
		D *wrapped           `json:"d"`
	}{wrapped{"a"}, map[string]wrapped{"k": {"b"}}, []wrapped{{"c"}}, &wrapped{"d"}},
	"bytes, maps by number, quantities, raw JSON": &struct {
		A []byte
		B map[int]string
		C resource.Quantity
		D runtime.RawExtension
		E [2]byte
		F json.Number
		G uint64
	}{[]byte("x"), map[int]string{2: "b", 1: "a"}, resource.MustParse("1.5Gi"), runtime.RawExtension{Raw: []byte(`{"a":[1]}`)}, [2]byte{1, 2}, "12", 1 << 40},
	"keys that are not UTF-8, and odd ones": &struct{ M map[string]int }{map[string]int{"a\xff": 1, "a/~\"": 2, "": 3}},
	"pointers to pointers":                  &struct{ P **int }{ptr(ptr(1))},
}

// The JSON of an object that does not exist yet, which the walker makes member by member, is what encoding/json writes.
func TestShapesFollowEncodingJSON(t *testing.T) {
	for name, value := range oddities {
		t.Run(name, func(t *testing.T) {
			got, err := walked(value)
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(t, got, want) {
				t.Errorf("the walker makes %s, encoding/json %s", got, want)
			}
		})
	}
	t.Run("control: one member less is seen", func(t *testing.T) {
		if sameJSON(t, []byte(`{"a":1}`), []byte(`{"a":1,"b":2}`)) {
			t.Error("it is not")
		}
	})
}

// What is equal is not a change, and what was removed is removed by its name.
func TestShapesCompare(t *testing.T) {
	for name, value := range oddities {
		t.Run(name, func(t *testing.T) {
			v := reflect.ValueOf(value).Elem()
			var found deltas
			err := shapeOf(v.Type()).diff(&found, v, v, nil)
			if err != nil || found.changed {
				t.Errorf("a value differs from itself: %v, %v", found.members, err)
			}
		})
	}
}

func walked(value any) (json.RawMessage, error) {
	v := reflect.ValueOf(value).Elem()
	var found deltas
	if err := shapeOf(v.Type()).diff(&found, reflect.Value{}, v, nil); err != nil {
		return nil, err
	}
	_, status, err := mergeMembers(found.members)
	return orEmpty(status), err
}

// sameJSON compares without nulls: those that an option may leave out are not sent, and nil lists are sent as empty ones.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var trees [2]any
	for i, text := range [][]byte{a, b} {
		var err error
		if trees[i], err = decodeTree(text); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		dropNulls(trees[i])
	}
	return reflect.DeepEqual(trees[0], trees[1])
}

func dropNulls(tree any) {
	switch value := tree.(type) {
	case map[string]any:
		for key, v := range value {
			if v == nil {
				delete(value, key)
			}
			dropNulls(v)
		}
	case []any:
		for _, v := range value {
			dropNulls(v)
		}
	}
}
