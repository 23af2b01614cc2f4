package statusfuzz

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
)

// unknownField stands for what a newer CRD has and this Go type does not know.
const unknownField = "zzUnknownToThisVersion"

// pairsPerInput shares the cost of a base among several statuses made of it.
const pairsPerInput = 16

// Count says what was compared.
type Count struct {
	Pairs   int
	Changed int // pairs for which a request was due
}

// Random is Kind.Random of one kind.
type Random func(seed int64, pairs int) (Count, error)

// Run compares so many random pairs of each kind, one subtest a kind.
func Run(t *testing.T, seed int64, pairs int, kinds map[string]Random) {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(name, func(t *testing.T) {
			count, err := kinds[name](seed, pairs)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pairs, a request was due for %d", count.Pairs, count.Changed)
			// With only equal pairs, or only different ones, the test would prove half of what it says.
			if count.Changed == 0 || count.Changed == count.Pairs {
				t.Errorf("a request was due for %d of %d pairs", count.Changed, count.Pairs)
			}
		})
	}
}

// Fuzz runs the native fuzz target of the kind. Its seeds are under testdata/fuzz.
func (k *Kind[T, S]) Fuzz(f *testing.F) {
	s := newServer(k)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := s.input(data); err != nil {
			t.Error(err)
		}
	})
}

// Random compares at least so many random pairs; the first of the seed is always the same. The error has the input, for
// a file in testdata/fuzz.
func (k *Kind[T, S]) Random(seed int64, pairs int) (Count, error) {
	var total Count
	s := newServer(k)
	for i := int64(0); total.Pairs < pairs; i++ {
		data := binary.LittleEndian.AppendUint64(nil, uint64(seed+i))
		count, err := s.input(data)
		if err != nil {
			return total, fmt.Errorf("go test fuzz v1\n[]byte(%q)\n%w", data, err)
		}
		total.Pairs += count.Pairs
		total.Changed += count.Changed
	}
	return total, nil
}

// input compares the pairs that data stands for.
func (s *server[T, S]) input(data []byte) (count Count, err error) {
	r := rand.New(newSource(data))
	m := &mutator{Rand: r, filler: newFiller(r)}
	k := s.kind
	b, err := k.randomBase(m)
	if err != nil {
		return count, fmt.Errorf("making a base: %w", err)
	}
	status := k.copy(b.status)
	for range pairsPerInput {
		status = k.next(m, b, status)
		changed, err := s.checkSafely(b, status, m.Intn(4) == 0)
		if err != nil {
			return count, fmt.Errorf("base %+v\nstored %v\nstatus %+v\n%w", b.tree, b.stored, status, err)
		}
		count.Pairs++
		if changed {
			count.Changed++
		}
	}
	return count, nil
}

// next goes on from the last status, from the base, or from nowhere.
func (k *Kind[T, S]) next(m *mutator, b base[S], status *S) *S {
	choice := m.Intn(8)
	if choice < 4 {
		status = b.status
	}
	status = k.copy(status)
	v := reflect.ValueOf(status).Elem()
	switch choice {
	case 0, 1: // equal, or nearly so
		m.blur(v)
	case 2:
		m.blur(v)
		m.mutate(v)
	case 7:
		if m.Intn(2) == 0 {
			v.SetZero()
			m.filler.Fill(status)
		}
		fallthrough
	default:
		for range 1 + m.Intn(3) {
			m.mutate(v)
		}
	}
	if k.Conditions != nil {
		*k.Conditions(status) = uniqueTypes(*k.Conditions(status))
	}
	return status
}

// randomBase is a status as it comes from a server: without the nulls that the Go type makes, now and then without the
// zeros that it requires, since it was stored by an older version, or with more than it knows.
func (k *Kind[T, S]) randomBase(m *mutator) (base[S], error) {
	status := new(S)
	if m.Intn(8) > 0 {
		m.filler.Fill(status)
	}
	if k.Conditions != nil {
		conditions := uniqueTypes(*k.Conditions(status))
		normalConditions(nil, conditions)
		*k.Conditions(status) = conditions
	}
	made, err := tree(status)
	if err != nil {
		return base[S]{}, err
	}
	sparse := m.Intn(4) > 0
	if sparse {
		made = withoutNulls(made).(map[string]any)
	}
	if m.Intn(3) == 0 {
		dropZeros(m.Rand, made)
	}
	if m.Intn(4) == 0 {
		made[unknownField] = map[string]any{"kept": int64(1)}
	}
	b, err := k.read(made)
	b.sparse = sparse
	return b, err
}

// dropZeros removes some of the fields that are zero, at any level of objects. A map must be walked in order, or an input
// would mean another pair each time.
func dropZeros(r *rand.Rand, tree map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		value := tree[key]
		if object, ok := value.(map[string]any); ok {
			dropZeros(r, object)
		}
		if isZero(value) && r.Intn(2) == 0 {
			delete(tree, key)
		}
	}
}

func isZero(value any) bool {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Invalid:
		return false
	}
	return v.IsZero() || value == "0" // a Quantity
}

// checkSafely makes a panic an error, which has the pair in it.
func (s *server[T, S]) checkSafely(b base[S], status *S, again bool) (changed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return s.check(b, status, again)
}
