package patcher_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// A partsPatcher writes an object as the patch helpers of Cluster API and Flux do: its conditions with a lock, on the newest version;
// then its metadata and spec, and then the rest of its status, both blindly and on copies of the object as it was read.
type partsPatcher struct {
	*bed
	client client.Client
	read   *v1.Cell
	// bare: the metadata that the helper sends is the name and the version.
	bare bool
	// untyped: what the helper sends is unstructured.
	untyped bool
	// ctxOfStatus, if it is set, is the context that the status is written with.
	ctxOfStatus context.Context
}

func (b *bed) inParts(c client.Client) *partsPatcher {
	read, _ := b.read(c)
	return &partsPatcher{bed: b, client: c, read: read}
}

func (p *partsPatcher) conditions(ctx context.Context, reason string) error {
	return p.locked(ctx, func(s *v1.CellStatus) {
		s.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: reason, LastTransitionTime: metav1.Now()}}
	})
}

// locked writes the status with a lock, on the newest version.
func (p *partsPatcher) locked(ctx context.Context, set func(*v1.CellStatus)) error {
	newest, _ := p.bed.read(p.client)
	base := newest.DeepCopy()
	set(&newest.Status)
	return p.client.Status().Patch(ctx, newest, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

func (p *partsPatcher) rest(ctx context.Context, set func(*v1.Cell)) error {
	changed := p.read.DeepCopy()
	set(changed)
	return p.client.Patch(ctx, changed, client.MergeFrom(p.read))
}

func (p *partsPatcher) status(ctx context.Context, set func(*v1.CellStatus)) error {
	changed := p.read.DeepCopy()
	set(&changed.Status)
	if p.bare {
		changed.ObjectMeta = metav1.ObjectMeta{Namespace: changed.Namespace, Name: changed.Name, ResourceVersion: changed.ResourceVersion}
		base := changed.DeepCopy()
		base.Status = p.read.Status
		return p.client.Status().Patch(ctx, changed, client.MergeFrom(base))
	}
	if p.untyped {
		return p.client.Status().Patch(ctx, p.unstructured(changed), client.MergeFrom(p.unstructured(p.read)))
	}
	return p.client.Status().Patch(ctx, changed, client.MergeFrom(p.read))
}

func (p *partsPatcher) unstructured(cell *v1.Cell) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cell)
	p.must(err)
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(v1.GroupVersion.WithKind("Cell"))
	return u
}

func newImage(cell *v1.Cell) { cell.Spec.Image = "image:2" }

func setCounter(n int64) func(*v1.CellStatus) { return func(s *v1.CellStatus) { s.Counter = n } }

// copied writes metadata or spec blindly, of the object that was read, and makes what status writes of a copy from before that.
func (p *partsPatcher) copied(ctx context.Context, set func(*v1.Cell)) error {
	stored := p.read.DeepCopy()
	set(p.read)
	statusCopy := p.read.DeepCopy()
	defer func() { p.read = statusCopy }()
	return p.client.Patch(ctx, p.read, client.MergeFrom(stored))
}

// lockedRest writes metadata or spec under the lock of the version that was read.
func (p *partsPatcher) lockedRest(ctx context.Context, set func(*v1.Cell)) error {
	changed := p.read.DeepCopy()
	set(changed)
	return p.client.Patch(ctx, changed, client.MergeFromWithOptions(p.read, client.MergeFromWithOptimisticLock{}))
}

// lagging is a client whose reads return an old object.
type lagging struct {
	client.Client
	old *v1.Cell
}

func (l lagging) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	l.old.DeepCopyInto(obj.(*v1.Cell))
	return nil
}

type reconcileIDKey struct{}

func inReconcile(ctx context.Context, id types.UID) context.Context {
	return context.WithValue(ctx, reconcileIDKey{}, id)
}

func reconcileID(ctx context.Context) types.UID {
	id, _ := ctx.Value(reconcileIDKey{}).(types.UID)
	return id
}

func TestS77_AReconcileDoesNotConflictWithItself(t *testing.T) {
	theirs := func(b *bed, set func(*v1.Cell)) {
		cell := b.live()
		set(cell)
		b.must(b.wire.Update(b.ctx, cell))
	}
	for _, row := range []struct {
		name     string
		before   func(ctx context.Context, p *partsPatcher)
		set      func(*v1.CellStatus)
		conflict bool
	}{
		{"rule: after its conditions", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
		}, setCounter(1), false},
		{"rule: after a finalizer under a lock, and its conditions", func(ctx context.Context, p *partsPatcher) {
			p.must(p.lockedRest(ctx, addFinalizer))
			p.must(p.conditions(ctx, "Mine"))
		}, setCounter(1), false},
		{"rule: after a spec under a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.lockedRest(ctx, newImage))
		}, setCounter(1), false},
		{"rule: after an Update of a copy", func(ctx context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			addFinalizer(changed)
			p.must(p.client.Update(ctx, changed))
		}, setCounter(1), false},
		{"rule: of an object that has lost its UID", func(ctx context.Context, p *partsPatcher) {
			p.bare = true
			p.must(p.conditions(ctx, "Mine"))
		}, setCounter(1), false},
		{"rule: after another field that was written blindly, and so got a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), false},
		{"rule: after an Update of another field", func(ctx context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			changed.Status.Phase = "Mine"
			p.must(p.client.Status().Update(ctx, changed))
		}, setCounter(1), false},
		{"rule: after another field, which a helper wrote with a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.locked(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), false},
		{"rule: by contexts derived from that of the reconcile", func(ctx context.Context, p *partsPatcher) {
			within, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			p.must(p.conditions(within, "Mine"))
			p.ctxOfStatus = context.WithValue(ctx, p, 1)
		}, setCounter(1), false},
		{"control: after the same field, which a helper wrote with a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.locked(ctx, setCounter(2)))
		}, setCounter(1), true},
		{"control: after the same field", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, setCounter(2)))
		}, setCounter(1), true},
		{"control: after a field inside of it", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "mine"} }))
		}, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "other"} }, true},
		{"rule: after a finalizer that was written blindly, whose answer has what was sent", func(ctx context.Context, p *partsPatcher) {
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), false},
		{"rule: after an annotation that is new each time", func(ctx context.Context, p *partsPatcher) {
			p.must(p.rest(ctx, func(c *v1.Cell) { c.Annotations = map[string]string{"seen": time.Now().String()} }))
		}, setCounter(1), false},
		{"control: the same by a context that several writers share", func(_ context.Context, p *partsPatcher) {
			p.must(p.rest(t.Context(), addFinalizer))
			p.ctxOfStatus = t.Context()
		}, setCounter(1), true},
		{"control: after another process wrote a status before a blind finalizer", func(ctx context.Context, p *partsPatcher) {
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), true},
		{"control: the reconcile has read the old version again, from a cache that lags", func(ctx context.Context, p *partsPatcher) {
			old := p.read.DeepCopy()
			p.must(p.conditions(ctx, "Mine"))
			p.client.(*patcher.WrappedClient).Client = lagging{p.client.(*patcher.WrappedClient).Client, old}
			p.must(p.client.Get(ctx, p.key, p.read))
		}, setCounter(1), true},
		{"control: after another process wrote the spec before a blind finalizer", func(ctx context.Context, p *partsPatcher) {
			theirs(p.bed, newImage)
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), true},
		{"control: after another process wrote a label before a blind finalizer", func(ctx context.Context, p *partsPatcher) {
			theirs(p.bed, func(c *v1.Cell) { c.Labels["paused"] = "yes" })
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), true},
		{"control: after another reconcile of this process", func(_ context.Context, p *partsPatcher) {
			p.must(p.conditions(inReconcile(t.Context(), "theirs"), "Theirs"))
		}, setCounter(1), true},
		{"control: by a context that several writers share", func(_ context.Context, p *partsPatcher) {
			p.must(p.conditions(t.Context(), "Theirs"))
			p.ctxOfStatus = t.Context()
		}, setCounter(1), true},
		{"control: by the context that everybody shares", func(_ context.Context, p *partsPatcher) {
			p.must(p.lockedRest(context.Background(), addFinalizer))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"control: of an object that has lost its UID, after another process", func(ctx context.Context, p *partsPatcher) {
			p.bare = true
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		}, setCounter(1), true},
		{"control: after another process wrote a status", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		}, setCounter(1), true},
		{"control: after another process wrote before the conditions", func(ctx context.Context, p *partsPatcher) {
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.must(p.conditions(ctx, "Mine"))
		}, setCounter(1), true},
		{"control: after another process wrote between two own writes", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Tier = "theirs" })
			p.must(p.locked(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			p := b.inParts(b.wrapped(patcher.Lock, patcher.WithReconcileID(reconcileID)))
			ctx := inReconcile(t.Context(), "mine")
			row.before(ctx, p)
			if p.ctxOfStatus != nil {
				ctx = p.ctxOfStatus
			}
			err := p.status(ctx, row.set)
			if apierrors.IsConflict(err) != row.conflict || !row.conflict && err != nil {
				t.Errorf("%v, expected a conflict: %v", err, row.conflict)
			}
			if landed := b.live().Status.Counter == 1; landed == row.conflict {
				t.Errorf("the status landed: %v; the server has %+v", landed, b.live().Status)
			}
		})
	}
}

func TestS78_ACopyWithTheContentOfANewerVersionIsLockedToThat(t *testing.T) {
	theirs := func(b *bed, set func(*v1.Cell)) {
		cell := b.live()
		set(cell)
		b.must(b.wire.Update(b.ctx, cell))
	}
	label := func(c *v1.Cell) { c.Labels = map[string]string{"mine": "yes"} }
	for _, row := range []struct {
		name     string
		before   func(ctx context.Context, p *partsPatcher)
		conflict bool
	}{
		{"rule: after a label", func(ctx context.Context, p *partsPatcher) { p.must(p.copied(ctx, label)) }, false},
		{"rule: after a finalizer", func(ctx context.Context, p *partsPatcher) { p.must(p.copied(ctx, addFinalizer)) }, false},
		{"rule: after a label that was written with Update", func(ctx context.Context, p *partsPatcher) {
			label(p.read)
			statusCopy := p.read.DeepCopy()
			p.must(p.client.Update(ctx, p.read))
			p.read = statusCopy
		}, false},
		{"rule: after two writes", func(ctx context.Context, p *partsPatcher) {
			stored := p.read.DeepCopy()
			label(p.read)
			addFinalizer(p.read)
			statusCopy := p.read.DeepCopy()
			first := stored.DeepCopy()
			label(first)
			p.must(p.client.Patch(ctx, first, client.MergeFrom(stored)))
			second := first.DeepCopy()
			addFinalizer(second)
			p.must(p.client.Patch(ctx, second, client.MergeFrom(first)))
			p.read = statusCopy
		}, false},
		{"control: of a copy without the label", func(ctx context.Context, p *partsPatcher) {
			stored := p.read.DeepCopy()
			p.must(p.copied(ctx, label))
			p.read = stored
		}, true},
		{"control: of a copy that has another label as well", func(ctx context.Context, p *partsPatcher) {
			p.must(p.copied(ctx, label))
			p.read.Labels["other"] = "yes"
		}, true},
		{"control: after a spec, which moves the generation", func(ctx context.Context, p *partsPatcher) {
			p.must(p.copied(ctx, newImage))
		}, true},
		{"control: another process wrote the spec before", func(ctx context.Context, p *partsPatcher) {
			theirs(p.bed, newImage)
			p.must(p.copied(ctx, label))
		}, true},
		{"control: another process wrote a finalizer before", func(ctx context.Context, p *partsPatcher) {
			theirs(p.bed, addFinalizer)
			p.must(p.copied(ctx, label))
		}, true},
		{"control: another process wrote the status before", func(ctx context.Context, p *partsPatcher) {
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.must(p.copied(ctx, label))
		}, true},
		{"control: another process wrote the status after", func(ctx context.Context, p *partsPatcher) {
			p.must(p.copied(ctx, label))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		}, true},
		{"control: another process wrote a label after", func(ctx context.Context, p *partsPatcher) {
			p.must(p.copied(ctx, label))
			theirs(p.bed, func(c *v1.Cell) { c.Labels["theirs"] = "yes" })
		}, true},
		{"control: the same process wrote the status before", func(ctx context.Context, p *partsPatcher) {
			p.must(p.locked(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
			p.must(p.copied(ctx, label))
		}, true},
		{"control: of an object of another Go type, which may be of another version of the API", func(ctx context.Context, p *partsPatcher) {
			p.must(p.copied(ctx, label))
			p.untyped = true
		}, true},
		{"control: the label was never sent", func(ctx context.Context, p *partsPatcher) {
			read := p.read.DeepCopy()
			p.must(p.client.Patch(ctx, read, client.MergeFrom(read.DeepCopy()), client.DryRunAll))
			theirs(p.bed, label)
			label(p.read)
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			p := b.inParts(b.wrapped(patcher.Lock))
			row.before(t.Context(), p)
			err := p.status(t.Context(), setCounter(1))
			if apierrors.IsConflict(err) != row.conflict || !row.conflict && err != nil {
				t.Errorf("%v, expected a conflict: %v", err, row.conflict)
			}
			if landed := b.live().Status.Counter == 1; landed == row.conflict {
				t.Errorf("the status landed: %v; the server has %+v", landed, b.live().Status)
			}
		})
	}
}

// A write of metadata without a lock gives its object the newest version, whatever the caller decided on.
func TestS79_AnObjectThatWasOvertaken(t *testing.T) {
	mine := func(c *v1.Cell) { c.Status.Plan = &v1.Plan{ID: "mine"} }
	update := func(c client.Client, cell *v1.Cell) error {
		mine(cell)
		return c.Status().Update(t.Context(), cell)
	}
	label := func(c *v1.Cell) { c.Labels = map[string]string{"mine": "yes"} }
	theirs := func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "theirs"} }
	for _, row := range []struct {
		name     string
		write    func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error
		foreign  bool
		conflict bool
	}{
		{"rule: CreateOrPatch", createOrPatch, true, true},
		{"control: CreateOrPatch, and nobody else wrote", createOrPatch, false, false},
		{"rule: a patch against the base that was read", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			base := b.patchMetadataOrSpec(c, cell, label)
			mine(cell)
			return c.Status().Patch(ctx, cell, client.MergeFrom(base))
		}, true, true},
		{"rule: an Update", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			return update(c, cell)
		}, true, true},
		{"rule: an Update, and somebody else wrote the spec", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			live := b.live()
			newImage(live)
			b.must(b.wire.Update(ctx, live))
			b.patchMetadataOrSpec(c, cell, label)
			return update(c, cell)
		}, false, true},
		{"control: an Update, after a patch of the spec", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, newImage)
			return update(c, cell)
		}, false, false},
		{"control: an Update, and nobody else wrote", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			return update(c, cell)
		}, false, false},
		{"rule: a copy of the object", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			cell = cell.DeepCopy()
			return update(c, cell)
		}, true, true},
		{"control: a patch against a base of the newest version", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			newest := cell.DeepCopy()
			mine(cell)
			return c.Status().Patch(ctx, cell, client.MergeFromWithOptions(newest, client.MergeFromWithOptimisticLock{}))
		}, true, false},
		{"control: after the object was read again", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			b.must(c.Get(ctx, b.key, cell))
			return update(c, cell)
		}, true, false},
		{"control: an object that another client has read, whose status then is not known", func(ctx context.Context, b *bed, c client.Client, _ *v1.Cell) error {
			b.forge(func(s *v1.CellStatus) { s.Tier = "gold" })
			cell := b.live()
			b.patchMetadataOrSpec(c, cell, label)
			return update(c, cell)
		}, false, false},
		{"control: another object that was read later", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			other := &v1.Cell{}
			b.must(c.Get(ctx, b.key, other))
			return update(c, other)
		}, true, false},
		{"rule: the first object, after another one was read", func(ctx context.Context, b *bed, c client.Client, cell *v1.Cell) error {
			b.patchMetadataOrSpec(c, cell, label)
			b.must(c.Get(ctx, b.key, &v1.Cell{}))
			return update(c, cell)
		}, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			c := client.Client(b.wrapped(patcher.Lock))
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			if row.foreign {
				b.forge(theirs)
			}
			err := row.write(b.ctx, b, c, cell)
			if apierrors.IsConflict(err) != row.conflict || !row.conflict && err != nil {
				t.Errorf("%v, expected a conflict: %v", err, row.conflict)
			}
			if plan := b.live().Status.Plan; (plan == nil || plan.ID != "mine") != row.conflict {
				t.Errorf("the server has the plan %+v", plan)
			}
		})
	}
}

// patchMetadataOrSpec changes the object without a lock, and returns it as it was.
func (b *bed) patchMetadataOrSpec(c client.Client, cell *v1.Cell, set func(*v1.Cell)) (base *v1.Cell) {
	base = cell.DeepCopy()
	set(cell)
	b.must(c.Patch(b.ctx, cell, client.MergeFrom(base)))
	return base
}

// createOrPatch decides on the object as it was read, before CreateOrPatch reads it. The other process may have written since.
func createOrPatch(ctx context.Context, b *bed, c client.Client, read *v1.Cell) error {
	cell := &v1.Cell{}
	cell.Namespace, cell.Name = b.key.Namespace, b.key.Name
	stale := lagging{c, read}
	_, err := controllerutil.CreateOrPatch(ctx, struct {
		client.Client
	}{stale}, cell, func() error {
		cell.Labels = map[string]string{"mine": "yes"}
		cell.Status.Plan = &v1.Plan{ID: "mine"}
		return nil
	})
	return err
}

// The contexts that a controller of controller-runtime passes to Reconcile are known.
func TestS77_ReconcilesOfAControllerAreKnown(t *testing.T) {
	b := newBed(t)
	p := b.inParts(b.wrapped(patcher.Lock, patcher.WithReconcileID(controller.ReconcileIDFromContext)))
	errs := make(chan error, 1)
	c, err := controller.NewUnmanaged("parts", controller.Options{
		SkipNameValidation: new(true),
		Reconciler: reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			errs <- errors.Join(p.conditions(ctx, "Mine"), p.status(ctx, setCounter(1)))
			return reconcile.Result{}, nil
		}),
	})
	b.must(err)
	b.must(c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{NamespacedName: b.key})
		return nil
	})))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- c.Start(ctx) }()
	b.must(<-errs)
	cancel()
	b.must(<-stopped)
	if counter := b.live().Status.Counter; counter != 1 {
		t.Errorf("the status has the counter %d", counter)
	}
}
