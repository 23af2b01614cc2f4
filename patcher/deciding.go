package patcher

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deciding has the objects of a kind that a mutate function is working on at this moment. Writing one of them from inside
// mutate would land, and the write that follows mutate would then be refused as outdated, or fail because mutate changed
// the object's metadata. Such a write is therefore refused before it is sent, through whichever patcher or StatusClient it
// is made.
type deciding struct {
	count   atomic.Int32
	mu      sync.Mutex
	objects []client.Object
}

// begin adds the object that mutate gets, and the one that the caller holds. Every begin needs an end.
func (d *deciding) begin(work, held client.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects = append(d.objects, work, held)
	d.count.Add(1)
}

func (d *deciding) end(work, held client.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, obj := range [...]client.Object{work, held} {
		if i := slices.Index(d.objects, obj); i >= 0 {
			d.objects = slices.Delete(d.objects, i, i+1)
		}
	}
	d.count.Add(-1)
}

func (d *deciding) has(obj client.Object) bool {
	if d.count.Load() == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.objects, obj)
}

// decide runs mutate on work, which stands for held, the object that the caller has.
func (k *Kind[T, S]) decide(work, held T, mutate func(T) error) error {
	k.deciding.begin(work, held)
	defer k.deciding.end(work, held)
	return mutate(work)
}

// mayWrite returns an error if a mutate function is working on obj.
func (c *Client[T, S]) mayWrite(operation string, obj T) error {
	if !c.kind.deciding.has(obj) {
		return nil
	}
	return fmt.Errorf("%s: %s: %w: change the object that mutate receives, and return",
		c.describe(client.ObjectKeyFromObject(obj)), operation, ErrInsideMutate)
}
