package patchertest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

// machines is a fake cloud. Its methods are steps of the schedule if step is set.
type machines struct {
	step  bool
	made  []string
	live  map[string]bool
	asked int
}

func (m *machines) create(ctx context.Context) (string, error) {
	create := func() (string, error) {
		id := fmt.Sprintf("m-%d", len(m.made)+1)
		m.made = append(m.made, id)
		if m.live == nil {
			m.live = map[string]bool{}
		}
		m.live[id] = true
		return id, nil
	}
	if m.step {
		return patchertest.Call(ctx, "cloud.Create", create)
	}
	return create()
}

func (m *machines) list(ctx context.Context) ([]string, error) {
	list := func() ([]string, error) { return slices.Clone(m.made), nil }
	if m.step {
		return patchertest.Call(ctx, "cloud.List", list)
	}
	return list()
}

// oneMachine wants no two machines.
func oneMachine(cloud *machines) patchertest.Invariant {
	return patchertest.Eventually("one machine", func(patchertest.History) error {
		if len(cloud.made) > 1 {
			return fmt.Errorf("%d machines: %s", len(cloud.made), strings.Join(cloud.made, ", "))
		}
		return nil
	})
}

// withCloud builds a model whose reconciler uses a cloud of its own in every schedule.
func withCloud(step bool, do func(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error)) func() patchertest.Model {
	return func() patchertest.Model {
		cloud := &machines{step: step}
		m := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			return do(ctx, c, cloud, obj)
		})()
		m.Invariants = append(m.Invariants, oneMachine(cloud))
		return m
	}
}

// finalizerThenMachine writes a finalizer, creates a machine, and records it: a crash before the last write loses the machine.
func finalizerThenMachine(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.Child != "" {
		return reconcile.Result{}, nil
	}
	if controllerutil.AddFinalizer(obj, "test.dev/machine") {
		if err := c.Update(ctx, obj); err != nil {
			return reconcile.Result{}, err
		}
	}
	id, err := cloud.create(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Child = id })
}

// listThenMachine looks for a machine before it creates one.
func listThenMachine(ctx context.Context, c api, cloud *machines, obj *cell.Cell) (reconcile.Result, error) {
	if obj.Status.Child != "" {
		return reconcile.Result{}, nil
	}
	found, err := cloud.list(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(found) == 0 {
		id, err := cloud.create(ctx)
		if err != nil {
			return reconcile.Result{}, err
		}
		found = []string{id}
	}
	return reconcile.Result{}, lockedPatch(ctx, c, obj, func(o *cell.Cell) { o.Status.Child = found[0] })
}

// TestCrashBeforeALaterWrite: the crash that loses the machine falls between the second and the third effect of one reconcile.
func TestCrashBeforeALaterWrite(t *testing.T) {
	for _, step := range []bool{false, true} {
		r := patchertest.Check(t, withCloud(step, finalizerThenMachine), patchertest.Crashes(1))
		if r.Violation == nil || r.Violation.Invariant != "one machine" {
			t.Errorf("cloud calls as steps %v: expected a second machine after a crash, found %s", step, r)
		}
		// The negative control: without a crash there is one machine.
		if r := patchertest.Check(t, withCloud(step, finalizerThenMachine)); r.Violation != nil || !r.Exhaustive {
			t.Errorf("cloud calls as steps %v: expected one machine without a crash, found %s", step, r)
		}
		if r := patchertest.Check(t, withCloud(step, listThenMachine), patchertest.Crashes(2)); r.Violation != nil || !r.Exhaustive {
			t.Errorf("cloud calls as steps %v: expected a reconciler that looks first to hold, found %s", step, r)
		}
	}
}

// TestCrashAtRest: what a process only remembers is lost by a crash when nothing is left to do.
func TestCrashAtRest(t *testing.T) {
	build := func(durable bool) func() patchertest.Model {
		return func() patchertest.Model {
			cloud := &machines{step: true}
			m := model(nil)()
			m.Controllers[0].New = func(c client.Client, live client.Reader) reconcile.Reconciler {
				remembered := ""
				return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					if durable {
						found, err := cloud.list(ctx)
						if err != nil {
							return reconcile.Result{}, err
						}
						remembered = strings.Join(found, "")
					}
					if remembered != "" {
						return reconcile.Result{}, nil
					}
					id, err := cloud.create(ctx)
					remembered = id
					return reconcile.Result{}, err
				})
			}
			m.Invariants = []patchertest.Invariant{oneMachine(cloud)}
			return m
		}
	}
	r := patchertest.Check(t, build(false), patchertest.Crashes(1))
	if r.Violation == nil || r.Violation.Invariant != "one machine" {
		t.Errorf("expected the restarted process to create a second machine, found %s", r)
	}
	if r := patchertest.Check(t, build(true), patchertest.Crashes(1)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a process that asks the cloud to hold, found %s", r)
	}
}

// TestTwoLeadersListAndCreate: calls of an outside system interleave. As plain Go calls they do not.
func TestTwoLeadersListAndCreate(t *testing.T) {
	r := patchertest.Check(t, withCloud(true, listThenMachine), replicas2)
	if r.Violation == nil || r.Violation.Invariant != "one machine" {
		t.Fatalf("expected two leaders that list and then create to be found, found %s", r)
	}
	golden(t, "two leaders list and create.txt", r.String())
	golden(t, "two leaders list and create.mmd", r.Mermaid())
	replayed := patchertest.Replay(t, r.Violation.Token, withCloud(true, listThenMachine), replicas2)
	if replayed.Violation == nil || !slices.Equal(replayed.Violation.Steps, r.Violation.Steps) {
		t.Errorf("expected the token to replay\n%s\nfound\n%s", r, replayed)
	}
	if r := patchertest.Check(t, withCloud(false, listThenMachine), replicas2); r.Violation != nil {
		t.Errorf("expected plain Go calls to stay atomic, as the documentation says, found %s", r)
	}
}

// TestCallTimesOut: a timeout comes before or after the effect, and the caller can tell a timeout from other errors.
func TestCallTimesOut(t *testing.T) {
	once := func(ctx context.Context, _ api, cloud *machines, _ *cell.Cell) (reconcile.Result, error) {
		_, err := cloud.create(ctx)
		var timeout *patchertest.TimeoutError
		if err != nil && (!errors.As(err, &timeout) || !timeout.Timeout() || !strings.Contains(err.Error(), "cloud.Create")) {
			panic(fmt.Sprintf("expected a timeout of cloud.Create, found %v", err))
		}
		return reconcile.Result{}, err
	}
	r := patchertest.Check(t, with(withCloud(true, once), func(m *patchertest.Model) {
		m.Invariants = append(m.Invariants, patchertest.NoPanics())
	}), patchertest.Timeouts(1))
	if r.Violation == nil || r.Violation.Invariant != "one machine" || !strings.Contains(r.String(), "took effect all the same") {
		t.Errorf("expected a call that took effect and timed out to make a second machine, found %s", r)
	}
	if r := patchertest.Check(t, withCloud(true, listThenMachine), patchertest.Timeouts(2), patchertest.Crashes(1)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected a reconciler that looks first to hold, found %s", r)
	}
}

// TestAlwaysIsJudgedAfterACall: the outside world is wrong for a moment only, between two calls, beside a write to the API.
func TestAlwaysIsJudgedAfterACall(t *testing.T) {
	build := func(wrong bool) func() patchertest.Model {
		return func() patchertest.Model {
			open := 0
			m := model(func(ctx context.Context, _ api, _ *cell.Cell) (reconcile.Result, error) {
				for _, change := range []int{1, -1} {
					if _, err := patchertest.Call(ctx, "gate.Move", func() (int, error) { open += change; return open, nil }); err != nil {
						return reconcile.Result{}, err
					}
				}
				return reconcile.Result{}, nil
			}, paused)()
			m.Invariants = append(m.Invariants, patchertest.Always("closed while paused", func(h patchertest.History) error {
				c, ok := patchertest.Latest[*cell.Cell](h, keyA)
				if wrong && ok && c.Spec.Paused && open > 0 {
					return errors.New("open and paused")
				}
				return nil
			}))
			return m
		}
	}
	if r := patchertest.Check(t, build(true)); r.Violation == nil {
		t.Errorf("expected the moment between two calls to be judged, found %s", r)
	}
	if r := patchertest.Check(t, build(false)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected no violation, found %s", r)
	}
}

// TestTransport: the client of an SDK is explored through its HTTP requests.
func TestTransport(t *testing.T) {
	build := func() patchertest.Model {
		cloud := &machines{}
		mux := http.NewServeMux()
		mux.HandleFunc("GET /machines", func(w http.ResponseWriter, r *http.Request) {
			found, _ := cloud.list(r.Context())
			_, _ = io.WriteString(w, strings.Join(found, ","))
		})
		mux.HandleFunc("POST /machines", func(w http.ResponseWriter, r *http.Request) {
			id, _ := cloud.create(r.Context())
			_, _ = io.WriteString(w, id)
		})
		sdk := &http.Client{Transport: patchertest.Transport("cloud", mux)}
		ask := func(ctx context.Context, method string) (string, error) {
			req, err := http.NewRequestWithContext(ctx, method, "https://cloud.example.com/machines", strings.NewReader("{}"))
			if err != nil {
				return "", err
			}
			resp, err := sdk.Do(req)
			if err != nil {
				return "", err
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			return string(body), err
		}
		m := model(func(ctx context.Context, c api, obj *cell.Cell) (reconcile.Result, error) {
			found, err := ask(ctx, http.MethodGet)
			if err != nil || found != "" {
				return reconcile.Result{}, err
			}
			_, err = ask(ctx, http.MethodPost)
			return reconcile.Result{}, err
		})()
		m.Invariants = append(m.Invariants, oneMachine(cloud))
		return m
	}
	r := patchertest.Check(t, build, replicas2)
	if r.Violation == nil || r.Violation.Invariant != "one machine" || !strings.Contains(r.String(), "cloud POST /machines") {
		t.Errorf("expected two leaders to be found through the SDK, found %s", r)
	}
	if r := patchertest.Check(t, build, patchertest.Timeouts(1), patchertest.Crashes(1)); r.Violation != nil || !r.Exhaustive {
		t.Errorf("expected one leader that looks first to hold, found %s", r)
	}
}

// TestCallWithoutTheContext: a call that cannot be placed in the schedule is reported, not made behind its back.
func TestCallWithoutTheContext(t *testing.T) {
	r := patchertest.Check(t, withCloud(true, func(_ context.Context, _ api, cloud *machines, _ *cell.Cell) (reconcile.Result, error) {
		_, err := cloud.create(context.Background())
		return reconcile.Result{}, err
	}))
	if r.Violation == nil || !r.Violation.Broken || !strings.Contains(r.Violation.Detail, "cloud.Create") {
		t.Errorf("expected the lost context to be reported, found %s", r)
	}
	// Outside of an exploration a call is just made.
	if id, err := (&machines{step: true}).create(t.Context()); err != nil || id != "m-1" {
		t.Errorf("expected machine m-1, found %q, %v", id, err)
	}
}
