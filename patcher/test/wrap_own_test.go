package patcher_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	return p.client.Status().Patch(ctx, changed, client.MergeFrom(p.read))
}

func newImage(cell *v1.Cell) { cell.Spec.Image = "image:2" }

func setCounter(n int64) func(*v1.CellStatus) { return func(s *v1.CellStatus) { s.Counter = n } }

func TestS77_AReconcileDoesNotConflictWithItself(t *testing.T) {
	another := func(t *testing.T) context.Context { return context.WithValue(t.Context(), t, 1) }
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
		{"rule: after its conditions, a finalizer and the spec", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
			p.must(p.rest(ctx, addFinalizer))
			p.must(p.rest(ctx, newImage))
		}, setCounter(1), false},
		{"rule: of an object that has lost its UID", func(ctx context.Context, p *partsPatcher) {
			p.bare = true
			p.must(p.conditions(ctx, "Mine"))
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), false},
		{"control: of an object that has lost its UID, after another process", func(ctx context.Context, p *partsPatcher) {
			p.bare = true
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		}, setCounter(1), true},
		{"rule: after a finalizer", func(ctx context.Context, p *partsPatcher) {
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), false},
		{"rule: after an Update of a copy", func(ctx context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			addFinalizer(changed)
			p.must(p.client.Update(ctx, changed))
		}, setCounter(1), false},
		{"control: after another field, on which it may have been decided", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), true},
		{"control: after an Update of another field", func(ctx context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			changed.Status.Phase = "Mine"
			p.must(p.client.Status().Update(ctx, changed))
		}, setCounter(1), true},
		{"control: after conditions that were written blindly", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, func(s *v1.CellStatus) {
				s.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Mine", LastTransitionTime: metav1.Now()}}
			}))
		}, setCounter(1), true},
		{"control: after its conditions, by a context that all share", func(_ context.Context, p *partsPatcher) {
			p.must(p.conditions(context.Background(), "Mine"))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"rule: after another field, which a helper wrote with a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.locked(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), false},
		{"control: after the same field, which a helper wrote with a lock", func(ctx context.Context, p *partsPatcher) {
			p.must(p.locked(ctx, setCounter(2)))
		}, setCounter(1), true},
		{"control: after another process wrote before the helper read the object", func(ctx context.Context, p *partsPatcher) {
			p.forge(func(s *v1.CellStatus) { s.Tier = "theirs" })
			p.must(p.locked(ctx, func(s *v1.CellStatus) { s.Phase = "Mine" }))
		}, setCounter(1), true},
		{"rule: after a finalizer, by a context that all share", func(_ context.Context, p *partsPatcher) {
			p.must(p.rest(context.Background(), addFinalizer))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), false},
		{"rule: after an Update of a label, by a context that all share", func(_ context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			changed.Labels["tier"] = "two"
			p.must(p.client.Update(context.TODO(), changed))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), false},
		{"control: after a spec, by a context that all share", func(_ context.Context, p *partsPatcher) {
			p.must(p.rest(context.Background(), newImage))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"control: after an Update of a spec, by a context that all share", func(_ context.Context, p *partsPatcher) {
			changed := p.read.DeepCopy()
			newImage(changed)
			p.must(p.client.Update(context.Background(), changed))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"control: after a finalizer of another reconcile, by a context that all share", func(ctx context.Context, p *partsPatcher) {
			p.must(p.rest(ctx, addFinalizer))
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"control: after another process wrote a status, by a context that all share", func(_ context.Context, p *partsPatcher) {
			p.must(p.rest(context.Background(), addFinalizer))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.ctxOfStatus = context.Background()
		}, setCounter(1), true},
		{"control: after the same field", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, setCounter(2)))
		}, setCounter(1), true},
		{"control: after a field inside of it", func(ctx context.Context, p *partsPatcher) {
			p.must(p.status(ctx, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "mine"} }))
		}, func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "other"} }, true},
		{"control: after another reconcile of this process", func(_ context.Context, p *partsPatcher) {
			p.must(p.conditions(another(t), "Theirs"))
		}, setCounter(1), true},
		{"control: after another process wrote a status", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
		}, setCounter(1), true},
		{"control: after another process wrote a status before the finalizer", func(ctx context.Context, p *partsPatcher) {
			p.must(p.conditions(ctx, "Mine"))
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), true},
		{"control: after another process wrote the spec before the finalizer", func(ctx context.Context, p *partsPatcher) {
			theirs(p.bed, newImage)
			p.must(p.rest(ctx, addFinalizer))
		}, setCounter(1), true},
		{"control: after another process wrote before the conditions", func(ctx context.Context, p *partsPatcher) {
			p.forge(func(s *v1.CellStatus) { s.Phase = "Theirs" })
			p.must(p.conditions(ctx, "Mine"))
		}, setCounter(1), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			p := b.inParts(b.wrapped(patcher.Lock))
			ctx := t.Context()
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
