package patchertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// random is a model that is drawn by its number: a reconciler of a few operations, and what happens around it.
type random struct {
	number                      int
	keys, replicas              int
	stale                       bool
	crashes, timeouts, early    int
	operations                  []string
	foreign                     []string
	ownsMaps, seesAll, requeues bool
	swallows                    bool
	invariant                   string
}

var (
	randomOperations = []string{
		"read live", "read the other", "list cells", "list maps live", "count locked", "count blind", "count updated", "copy the size",
		"add a finalizer", "create a map", "generate a map", "delete the map", "call once", "call if none", "stop at 1", "plan",
	}
	randomForeign    = []string{"edit spec", "edit status", "create a map", "delete", "edit the other", "call"}
	randomInvariants = []string{"", "", "", "lost", "one plan", "count", "both", "calls"}
)

func randomModel(number int) *random {
	rng := rand.New(rand.NewPCG(uint64(number), 42))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	chance := func(n int) bool { return rng.IntN(n) == 0 }
	m := &random{number: number, keys: 1, replicas: 1, early: rng.IntN(2)}
	for range 1 + rng.IntN(3) {
		m.operations = append(m.operations, pick(randomOperations))
	}
	for range rng.IntN(3) {
		m.foreign = append(m.foreign, pick(randomForeign))
	}
	switch rng.IntN(4) {
	case 0:
		m.replicas = 2
	case 1:
		m.keys = 2
	}
	m.stale, m.ownsMaps, m.seesAll = chance(2), chance(3), chance(4)
	m.requeues, m.swallows = chance(4), chance(4)
	switch rng.IntN(4) {
	case 0:
		m.crashes = 1
	case 1:
		m.timeouts = 1
	}
	m.invariant = pick(randomInvariants)
	return m
}

// String describes the model.
func (m *random) String() string { return fmt.Sprintf("%+v", *m) }

func (m *random) options() []Option {
	// A violation of a demand would end schedules, and hide the states that follow.
	opts := []Option{Without(demandNames()...), Replicas(m.replicas), Crashes(m.crashes), Timeouts(m.timeouts), EarlyTimers(m.early), MaxReconciles(60), Watchdog(time.Minute)}
	if m.stale {
		opts = append(opts, StaleReads())
	}
	return opts
}

// outside is a fake of an outside system: a count, and what was asked of it.
type outside struct {
	count int
	log   []string
}

func (o *outside) ask(ctx context.Context, name string, add int) (int, error) {
	return Call(ctx, "outside."+name, func() (int, error) {
		o.count += add
		o.log = append(o.log, fmt.Sprintf("%s=%d", name, o.count))
		return o.count, nil
	})
}

var (
	randomScheme = cell.NewScheme()
	randomCRDs   = cell.CRDs()
)

func randomKey(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: name}
}

func randomMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// build returns a function that builds the model. Each schedule that comes to rest adds its final state to states.
func (m *random) build(states map[string]bool) func() Model {
	return func() Model {
		system := &outside{}
		model := Model{Scheme: randomScheme, CRDs: randomCRDs}
		for i := range m.keys {
			model.Objects = append(model.Objects, &cell.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: string(rune('a' + i))}, Spec: cell.Spec{Size: 1}})
		}
		controller := Controller{Name: "cell", For: &cell.Cell{}, New: func(c client.Client, live client.Reader) reconcile.Reconciler {
			return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				return (&randomRun{m: m, c: c, live: live, system: system, key: req.NamespacedName}).reconcile(ctx)
			})
		}}
		if m.ownsMaps {
			controller.Owns = []client.Object{&corev1.ConfigMap{}}
		}
		if m.seesAll {
			controller.Watches = []Watch{{Object: &corev1.ConfigMap{}, Map: func(context.Context, client.Client, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: randomKey("a")}}
			}}}
		}
		model.Controllers = []Controller{controller}
		for i, name := range m.foreign {
			model.Foreign = append(model.Foreign, m.step(name, system).By(fmt.Sprint("writer ", i)))
		}
		// A violation would end the schedule, and the states after it would not be compared: it is noted in the final state.
		violated := map[string]bool{}
		for _, invariant := range m.invariants(system) {
			check := invariant.commit
			invariant.commit = func(h *History) error {
				if err := check(h); err != nil {
					violated[invariant.name] = true
				}
				return nil
			}
			model.Invariants = append(model.Invariants, invariant)
		}
		model.Invariants = append(model.Invariants, Eventually("the end", func(h History) error {
			states[fmt.Sprint(finalState(&h, system), slices.Sorted(maps.Keys(violated)))] = true
			return nil
		}))
		return model
	}
}

func (m *random) step(name string, system *outside) Step {
	switch name {
	case "edit spec":
		return Mutate(randomKey("a"), func(c *cell.Cell) { c.Spec.Size++ })
	case "edit status":
		return MutateStatus(randomKey("a"), func(c *cell.Cell) { c.Status.Child = "foreign" })
	case "create a map":
		return Create(randomMap("foreign"))
	case "delete":
		return Delete[*cell.Cell](randomKey("a"))
	case "edit the other":
		return MutateStatus(randomKey("b"), func(c *cell.Cell) { c.Status.Seen = 1 })
	}
	return Step{Name: "call", Run: func(ctx context.Context, _ client.Client) error {
		_, err := system.ask(ctx, "foreign", 10)
		return err
	}}
}

func (m *random) invariants(system *outside) []Invariant {
	switch m.invariant {
	case "lost":
		return []Invariant{NoLostStatusWrite()}
	case "one plan":
		return []Invariant{AtMostOneEver("status.plan.id")}
	case "count":
		return []Invariant{Always("count", func(h History) error {
			if c, ok := Latest[*cell.Cell](h, randomKey("a")); ok && c.Status.Seen > 1 {
				return errors.New("too many")
			}
			return nil
		})}
	case "both":
		return []Invariant{Always("both", func(h History) error {
			a, _ := Latest[*cell.Cell](h, randomKey("a"))
			b, ok := Latest[*cell.Cell](h, randomKey("b"))
			if ok && a != nil && b.Status.Seen > a.Status.Seen {
				return errors.New("b is ahead of a")
			}
			return nil
		})}
	case "calls":
		return []Invariant{Always("calls", func(h History) error {
			if a, ok := Latest[*cell.Cell](h, randomKey("a")); ok && system.count > 0 && a.Status.Seen == 0 && a.Spec.Size > 1 {
				return errors.New("called before it was seen")
			}
			return nil
		})}
	}
	return nil
}

// randomRun is one reconcile.
type randomRun struct {
	m      *random
	c      client.Client
	live   client.Reader
	system *outside
	key    client.ObjectKey
	obj    *cell.Cell
	value  int64 // what the last read came to
}

func (r *randomRun) reconcile(ctx context.Context) (reconcile.Result, error) {
	r.obj = &cell.Cell{}
	if err := r.c.Get(ctx, r.key, r.obj); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for _, operation := range r.m.operations {
		if operation == "stop at 1" && r.obj.Status.Seen >= 1 {
			break
		}
		if err := r.do(ctx, operation); err != nil {
			if r.m.swallows {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{}, err
		}
	}
	if r.m.requeues && r.obj.Status.Seen < 2 {
		return reconcile.Result{RequeueAfter: 5 * time.Second}, nil
	}
	return reconcile.Result{}, nil
}

func (r *randomRun) do(ctx context.Context, operation string) error {
	switch operation {
	case "read live":
		fresh := &cell.Cell{}
		if err := r.live.Get(ctx, r.key, fresh); err != nil {
			return client.IgnoreNotFound(err)
		}
		r.value, r.obj = fresh.Status.Seen, fresh
	case "read the other":
		other := &cell.Cell{}
		err := r.c.Get(ctx, randomKey(map[string]string{"a": "b", "b": "a"}[r.key.Name]), other)
		r.value = other.Status.Seen
		return client.IgnoreNotFound(err)
	case "list cells":
		var list cell.CellList
		err := r.c.List(ctx, &list)
		r.value = 0
		for i := range list.Items {
			r.value += list.Items[i].Status.Seen
		}
		return err
	case "list maps live":
		var list corev1.ConfigMapList
		err := r.live.List(ctx, &list)
		r.value = int64(len(list.Items))
		return err
	case "call once", "call if none":
		return r.call(ctx, operation)
	case "create a map", "generate a map", "delete the map":
		return r.touchMap(ctx, operation)
	case "add a finalizer":
		if r.obj.DeletionTimestamp == nil && controllerutil.AddFinalizer(r.obj, "test.dev/a") {
			return r.c.Update(ctx, r.obj)
		}
	default:
		return r.write(ctx, operation)
	}
	return nil
}

func (r *randomRun) write(ctx context.Context, operation string) error {
	base := r.obj.DeepCopy()
	switch operation {
	case "copy the size":
		r.obj.Status.Seen = min(r.obj.Spec.Size, 2)
	case "plan":
		if r.obj.Status.Plan != nil {
			return nil
		}
		r.obj.Status.Plan = &cell.Plan{ID: fmt.Sprintf("%s-%d", r.obj.Status.Child, r.value+r.obj.Spec.Size)}
	default:
		if r.obj.Status.Seen >= 2 {
			return nil
		}
		r.obj.Status.Seen = min(max(r.obj.Status.Seen, r.value)+1, 2)
	}
	if base.Status.Seen == r.obj.Status.Seen && operation != "plan" {
		return nil
	}
	switch operation {
	case "count updated":
		return r.c.Status().Update(ctx, r.obj)
	case "count blind", "plan":
		return r.c.Status().Patch(ctx, r.obj, client.MergeFrom(base))
	}
	return r.c.Status().Patch(ctx, r.obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

func (r *randomRun) call(ctx context.Context, operation string) error {
	if operation == "call if none" {
		found, err := r.system.ask(ctx, "list", 0)
		if err != nil || found > 0 {
			return err
		}
	} else if r.obj.Status.Child != "" {
		return nil
	}
	made, err := r.system.ask(ctx, "create", 1)
	if err != nil {
		return err
	}
	base := r.obj.DeepCopy()
	r.obj.Status.Child = fmt.Sprint("made-", made)
	return r.c.Status().Patch(ctx, r.obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

func (r *randomRun) touchMap(ctx context.Context, operation string) error {
	child := randomMap(r.key.Name)
	if operation == "delete the map" {
		return client.IgnoreNotFound(r.c.Delete(ctx, child))
	}
	if operation == "generate a map" {
		if r.obj.Status.Seen > 0 {
			return nil
		}
		child.Name, child.GenerateName = "", "map-"
	}
	if err := controllerutil.SetControllerReference(r.obj, child, r.c.Scheme()); err != nil {
		return err
	}
	if err := r.c.Create(ctx, child); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if operation == "generate a map" {
		return r.write(ctx, "count locked")
	}
	return nil
}

// finalState is every version of every object, without what the order of independent steps decides, and the outside system.
func finalState(h *History, system *outside) string {
	versions := map[string][]string{}
	for _, c := range h.commits {
		if c.Type == watch.Deleted {
			versions[world.Short(c.Key)] = append(versions[world.Short(c.Key)], "deleted")
			continue
		}
		versions[world.Short(c.Key)] = append(versions[world.Short(c.Key)], shape(c.After))
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(versions)) {
		out = append(out, key+": "+strings.Join(versions[key], " > "))
	}
	return strings.Join(append(out, "outside: "+strings.Join(system.log, " ")), "; ")
}

func shape(content map[string]any) string {
	metadata, _ := content["metadata"].(map[string]any)
	text, err := json.Marshal([]any{metadata["generation"], metadata["finalizers"], metadata["deletionTimestamp"] != nil, content["spec"], content["status"]})
	if err != nil {
		panic(err)
	}
	return string(text)
}
