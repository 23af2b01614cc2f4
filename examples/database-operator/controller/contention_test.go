package controller

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// Two reconciles of one Database, as two replicas run them in a leader hand-over, are both held when they have read
// status.plan == nil, decided, and are about to write; then both go on. This is the race that the project exists for.
func TestContention(t *testing.T) {
	for _, row := range []struct {
		name  string
		write func(client.WithWatch) client.Client
		plans []string
	}{
		{"the generated patcher: one plan is ever persisted", locked, []string{"p-1"}},
		{"control: a blind MergeFrom erases the first plan", blindMerge, []string{"p-1", "p-2"}},
		{"control: a blind server-side apply erases the first plan", blindApply, []string{"p-1", "p-2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newContest(t, row.write)
			first, second := c.reconcile("p-1"), c.reconcile("p-2")
			c.letGo(first)
			c.letGo(second)

			if got := c.plansPersisted(); !slices.Equal(got, row.plans) {
				t.Fatalf("plans persisted: %v, want %v", got, row.plans)
			}
			if second.err != nil {
				t.Fatalf("the second reconcile: %v", second.err)
			}
			// The loser of a race that was seen requeues quietly; one that was not seen believes that it won.
			if lost, seen := len(row.plans) > 1, second.result.RequeueAfter > 0; lost == seen {
				t.Errorf("a plan was lost: %v; the second reconcile requeues: %v", lost, seen)
			}
		})
	}
}

func TestContentionLoserObservesAndSkips(t *testing.T) {
	c := newContest(t, locked)
	first, second := c.reconcile("p-1"), c.reconcile("p-2")
	c.letGo(first)
	c.letGo(second)
	c.gate.Open()

	again := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.database)}
	result, err := second.reconciler.Reconcile(t.Context(), again)
	if err != nil || result.RequeueAfter != 0 {
		t.Fatalf("the requeued reconcile: %+v, %v", result, err)
	}
	if got := c.plansPersisted(); !slices.Equal(got, []string{"p-1"}) {
		t.Errorf("plans persisted: %v", got)
	}
	live := c.live()
	if live.Status.Phase != v1.PhaseReady || live.Status.ObservedGeneration != live.Generation {
		t.Errorf("the requeued reconcile did not execute the first one's plan: %+v", live.Status)
	}
}

// contest is one Database, and a gate before every write of its status.
type contest struct {
	*testing.T
	ctx      context.Context
	database *v1.Database
	gate     *realserver.Gate
	client   client.WithWatch
	write    func(client.WithWatch) client.Client
	history  watch.Interface
}

// run is one reconcile, held at the gate.
type run struct {
	reconciler *DatabaseReconciler
	held       *realserver.Held
	done       chan struct{}
	result     ctrl.Result
	err        error
}

func newContest(t *testing.T, write func(client.WithWatch) client.Client) *contest {
	// Generous: it ends a test that hangs, and decides nothing.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := &contest{T: t, ctx: ctx, write: write, database: newDatabase(t), gate: realserver.NewGate(t, realserver.StatusWrites("databases"))}
	c.client = server.Client(t, newScheme(t))
	history, err := c.client.Watch(ctx, &v1.DatabaseList{}, &client.ListOptions{
		Namespace: c.database.Namespace,
		Raw:       &metav1.ListOptions{ResourceVersion: c.database.ResourceVersion},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(history.Stop)
	c.history = history
	return c
}

// reconcile starts one on a replica of its own, which would name its plan id, and returns when it is held.
func (c *contest) reconcile(id string) *run {
	c.Helper()
	replica := server.Client(c.T, newScheme(c.T), c.gate.Wrap)
	r := &run{reconciler: NewDatabaseReconciler(c.write(replica), replica), done: make(chan struct{})}
	r.reconciler.newID = func() string { return id }
	go func() {
		defer close(r.done)
		r.result, r.err = r.reconciler.Reconcile(c.ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.database)})
	}()
	var err error
	if r.held, err = c.gate.Next(c.ctx); err != nil {
		c.Fatal(err)
	}
	return r
}

// letGo releases the reconcile's write, and those that follow it, and waits for its end. The other reconcile stays held.
func (c *contest) letGo(r *run) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	go func() {
		<-r.done
		cancel()
	}()
	for held, err := r.held, error(nil); err == nil; held, err = c.gate.Next(ctx) {
		held.Release()
	}
	if c.ctx.Err() != nil {
		c.Fatal("the reconcile did not end")
	}
}

// plansPersisted returns the ID of every plan that the server ever held, in order, up to now.
func (c *contest) plansPersisted() (ids []string) {
	c.Helper()
	last := c.live()
	last.Annotations = map[string]string{"marker": "seen"}
	if err := c.client.Update(c.ctx, last); err != nil {
		c.Fatal(err)
	}
	for {
		select {
		case event := <-c.history.ResultChan():
			database, ok := event.Object.(*v1.Database)
			if !ok {
				c.Fatalf("watch: %v", event)
			}
			if plan := database.Status.Plan; plan != nil && !slices.Contains(ids, plan.ID) {
				ids = append(ids, plan.ID)
			}
			if database.ResourceVersion == last.ResourceVersion {
				return ids
			}
		case <-c.ctx.Done():
			c.Fatal("the watch did not deliver the marker")
		}
	}
}

func (c *contest) live() *v1.Database {
	c.Helper()
	database := &v1.Database{}
	if err := c.client.Get(c.ctx, client.ObjectKeyFromObject(c.database), database); err != nil {
		c.Fatal(err)
	}
	return database
}

// The ways to write a status. The reconciler is the same; what differs is the request that its decision becomes.

func locked(c client.WithWatch) client.Client { return c }

// blindMerge sends what client.MergeFrom without the lock sends.
func blindMerge(c client.WithWatch) client.Client {
	return rewriting(c, func(body map[string]any, _ client.Object) client.Patch {
		delete(body, "metadata")
		return rawPatch(types.MergePatchType, body)
	})
}

// blindApply sends a server-side apply that names no resourceVersion, as one field owner for all replicas.
func blindApply(c client.WithWatch) client.Client {
	applied := map[string]any{} // an apply takes back what its owner does not name again
	return rewriting(c, func(patch map[string]any, obj client.Object) client.Patch {
		delete(patch, "metadata")
		body := merged(applied, patch)
		body["apiVersion"], body["kind"] = v1.GroupVersion.String(), "Database"
		body["metadata"] = map[string]any{"name": obj.GetName(), "namespace": obj.GetNamespace()}
		return rawPatch(types.ApplyPatchType, body)
	}, client.FieldOwner("database-operator"), client.ForceOwnership)
}

func rewriting(c client.WithWatch, rewrite func(map[string]any, client.Object) client.Patch, extra ...client.SubResourcePatchOption) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			data, err := patch.Data(obj)
			if err != nil {
				return err
			}
			var body map[string]any
			if err := json.Unmarshal(data, &body); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, obj, rewrite(body, obj), append(opts, extra...)...)
		},
	})
}

func rawPatch(patchType types.PatchType, body map[string]any) client.Patch {
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	return client.RawPatch(patchType, data)
}

// merged merges a patch into into, which it changes.
func merged(into, patch map[string]any) map[string]any {
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		if known, both := into[name].(map[string]any); both && isObject {
			value = merged(known, inner)
		}
		into[name] = value
	}
	return into
}
