package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
)

// history is every version of the Databases and Backups of a namespace, as the API server stored them, in order.
type history struct {
	mu        sync.Mutex
	databases map[string]*v1.Database // the newest version of each
	plans     map[string]bool         // the IDs of all that were stored
	erased    losses
	over      map[types.UID]time.Time // when a Backup was over
	stuck     time.Duration           // the longest that a claim has outlived its Backup, of those that were given up
}

// losses are updates that a later write took back without having seen them.
type losses struct{ plans, claims, conditions, generations int }

func (l losses) total() int { return l.plans + l.claims + l.conditions + l.generations }

func newHistory(ctx context.Context, c client.WithWatch, namespace string) (*history, error) {
	h := &history{databases: map[string]*v1.Database{}, plans: map[string]bool{}, over: map[types.UID]time.Time{}}
	for _, list := range []client.ObjectList{&v1.DatabaseList{}, &v1.BackupList{}} {
		events, err := c.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			return nil, err
		}
		go h.follow(events)
	}
	return h, nil
}

func (h *history) follow(events watch.Interface) {
	for event := range events.ResultChan() {
		h.mu.Lock()
		switch obj := event.Object.(type) {
		case *v1.Database:
			h.database(obj)
		case *v1.Backup:
			if _, known := h.over[obj.UID]; !known && obj.Status.Phase.Finished() {
				h.over[obj.UID] = time.Now()
			}
		}
		h.mu.Unlock()
	}
}

// database compares a version with the one before it.
func (h *history) database(now *v1.Database) {
	was := h.databases[now.Name]
	h.databases[now.Name] = now
	if plan := now.Status.Plan; plan != nil {
		h.plans[plan.ID] = true
	}
	if was == nil {
		return
	}
	before, after := was.Status, now.Status
	if before.Plan != nil && after.Plan != nil && before.Plan.Generation == after.Plan.Generation && before.Plan.ID != after.Plan.ID {
		h.erased.plans++ // two plans for one spec
	}
	if before.Backup != nil && after.Backup != nil && before.Backup.UID != after.Backup.UID {
		h.erased.claims++ // taken without having been given up
	}
	if after.ObservedGeneration < before.ObservedGeneration {
		h.erased.generations++
	}
	for _, condition := range before.Conditions {
		if meta.FindStatusCondition(after.Conditions, condition.Type) == nil {
			h.erased.conditions++ // nobody removes one
		}
	}
	if before.Backup != nil && after.Backup == nil {
		h.stuck = max(h.stuck, h.outlived(before.Backup))
	}
}

// outlived is how long the claim has been there since its Backup was over.
func (h *history) outlived(claim *v1.TrackedObject) time.Duration {
	if over, known := h.over[claim.UID]; known {
		return time.Since(over)
	}
	return 0
}

// longestStuck also counts the claims that are there still.
func (h *history) longestStuck() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	longest := h.stuck
	for _, database := range h.databases {
		if claim := database.Status.Backup; claim != nil {
			longest = max(longest, h.outlived(claim))
		}
	}
	return longest
}
