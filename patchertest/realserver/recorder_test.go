package realserver_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

func TestRecorderSeesWhatTheServerIsAsked(t *testing.T) {
	budget := createBudget(t)
	recorder := &realserver.Recorder{}
	c := server.Client(t, scheme.Scheme, recorder.Wrap)
	if err := c.Get(bounded(t), client.ObjectKeyFromObject(budget), budget); err != nil {
		t.Fatal(err)
	}
	if err := allow(bounded(t), c, budget, 3, true); err != nil {
		t.Fatal(err)
	}
	if err := allow(bounded(t), c, budget, 4, true); err == nil { // the version has moved
		t.Fatal("expected a conflict")
	}
	requests := recorder.Requests()
	want := map[string]int{"get poddisruptionbudgets": 1, "patch poddisruptionbudgets/status": 2}
	if diff := cmp.Diff(want, realserver.Count(requests)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if got := []int{requests[0].Code, requests[1].Code, requests[2].Code}; !cmp.Equal(got, []int{200, 200, http.StatusConflict}) {
		t.Errorf("answers %v", got)
	}
	patch, err := realserver.OneStatusPatch(requests[:2])
	if err != nil {
		t.Fatal(err)
	}
	if patch.ContentType != string(types.MergePatchType) || patch.ResourceVersion() != budget.ResourceVersion {
		t.Errorf("got %s at resourceVersion %q, want a merge patch at %q", patch.ContentType, patch.ResourceVersion(), budget.ResourceVersion)
	}
	if patch.Group != "policy" || patch.Version != "v1" || patch.Namespace != budget.Namespace || patch.Name != "a" {
		t.Errorf("the request is not about the object: %+v", patch)
	}
	recorder.Reset()
	if requests := recorder.Requests(); len(requests) != 0 {
		t.Errorf("after Reset: %v", requests)
	}
}

// A negative control for each thing that OneStatusPatch promises.
func TestOneStatusPatchRefuses(t *testing.T) {
	budget := createBudget(t)
	for _, row := range []struct {
		name, want string
		do         func(context.Context, client.Client) error
	}{
		{"no write", "found 0 among: get poddisruptionbudgets", func(ctx context.Context, c client.Client) error {
			return c.Get(ctx, client.ObjectKeyFromObject(budget), budget.DeepCopy())
		}},
		{"a blind write", "expected metadata.resourceVersion in the body", func(ctx context.Context, c client.Client) error {
			return allow(ctx, c, budget, 1, false)
		}},
		{"two writes", "found 2 among", func(ctx context.Context, c client.Client) error {
			return errors.Join(allow(ctx, c, budget, 2, false), allow(ctx, c, budget, 3, false))
		}},
		{"an update", "found an update", func(ctx context.Context, c client.Client) error {
			return c.Status().Update(ctx, live(t, budget))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			recorder := &realserver.Recorder{}
			if err := row.do(bounded(t), server.Client(t, scheme.Scheme, recorder.Wrap)); err != nil {
				t.Fatal(err)
			}
			if _, err := realserver.OneStatusPatch(recorder.Requests()); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestRecorderTellsReconcilesApart(t *testing.T) {
	a, b := createBudget(t), createBudget(t)
	recorder := &realserver.Recorder{}
	c := server.Client(t, scheme.Scheme, recorder.Wrap)
	failed := errors.New("b is not wanted")
	met := make(chan struct{}) // both reconciles are running
	reconciler := recorder.Reconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if req == requestFor(b) {
			met <- struct{}{}
			return reconcile.Result{}, errors.Join(failed, c.Get(ctx, req.NamespacedName, &policyv1.PodDisruptionBudget{}))
		}
		<-met
		return reconcile.Result{}, allow(ctx, c, a, 1, true)
	}))
	ended := make(chan error)
	go func() { _, err := reconciler.Reconcile(bounded(t), requestFor(a)); ended <- err }()
	_, errB := reconciler.Reconcile(bounded(t), requestFor(b))
	if errA := <-ended; errA != nil || !errors.Is(errB, failed) {
		t.Fatalf("the wrapper changed what the reconciles return: %v, %v", errA, errB)
	}
	if err := allow(bounded(t), c, b, 1, true); err != nil { // outside of any reconcile
		t.Fatal(err)
	}
	got := map[reconcile.Request]map[string]int{}
	for _, r := range recorder.Reconciles() {
		got[r.Request] = realserver.Count(r.Requests)
	}
	want := map[reconcile.Request]map[string]int{
		requestFor(a): {"patch poddisruptionbudgets/status": 1},
		requestFor(b): {"get poddisruptionbudgets": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all := recorder.Requests(realserver.StatusWrites()); len(all) != 2 {
		t.Errorf("%d status writes in all, want 2", len(all))
	}
}
