package statusfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// Kind is what is attacked: an API type and its generated patcher.
type Kind[T client.Object, S any] struct {
	New    func() T
	Status func(T) *S
	// Patchers makes the StatusClient of the kind, and answers its For.
	Patchers func(client.Client, ...patcher.Option) func(T) (Patcher[S], error)
	// Options are those of the StatusClient.
	Options []patcher.Option
	// Conditions is nil for a kind whose patcher does not know conditions.
	Conditions func(*S) *[]metav1.Condition
	// Rewrites are the write-once fields of the kind, which a random status changes all the same.
	Rewrites []string
}

// Patcher is the part of a generated StatusPatcher that is attacked.
type Patcher[S any] interface {
	Changed() bool
	Flush(context.Context) (patcher.Result, error)
	Observed() *S
}

// base is a status as a server holds it.
type base[S any] struct {
	stored map[string]any // the JSON, which may have what the Go type does not know, and lack required zeros
	json   []byte         // its text
	status *S             // as a client reads it
	tree   map[string]any // the JSON of status
	// sparse: the nulls of status are not in stored.
	sparse bool
}

func (k *Kind[T, S]) read(stored map[string]any) (base[S], error) {
	b := base[S]{stored: stored, status: new(S)}
	data, err := json.Marshal(stored)
	if err != nil {
		return b, err
	}
	if err = utiljson.Unmarshal(data, b.status); err != nil {
		return b, err
	}
	if b.tree, err = tree(k.copy(b.status)); err != nil {
		return b, err
	}
	drop(b.stored, b.tree)
	b.json, err = json.Marshal(stored)
	return b, err
}

// drop removes from stored what the Go type neither knows nor writes, such as an object that lost all its zeros; but not
// what stands for the fields of a newer version.
func drop(stored, known map[string]any) {
	for key, value := range stored {
		if key == unknownField {
			continue
		}
		object, isObject := value.(map[string]any)
		inner, too := known[key].(map[string]any)
		if _, ok := known[key]; !ok {
			delete(stored, key)
		} else if isObject && too {
			drop(object, inner)
		}
	}
}

func (k *Kind[T, S]) copy(status *S) *S {
	obj := k.New()
	*k.Status(obj) = *status
	return k.Status(obj.DeepCopyObject().(T))
}

// check flushes status over base, if again is set a second time, and compares with the reference. It reports whether a
// request was due.
func (s *server[T, S]) check(b base[S], status *S, again bool) (changed bool, err error) {
	k := s.kind
	s.reset(b)
	obj := k.New()
	obj.SetName("a")
	obj.SetUID("u")
	obj.SetResourceVersion("1")
	*k.Status(obj) = *k.copy(b.status)
	p, err := s.patcher(obj)
	if err != nil {
		return false, err
	}
	want, err := k.target(b, status)
	if err != nil {
		return false, err
	}
	changed = !reflect.DeepEqual(want, b.tree)

	*k.Status(obj) = *k.copy(status)
	if got := p.Changed(); got != changed {
		return changed, fmt.Errorf("Changed: %v, want %v", got, changed)
	}
	if err := k.flush(p, obj, s, changed); err != nil {
		return changed, err
	}
	if changed {
		err = k.landed(want, b, s.tree)
		if err == nil && s.needless(b.stored) {
			err = fmt.Errorf("sent what the server has: %s", b.json)
		}
	}
	if err != nil {
		return changed, fmt.Errorf("%w\npatch: %s", err, s.last)
	}
	if !again {
		return changed, nil
	}
	// The same decision again must not be written again.
	*k.Status(obj) = *k.copy(status)
	if err := k.flush(p, obj, s, false); err != nil {
		return changed, fmt.Errorf("the same status again: %w", err)
	}
	return changed, nil
}

func (k *Kind[T, S]) target(b base[S], status *S) (any, error) {
	status = k.copy(status)
	if k.Conditions != nil {
		normalConditions(*k.Conditions(b.status), *k.Conditions(status))
	}
	statusTree, err := tree(status)
	if err != nil {
		return nil, err
	}
	return statusTree, nil
}

// flushed is a Flush that may change write-once fields.
func (k *Kind[T, S]) flushed(p Patcher[S]) (patcher.Result, error) {
	if rewriter, ok := p.(interface {
		FlushWith(context.Context, ...patcher.FlushOption) (patcher.Result, error)
	}); ok && len(k.Rewrites) > 0 {
		return rewriter.FlushWith(context.Background(), patcher.AllowRewrite(k.Rewrites...))
	}
	return p.Flush(context.Background())
}

// flush expects one request or none, and after none an object whose JSON is that of what the patcher observed.
func (k *Kind[T, S]) flush(p Patcher[S], obj T, s *server[T, S], changed bool) error {
	before, held := s.requests, k.copy(k.Status(obj))
	wantResult, wantRequests := patcher.ResultUnchanged, 0
	if changed {
		wantResult, wantRequests = patcher.ResultPatched, 1
	}
	result, err := k.flushed(p)
	if err != nil || result != wantResult || s.requests-before != wantRequests {
		return fmt.Errorf("Flush: %q, %v with %d requests, want %q with %d; last sent: %s",
			result, err, s.requests-before, wantResult, wantRequests, s.last)
	}
	if changed {
		return nil
	}
	if !reflect.DeepEqual(k.Status(obj), held) {
		return fmt.Errorf("a Flush that sent nothing changed the status from %+v to %+v", held, k.Status(obj))
	}
	// Equality that lets two statuses of different JSON pass shows here: it leaves the wrong one in the object.
	observed := base[S]{status: p.Observed()}
	own, err := k.target(observed, k.Status(obj))
	if err != nil {
		return err
	}
	if observed.tree, err = tree(k.copy(observed.status)); err != nil {
		return err
	}
	if !reflect.DeepEqual(own, any(observed.tree)) {
		return fmt.Errorf("after a Flush that sent nothing the status is %v, and the base %v", own, observed.tree)
	}
	return nil
}

// landed compares what the server holds with what it should: the target, and what the base had beside the Go type. Nulls
// that the base lacks need not be there in what did not change.
func (k *Kind[T, S]) landed(want any, b base[S], after map[string]any) error {
	unknown := map[string]any{}
	maps.Copy(unknown, b.stored)
	maps.DeleteFunc(unknown, func(key string, _ any) bool { return key != unknownField })
	// Where the base proves that nothing is there, and a null must be stored, the status is written whole.
	if _, still := after[unknownField]; !still && isBare(b.tree) && hasNull(want) {
		unknown = map[string]any{}
	}
	t := reflect.TypeFor[S]()
	want, got := overlay(copyTree(want), unknown), dropOptionalNulls(copyTree(after), t)
	if k.Options != nil {
		addZeros(want, b.stored, got)
	}
	if b.sparse && hasNullable(t, map[reflect.Type]bool{}) {
		want, got = withoutNulls(want), withoutNulls(got)
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	gotJSON, _ := json.Marshal(got)
	wantJSON, _ := json.Marshal(want)
	return fmt.Errorf("the server has\n%s\nwant\n%s", gotJSON, wantJSON)
}

// addZeros adds to got the zeros that the base did not have either: a write of single entries of lists leaves them out, and
// an API server whose schema requires them refuses it, which this one does not.
func addZeros(want, stored, got any) {
	w, isObject := want.(map[string]any)
	g, too := got.(map[string]any)
	if !isObject || !too {
		return
	}
	s, _ := stored.(map[string]any)
	for key, value := range w {
		_, inStored := s[key]
		if _, inGot := g[key]; !inStored && !inGot && isBare(value) {
			g[key] = value
		}
		addZeros(value, s[key], g[key])
	}
}

// isBare reports whether a tree has nothing but zeros.
func isBare(tree any) bool {
	if object, ok := tree.(map[string]any); ok {
		for _, value := range object {
			if !isBare(value) {
				return false
			}
		}
		return true
	}
	return tree == nil || isZero(tree)
}

func hasNull(tree any) bool { return !reflect.DeepEqual(withoutNulls(tree), copyTree(tree)) }

// needless reports whether a patch has something that the base has as well, beside zeros, which are sent where they are
// required, and a null for something that the base lacks.
func needless(base, patch any) bool {
	b, isObject := base.(map[string]any)
	p, too := patch.(map[string]any)
	if !isObject || !too {
		return !isZero(patch) && reflect.DeepEqual(base, patch)
	}
	for key, value := range p {
		old, inBase := b[key]
		if value == nil && !inBase || value != nil && inBase && needless(old, value) {
			return true
		}
	}
	return false
}

// clock stands still.
type clock struct{}

func (clock) Now() time.Time { return now }

func (clock) After(time.Duration) <-chan time.Time { return nil }
