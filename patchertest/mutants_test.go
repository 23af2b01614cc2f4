package patchertest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/google/go-cmp/cmp"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// mint makes a plan once, with a write that is wrong in one way.
func mint(write func(context.Context, api, *cell.Cell, func(*cell.Cell)) error) func() patchertest.Model {
	return mintOnce(write)
}

// retryFromCache re-reads the cell from the cache after a conflict, as a widely used helper does.
func retryFromCache(ctx context.Context, c api, obj *cell.Cell, change func(*cell.Cell)) error {
	for attempt := 0; ; attempt++ {
		err := lockedPatch(ctx, c, obj, change)
		if !apierrors.IsConflict(err) || attempt == 3 {
			return ignoreConflict(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
	}
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// blindApply is server-side apply with force and without a resourceVersion.
func blindApply(ctx context.Context, c api, obj *cell.Cell, change func(*cell.Cell)) error {
	change(obj)
	applied := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"plan": map[string]any{"id": obj.Status.Plan.ID}}}}
	applied.SetGroupVersionKind(cell.GroupVersion.WithKind("Cell"))
	applied.SetName(obj.Name)
	applied.SetNamespace(obj.Namespace)
	return c.Status().Patch(ctx, applied, client.Apply, client.FieldOwner("cell"), client.ForceOwnership) //nolint:staticcheck // the mutant
}

// aliasedBase captures the base without copying it: the lock is there, and the diff is empty.
func aliasedBase(ctx context.Context, c api, obj *cell.Cell, change func(*cell.Cell)) error {
	base := obj
	change(obj)
	return c.Status().Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// twoWrites splits one decision: a crash or a foreign writer comes between.
func twoWrites(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.ObservedGeneration == obj.Generation {
		return reconcile.Result{}, nil
	}
	if err := lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.ObservedGeneration = o.Generation }); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = o.Spec.Size })
}

// liveGeneration decides on a cached spec and stamps the generation of a live read.
func liveGeneration(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	size := obj.Spec.Size
	fresh := &cell.Cell{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), fresh); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if fresh.Status.ObservedGeneration == fresh.Generation {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, lockedPatch(ctx, c, fresh, func(o *cell.Cell) {
		o.Status.Seen, o.Status.ObservedGeneration = size, o.Generation
	})
}

// resized is a foreign write of the spec, and what must follow from it.
func resized(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.Mutate(keyA, func(c *cell.Cell) { c.Spec.Size = 2 }))
	m.Invariants = append(m.Invariants, patchertest.Eventually("status is of the spec observed", func(h patchertest.History) error {
		c, ok := patchertest.Latest[*cell.Cell](h, keyA)
		if ok && c.Status.ObservedGeneration == c.Generation && c.Status.Seen != c.Spec.Size {
			return fmt.Errorf("generation %d is observed, seen is %d, size is %d", c.Generation, c.Status.Seen, c.Spec.Size)
		}
		return nil
	}))
}

// dirtyBase recaptures the base from an object with an edit that a failed write has left there.
func dirtyBase(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.ObservedGeneration == obj.Generation {
		return reconcile.Result{}, nil
	}
	if err := blind(ctx, c, obj, func(o *cell.Cell) { o.Status.Seen = o.Spec.Size }); err != nil {
		_ = err // swallowed: "the next write will carry it"
	}
	return reconcile.Result{}, blind(ctx, c, obj, func(o *cell.Cell) { o.Status.ObservedGeneration = o.Generation })
}

// oldBase flushes status on the base from before a finalizer update: the first flush conflicts, always.
func oldBase(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
	base := obj.DeepCopy()
	if controllerutil.AddFinalizer(obj, "test.dev/a") {
		if err := c.Update(ctx, obj); err != nil {
			return reconcile.Result{}, ignoreConflict(err)
		}
	}
	if obj.Status.Phase == "Done" {
		return reconcile.Result{}, nil
	}
	obj.Status.Phase = "Done"
	obj.ResourceVersion = base.ResourceVersion
	return reconcile.Result{}, c.Status().Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// noConflictAlone wants no reconcile to fail while nobody else writes: every one of its conflicts is with itself.
func noConflictAlone(m *patchertest.Model) {
	inner := m.Controllers[0].New
	failed := ""
	m.Controllers[0].New = func(c client.Client, live client.Reader) reconcile.Reconciler {
		r := inner(c, live)
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			result, err := r.Reconcile(ctx, req)
			if apierrors.IsConflict(err) {
				failed = "a reconcile conflicted with itself"
			}
			return result, err
		})
	}
	m.Invariants = append(m.Invariants, patchertest.Eventually("no conflict alone", func(patchertest.History) error {
		if failed != "" {
			return fmt.Errorf("%s", failed)
		}
		return nil
	}))
}

// mutants are the mistakes that must be found. Each differs in one line from a reconciler that is safe.
var mutants = []struct {
	name      string
	build     func() patchertest.Model
	opts      []patchertest.Option
	invariant string
	steps     int // at most
}{
	{"merge without lock", mint(blind), []patchertest.Option{replicas2}, "AtMostOneEver(status.plan.id)", 4},
	{"merge without lock, stale", with(mint(blind), foreignPlan), []patchertest.Option{stale}, "AtMostOneEver(status.plan.id)", 4},
	{"blind apply", mint(blindApply), []patchertest.Option{replicas2}, "AtMostOneEver(status.plan.id)", 4},
	{"retry from the cache", mint(retryFromCache), []patchertest.Option{replicas2, stale}, "AtMostOneEver(status.plan.id)", 12},
	{"aliased base", with(mint(aliasedBase), minted), nil, "minted in the end", 4},
	{"two writes for one decision", model(twoWrites, resized), []patchertest.Option{patchertest.Crashes(1)}, "status is of the spec observed", 8},
	{"generation of the live object", model(liveGeneration, resized), []patchertest.Option{stale}, "status is of the spec observed", 8},
	{"base recaptured dirty", model(dirtyBase, resized), []patchertest.Option{patchertest.Timeouts(1)}, "status is of the spec observed", 8},
	{"flush on the base before a finalizer", model(oldBase, noConflictAlone), nil, "no conflict alone", 8},
}

func minted(m *patchertest.Model) {
	m.Invariants = append(m.Invariants, patchertest.Eventually("minted in the end", func(h patchertest.History) error {
		if c, ok := patchertest.Latest[*cell.Cell](h, keyA); ok && c.Status.Plan == nil {
			return fmt.Errorf("there is no plan")
		}
		return nil
	}))
}

func foreignPlan(m *patchertest.Model) {
	m.Foreign = append(m.Foreign, patchertest.MutateStatus(keyA, func(c *cell.Cell) { c.Status.Plan = &cell.Plan{ID: "foreign"} }))
}

// TestMutants holds that each mistake is found, with the counterexample of its golden file.
func TestMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			start := time.Now()
			r := patchertest.Check(t, m.build, m.opts...)
			if r.Violation == nil || r.Violation.Invariant != m.invariant {
				t.Fatalf("expected a violation of %s, found %s", m.invariant, r)
			}
			if len(r.Violation.Steps) > m.steps {
				t.Errorf("expected at most %d steps, found %d:\n%s", m.steps, len(r.Violation.Steps), r)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("expected the mutant to be found within 30 s, found %s", took)
			}
			golden(t, m.name+".txt", r.String())
			golden(t, m.name+".mmd", r.Mermaid())
			replayed := patchertest.Replay(t, r.Violation.Token, m.build, m.opts...)
			if replayed.Violation == nil || !slices.Equal(replayed.Violation.Steps, r.Violation.Steps) || replayed.Violation.Detail != r.Violation.Detail {
				t.Errorf("expected the token to replay the counterexample\n%s\nfound\n%s", r, replayed)
			}
		})
	}
}

// lineNumber is left out of golden files: they must not change with the line of a test.
var lineNumber = regexp.MustCompile(`\.go:\d+`)

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = lineNumber.ReplaceAllString(got, ".go:N")
	file := filepath.Join("testdata", strings.NewReplacer(" ", "-", ",", "").Replace(name))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with go test -run %s -update", err, t.Name())
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant, write it anew with -update\n%s", file, diff)
	}
}
