package patchertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// onceKind is what the generator would write for a cell whose plan ID and child are written once.
var onceKind = &patcher.Kind[*cell.Cell, cell.Status]{
	Name:   "Cell",
	New:    func() *cell.Cell { return &cell.Cell{} },
	Assign: patcher.Assign[cell.Cell],
	Status: func(obj *cell.Cell) *cell.Status { return &obj.Status },
	DeepCopyInto: func(in, out *cell.Status) {
		*out = (&cell.Cell{Status: *in}).DeepCopy().Status
	},
	Equal:     patcher.EqualDeep[cell.Status],
	Trim:      func(_, _ *cell.Status) {},
	WriteOnce: []string{"plan.id", "child"},
}

type (
	cellClient  = patcher.Client[*cell.Cell, cell.Status]
	cellPatcher = patcher.Patcher[*cell.Cell, cell.Status]
)

// patched is a controller on a patcher of cells.
func patched(do func(ctx context.Context, obj *cell.Cell, p *cellPatcher) (reconcile.Result, error)) patchertest.Controller {
	return patchertest.Controller{Name: "cell", For: &cell.Cell{}, New: func(c client.Client, live client.Reader) reconcile.Reconciler {
		cells := patcher.NewClient(onceKind, c, live)
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
			p := &cellPatcher{}
			obj, err := cells.Fetch(ctx, req.NamespacedName, p)
			if err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			defer func() { p.FlushOnReturn(ctx, recover(), &result, &err) }()
			return do(ctx, obj, p)
		})
	}}
}

// rewriter plans under a new ID for each size, over the plan that is there.
func rewriter(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.Plan != nil && obj.Status.Plan.Step == obj.Spec.Size {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) {
		o.Status.Plan = &cell.Plan{ID: fmt.Sprint("p-", o.Spec.Size), Step: o.Spec.Size}
	})
}

// replanner removes the plan first.
func replanner(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if plan := obj.Status.Plan; plan != nil && plan.Step != obj.Spec.Size {
		return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Plan = nil })
	}
	return rewriter(ctx, c, obj)
}

func grown(m *patchertest.Model) {
	m.Invariants = nil
	m.Foreign = append(m.Foreign, patchertest.Mutate(client.ObjectKeyFromObject(m.Objects[0]), func(o *cell.Cell) { o.Spec.Size++ }))
}

func TestWriteOnceFieldsAreKept(t *testing.T) {
	kinds := func(m *patchertest.Model) { m.Kinds = []patcher.AnyKind{onceKind} }
	beside := func(m *patchertest.Model) { // another controller uses a patcher of the kind
		p := patched(func(context.Context, *cell.Cell, *cellPatcher) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		})
		p.Name = "beside"
		m.Controllers = append(m.Controllers, p)
	}
	const demand = "WriteOnceFieldsAreKept"
	for _, row := range []struct {
		name  string
		build func() patchertest.Model
		want  string
	}{
		{"a rewrite, with the kind declared", model(rewriter, grown, kinds), demand},
		{"a rewrite, with the kind in use", model(rewriter, grown, beside), demand},
		{"a plan that goes before the next one comes", model(replanner, grown, kinds), ""},
		{"control: nobody says that the field is written once", model(rewriter, grown), ""},
	} {
		r := patchertest.Check(t, row.build)
		switch {
		case row.want == "" && r.Violation != nil, row.want != "" && (r.Violation == nil || r.Violation.Invariant != row.want):
			t.Errorf("%s: expected %q, found %s", row.name, row.want, r)
		case row.want != "" && !strings.Contains(r.Violation.Detail, "status.plan.id of cell/a is written once"):
			t.Errorf("%s: the report does not name the field: %s", row.name, r)
		}
	}
	if r := patchertest.Check(t, model(rewriter, grown, kinds), patchertest.Without(demand)); r.Violation != nil {
		t.Errorf("expected %s to be switched off, found %s", demand, r)
	}
}

// outside is a fake cloud whose calls are steps. It knows which of its resources an error has named.
type outside struct {
	minted int
	live   []string
	named  map[string]bool
}

func (o *outside) mint() string { o.minted++; return fmt.Sprint("k-", o.minted) }

// ensure makes the resource of that key, if it does not exist.
func (o *outside) ensure(ctx context.Context, key string) error {
	_, err := patchertest.Call(ctx, "cloud.Ensure", func() (string, error) {
		if !slices.Contains(o.live, key) {
			o.live = append(o.live, key)
		}
		return key, nil
	})
	return err
}

func (o *outside) create(ctx context.Context) (string, error) {
	return patchertest.Call(ctx, "cloud.Create", func() (string, error) {
		id := fmt.Sprint("r-", len(o.live)+len(o.named)+1)
		o.live = append(o.live, id)
		return id, nil
	})
}

func (o *outside) list(ctx context.Context) ([]string, error) {
	return patchertest.Call(ctx, "cloud.List", func() ([]string, error) { return slices.Clone(o.live), nil })
}

func (o *outside) delete(ctx context.Context, id string) error {
	_, err := patchertest.Call(ctx, "cloud.Delete", func() (string, error) {
		o.live = slices.DeleteFunc(o.live, func(l string) bool { return l == id })
		return id, nil
	})
	return err
}

// referenced wants every resource to be in the status at rest, or named in an error.
func (o *outside) referenced(path func(*cell.Cell) string) patchertest.Invariant {
	return patchertest.Eventually("every resource is referenced", func(h patchertest.History) error {
		obj, _ := patchertest.Latest[*cell.Cell](h, client.ObjectKey{Namespace: "default", Name: "a"})
		for _, id := range o.live {
			if id != path(obj) && !o.named[id] {
				return fmt.Errorf("nothing refers to %s; the status has %q, and the resources are %s", id, path(obj), strings.Join(o.live, ", "))
			}
		}
		return nil
	})
}

// claimedFirst wants every key to be committed before anything is made under it.
func (o *outside) claimedFirst() patchertest.Invariant {
	return patchertest.Always("claimed first", func(h patchertest.History) error {
		for _, key := range o.live {
			if !slices.ContainsFunc(patchertest.Versions[*cell.Cell](h, client.ObjectKey{Namespace: "default", Name: "a"}), func(c *cell.Cell) bool {
				return c.Status.Plan != nil && c.Status.Plan.ID == key
			}) {
				return fmt.Errorf("%s was made before it was stored", key)
			}
		}
		return nil
	})
}

func planID(c *cell.Cell) string {
	if c.Status.Plan == nil {
		return ""
	}
	return c.Status.Plan.ID
}

func childOf(c *cell.Cell) string { return c.Status.Child }

type externally func(ctx context.Context, o *outside, obj *cell.Cell, p *cellPatcher) error

// external is a model of a reconciler that makes something outside.
func external(do externally, invariants func(*outside) []patchertest.Invariant, change ...func(*patchertest.Model)) func() patchertest.Model {
	return func() patchertest.Model {
		o := &outside{named: map[string]bool{}}
		m := model(nil)()
		m.Controllers = []patchertest.Controller{patched(func(ctx context.Context, obj *cell.Cell, p *cellPatcher) (reconcile.Result, error) {
			err := do(ctx, o, obj, p)
			var lost *patcher.NotRecordedError
			if errors.As(err, &lost) {
				o.named[lost.Value] = true
			}
			return patcher.RequeueOnConflict(err)
		})}
		m.Invariants = invariants(o)
		for _, f := range change {
			f(&m)
		}
		return m
	}
}

// claiming makes its resource under a claimed key.
func claiming(ctx context.Context, o *outside, obj *cell.Cell, p *cellPatcher) error {
	if obj.Status.Phase == "Made" {
		return nil
	}
	id, err := patcher.Claim(ctx, p, "plan.id", o.mint)
	if err == nil {
		err = o.ensure(ctx, id)
	}
	if err == nil {
		obj.Status.Phase = "Made"
	}
	return err
}

// mintingAndMaking makes the resource under a key that is stored afterwards.
func mintingAndMaking(ctx context.Context, o *outside, obj *cell.Cell, _ *cellPatcher) error {
	if obj.Status.Phase == "Made" {
		return nil
	}
	if obj.Status.Plan == nil {
		obj.Status.Plan = &cell.Plan{ID: o.mint()}
	}
	obj.Status.Phase = "Made"
	return o.ensure(ctx, obj.Status.Plan.ID)
}

// recording looks for a resource, makes one if there is none, and records it at once.
func recording(ctx context.Context, o *outside, obj *cell.Cell, p *cellPatcher) error {
	if obj.Status.Child != "" {
		return nil
	}
	found, err := o.list(ctx)
	if err != nil {
		return err
	}
	id := ""
	for _, l := range found {
		if !o.named[l] {
			id = l
		}
	}
	if id == "" {
		if id, err = o.create(ctx); err != nil {
			return err
		}
	}
	err = patcher.Record(ctx, p, "child", id)
	var lost *patcher.NotRecordedError
	if errors.As(err, &lost) && lost.Existing != "" && lost.Existing != id {
		err = errors.Join(err, o.delete(ctx, id))
	}
	return err
}

// flushing leaves the ID to the Flush at the end, as handwritten controllers do.
func flushing(ctx context.Context, o *outside, obj *cell.Cell, _ *cellPatcher) (err error) {
	if obj.Status.Child == "" {
		obj.Status.Child, err = o.create(ctx)
	}
	return err
}

func seenBy(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Mutate(client.ObjectKeyFromObject(m.Objects[0]), func(o *cell.Cell) { o.Labels = map[string]string{"seen": "yes"} }))
}

// TestExternalResources: Claim and Record under a crash or a timeout at every point, two replicas and stale reads leave no resource
// that nothing refers to, and that no error has named.
func TestExternalResources(t *testing.T) {
	claims := func(o *outside) []patchertest.Invariant {
		return []patchertest.Invariant{o.referenced(planID), o.claimedFirst(), patchertest.AtMostOneEver("status.plan.id")}
	}
	records := func(o *outside) []patchertest.Invariant { return []patchertest.Invariant{o.referenced(childOf)} }
	plans := func(o *outside) []patchertest.Invariant { return []patchertest.Invariant{o.referenced(planID)} }
	crash, timeout, crash2 := patchertest.Crashes(1), patchertest.Timeouts(1), patchertest.Crashes(2)
	for _, row := range []struct {
		name  string
		build func() patchertest.Model
		opts  []patchertest.Option
		found bool // the resource that nothing refers to
	}{
		{"Claim, two crashes", external(claiming, claims), []patchertest.Option{crash2}, false},
		{"Claim, two timeouts", external(claiming, claims), []patchertest.Option{patchertest.Timeouts(2)}, false},
		{"Claim, a crash and a timeout", external(claiming, claims), []patchertest.Option{crash, timeout}, false},
		{"Claim, two replicas", external(claiming, claims), []patchertest.Option{replicas2}, false},
		{"Claim, two replicas and a crash", external(claiming, claims), []patchertest.Option{replicas2, crash}, false},
		{"Claim, stale reads and a crash", external(claiming, claims), []patchertest.Option{stale, crash}, false},
		{"Claim, a foreign writer and a timeout", external(claiming, claims, seenBy), []patchertest.Option{timeout}, false},
		{"Record, a crash", external(recording, records), []patchertest.Option{crash}, false},
		{"Record, two timeouts", external(recording, records), []patchertest.Option{patchertest.Timeouts(2)}, false},
		{"Record, stale reads", external(recording, records), []patchertest.Option{stale}, false},
		{"Record, two replicas", external(recording, records), []patchertest.Option{replicas2}, false},
		{"Record, a foreign writer and a crash", external(recording, records, seenBy), []patchertest.Option{crash}, false},
		{"Record, a foreign writer and a timeout", external(recording, records, seenBy), []patchertest.Option{timeout}, false},
		{"control: a key that is made under before it is stored", external(mintingAndMaking, claims), nil, true},
		{"control: a key that is stored afterwards, a crash", external(mintingAndMaking, plans), []patchertest.Option{crash}, true},
		{"control: a key that is stored afterwards, two replicas", external(mintingAndMaking, plans), []patchertest.Option{replicas2}, true},
		{"control: an ID that is left to the Flush, two replicas", external(flushing, records), []patchertest.Option{replicas2}, true},
		{"control: an ID that is left to the Flush, a foreign writer", external(flushing, records, seenBy), nil, true},
		{"control: an ID that is left to the Flush, a timeout", external(flushing, records), []patchertest.Option{timeout}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := patchertest.Check(t, row.build, append(row.opts, patchertest.Without("NoErrorIsSwallowed"))...)
			switch {
			case row.found && (r.Violation == nil || r.Violation.Broken):
				t.Errorf("expected a resource that nothing refers to, found %s", r)
			case !row.found && (r.Violation != nil || !r.Exhaustive):
				t.Errorf("expected every schedule to be right, found %s", r)
			}
			t.Log(strings.SplitN(r.String(), "\n", 2)[0])
		})
	}
}
