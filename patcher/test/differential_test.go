package patcher_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

var (
	differentialPairs = flag.Int("differential.pairs", 150, "how many random pairs of each kind TestDifferential compares with Status().Update")
	differentialSeed  = flag.Int64("differential.seed", 1, "the seed of TestDifferential")
)

// A differential compares Flush with Status().Update on a real server: two objects of a kind get the same random statuses,
// one by each way, and must end up with the same content.
type differential[T client.Object, S any] struct {
	wire    *wire
	kind    string
	new     func() T
	status  func(T) *S
	mutate  func(*rand.Rand, *S)
	fetch   func(context.Context, client.ObjectKey) (T, flush, error)
	flushes int // that sent something
}

type flush func(context.Context) (patcher.Result, error)

// run compares so many pairs; the objects are new every 50, so that first writes are among them.
func (d *differential[T, S]) run(t *testing.T, seed int64, pairs int) error {
	r := rand.New(rand.NewSource(seed))
	var ours, theirs T
	for i := range pairs {
		if i%50 == 0 {
			ours, theirs = d.create(t), d.create(t)
		}
		if err := d.pair(t.Context(), r, ours, theirs); err != nil {
			return fmt.Errorf("pair %d of seed %d: %w", i, seed, err)
		}
	}
	return nil
}

func (d *differential[T, S]) create(t *testing.T) T {
	obj := d.new()
	obj.SetGenerateName("differential-")
	if err := d.wire.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func (d *differential[T, S]) pair(ctx context.Context, r *rand.Rand, ours, theirs T) error {
	obj, flush, err := d.fetch(ctx, client.ObjectKeyFromObject(ours))
	if err != nil {
		return err
	}
	d.mutate(r, d.status(obj))
	wanted := obj.DeepCopyObject().(T)
	first, err := flush(ctx)
	if err != nil {
		return fmt.Errorf("Flush: %w", err)
	}
	if first == patcher.ResultPatched {
		d.flushes++
	}
	if result, err := flush(ctx); err != nil || result != patcher.ResultUnchanged {
		return fmt.Errorf("Flush again: %q, %w", result, err)
	}
	// The next reconcile decides the same, on what the server holds.
	obj, flush, err = d.fetch(ctx, client.ObjectKeyFromObject(ours))
	if err != nil {
		return err
	}
	*d.status(obj) = *d.status(wanted.DeepCopyObject().(T))
	if again, err := flush(ctx); err != nil || again != patcher.ResultUnchanged {
		return fmt.Errorf("the same status in the next reconcile: %q, %w", again, err)
	}
	if first == patcher.ResultUnchanged && isBare(d.status(wanted)) {
		return nil // an Update would write the zeros of a status that nobody has decided on
	}
	if err := d.wire.Get(ctx, client.ObjectKeyFromObject(theirs), theirs); err != nil {
		return err
	}
	*d.status(theirs) = *d.status(wanted)
	if err := d.wire.Status().Update(ctx, theirs); err != nil {
		return fmt.Errorf("Update: %w", err)
	}
	return d.compare(ctx, ours, theirs)
}

// isBare reports whether the JSON of a status has nothing but zeros.
func isBare(status any) bool {
	text, err := json.Marshal(status)
	var tree any
	return err == nil && json.Unmarshal(text, &tree) == nil && isBareTree(tree)
}

func isBareTree(tree any) bool {
	switch value := tree.(type) {
	case map[string]any:
		for _, v := range value {
			if !isBareTree(v) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	}
	return tree == nil || tree == "" || tree == "0" || tree == false || tree == 0.0
}

func (d *differential[T, S]) compare(ctx context.Context, ours, theirs T) error {
	var held [2]string
	for i, obj := range []T{ours, theirs} {
		raw := &unstructured.Unstructured{}
		raw.SetGroupVersionKind(v1.GroupVersion.WithKind(d.kind))
		if err := d.wire.Get(ctx, client.ObjectKeyFromObject(obj), raw); err != nil {
			return err
		}
		text, err := json.Marshal(raw.Object["status"])
		if err != nil {
			return err
		}
		held[i] = string(text)
	}
	if held[0] != held[1] {
		return fmt.Errorf("after Flush the server has\n%s, after Update\n%s", held[0], held[1])
	}
	return nil
}

// What random statuses are made of: all of it is valid under the schemas, and much of it is odd.
var (
	oddStrings = []string{"", "a", "grüße", "日本語", "\u2028<&>", "\U0001F600", "e\u0301", "cut \xc3", "\"\\/", "null", "a/b~0~1", ":null,"}
	oddInts    = []int64{0, 1, -1, 1<<53 + 1, -1 << 63, 1<<63 - 1}
	oddJSON    = []string{`{}`, `{"a":null}`, `{"a":1.0,"b":{"c":null,"d":[]}}`, `{"a":[{"x":null},null,1e2]}`, `{"a":{"b":{}},"n":12345678901234567890}`, `{"a/b~c":{"~":null}}`}
	oddAmounts = []string{"0", "1", "100m", "0.1", "1024Mi", "1e3"}
)

func pick[V any](r *rand.Rand, from []V) V { return from[r.Intn(len(from))] }

func maybe[V any](r *rand.Rand, v V) *V {
	if r.Intn(2) == 0 {
		return nil
	}
	return &v
}

func oddTime(r *rand.Rand) metav1.Time {
	return metav1.NewTime(time.Unix(1_700_000_000+int64(r.Intn(3)), int64(r.Intn(2))*999_999_999).In(pick(r, []*time.Location{time.UTC, time.FixedZone("odd", -12345)})))
}

func oddConditions(r *rand.Rand) (conditions []metav1.Condition) {
	for _, name := range []string{"Ready", "Available", "Degraded"} {
		if r.Intn(3) > 0 {
			conditions = append(conditions, metav1.Condition{Type: name, Status: pick(r, []metav1.ConditionStatus{"True", "False"}),
				Reason: "Tested", Message: pick(r, oddStrings), LastTransitionTime: oddTime(r), ObservedGeneration: int64(r.Intn(2))})
		}
	}
	r.Shuffle(len(conditions), reflect.Swapper(conditions))
	return conditions
}

// randomly changes one or a few of the fields, which is what a reconcile does.
func randomly(r *rand.Rand, changes ...func()) {
	for range 1 + r.Intn(3) {
		pick(r, changes)()
	}
}

func mutateKnob(r *rand.Rand, s *v1.KnobStatus) {
	grip := func() v1.Grip { return v1.Grip{Angle: maybe(r, pick(r, oddInts)), Label: pick(r, oddStrings)} }
	randomly(r,
		func() { s.Phase = pick(r, oddStrings) },
		func() { s.Holder = maybe(r, pick(r, oddStrings)) },
		func() { s.Bytes = pick(r, oddInts) },
		func() { s.Odd = pick(r, oddStrings) },
		func() { s.Grip = grip() },
		func() { s.Spare = maybe(r, grip()) },
		func() {
			s.Claims = nil
			for i := range r.Intn(4) {
				claim := v1.Claim{Name: fmt.Sprint(i), Owner: maybe(r, pick(r, oddStrings)), Since: maybe(r, oddTime(r)), Note: pick(r, oddStrings)}
				s.Claims = append(s.Claims, claim)
			}
		},
		func() {
			if len(s.Claims) > 0 {
				s.Claims[r.Intn(len(s.Claims))].Owner = maybe(r, "o")
			}
		},
		func() {
			if s.Limits == nil {
				s.Limits = map[string]v1.Limit{}
			}
			s.Limits[pick(r, oddStrings[1:])] = v1.Limit{Max: maybe(r, pick(r, oddInts)), Unit: pick(r, oddStrings)}
		},
		func() { s.Limits = nil },
		func() { s.Conditions = oddConditions(r) },
		func() { s.Free = maybe(r, runtime.RawExtension{Raw: []byte(pick(r, oddJSON))}) },
		func() { *s = v1.KnobStatus{} },
	)
}

func mutateGauge(r *rand.Rand, s *v1.GaugeStatus) {
	strings := func() []string { return []string{pick(r, oddStrings), pick(r, oddStrings)}[:r.Intn(3)] }
	nested := func() v1.Nested {
		return v1.Nested{On: r.Intn(2) == 0, Level: pick(r, oddInts), Deep: v1.DeepPart{Marks: []int32{1, 2}[:r.Intn(3)]}}
	}
	randomly(r,
		func() { s.Phase = pick(r, oddStrings) },
		func() { s.Ready = !s.Ready },
		func() { s.Count = int32(r.Intn(2)) },
		func() { s.Items = strings() },
		func() { s.Items = nil },
		func() { s.Links = map[string]string{pick(r, oddStrings): pick(r, oddStrings)} },
		func() { s.Links = nil },
		func() { s.Limit = resource.MustParse(pick(r, oddAmounts)) },
		func() { s.Nested = nested() },
		func() { s.Soft.Hint = pick(r, oddStrings) },
		func() {
			s.Entries = append(s.Entries[:len(s.Entries):len(s.Entries)], v1.Entry{Name: pick(r, oddStrings), Tags: strings()})
		},
		func() { s.Entries = nil },
		func() { s.Holder = maybe(r, "h") },
	)
	// Update sends null for these, which the schema refuses; a Flush sends [] and {}.
	if s.Items == nil {
		s.Items = []string{}
	}
	if s.Links == nil {
		s.Links = map[string]string{}
	}
	if s.Nested.Deep.Marks == nil {
		s.Nested.Deep.Marks = []int32{}
	}
	for i := range s.Entries {
		if s.Entries[i].Tags == nil {
			s.Entries[i].Tags = []string{}
		}
	}
}

func knobDifferential(w *wire, statuses *v1status.KnobStatusClient) *differential[*v1.Knob, v1.KnobStatus] {
	return &differential[*v1.Knob, v1.KnobStatus]{
		wire: w, kind: "Knob", mutate: mutateKnob,
		new:    func() *v1.Knob { return &v1.Knob{} },
		status: func(obj *v1.Knob) *v1.KnobStatus { return &obj.Status },
		fetch: func(ctx context.Context, key client.ObjectKey) (*v1.Knob, flush, error) {
			knob, p, err := statuses.Fetch(ctx, key)
			return knob, func(ctx context.Context) (patcher.Result, error) { return p.Flush(ctx) }, err
		},
	}
}

// TestDifferential: what Flush leaves on the server is what Update leaves, and nothing is sent again.
func TestDifferential(t *testing.T) {
	for name, opts := range map[string][]patcher.Option{
		"Knob": {patcher.MirrorTransitionTimes()}, "Knob, lists by entry": {patcher.MirrorTransitionTimes(), patcher.PatchListEntries()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			d := knobDifferential(w, v1status.NewKnobStatusClient(w, w, opts...))
			if err := d.run(t, *differentialSeed, *differentialPairs); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pairs, %d of which sent something", *differentialPairs, d.flushes)
			if d.flushes == 0 || d.flushes == *differentialPairs {
				t.Errorf("%d of %d pairs sent something: half of the test is missing", d.flushes, *differentialPairs)
			}
		})
	}
	t.Run("Gauge", func(t *testing.T) {
		t.Parallel()
		w := newWire(t)
		statuses := v1status.NewGaugeStatusClient(w, w, patcher.PatchListEntries())
		d := &differential[*v1.Gauge, v1.GaugeStatus]{
			wire: w, kind: "Gauge", mutate: mutateGauge,
			new:    func() *v1.Gauge { return &v1.Gauge{} },
			status: func(obj *v1.Gauge) *v1.GaugeStatus { return &obj.Status },
			fetch: func(ctx context.Context, key client.ObjectKey) (*v1.Gauge, flush, error) {
				gauge, p, err := statuses.Fetch(ctx, key)
				return gauge, func(ctx context.Context) (patcher.Result, error) { return p.Flush(ctx) }, err
			},
		}
		if err := d.run(t, *differentialSeed, *differentialPairs); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d pairs, %d of which sent something", *differentialPairs, d.flushes)
	})
	t.Run("control: equality that forgets a field is found", func(t *testing.T) {
		w := newWire(t)
		blind := patcher.Kind[*v1.Knob, v1.KnobStatus]{
			Name:         "Knob",
			New:          func() *v1.Knob { return &v1.Knob{} },
			Assign:       func(dst, src *v1.Knob) { *dst = *src },
			Status:       func(obj *v1.Knob) *v1.KnobStatus { return &obj.Status },
			DeepCopyInto: (*v1.KnobStatus).DeepCopyInto,
			Equal: func(a, b *v1.KnobStatus) bool {
				other := *b
				other.Phase = a.Phase
				return reflect.DeepEqual(a, &other)
			},
			Trim: func(_, _ *v1.KnobStatus) {},
		}
		statuses := patcher.NewClient(&blind, w, w, patcher.MirrorTransitionTimes())
		d := knobDifferential(w, nil)
		d.fetch = func(ctx context.Context, key client.ObjectKey) (*v1.Knob, flush, error) {
			p := &patcher.Patcher[*v1.Knob, v1.KnobStatus]{}
			knob, err := statuses.Fetch(ctx, key, p)
			return knob, p.Flush, err
		}
		if err := d.run(t, 1, 200); err == nil {
			t.Error("it is not")
		}
	})
}
