package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// storage is a storage system that has its own IDs.
type storage struct {
	made, live []string
	// after runs between the snapshot and the write of its ID.
	after func()
}

func (s *storage) Create(_ context.Context, database string) (string, error) {
	id := fmt.Sprint(database, "-", len(s.made)+1)
	s.made, s.live = append(s.made, id), append(s.live, id)
	if s.after != nil {
		s.after()
	}
	return id, nil
}

func (s *storage) Delete(_ context.Context, id string) error {
	s.live = slices.DeleteFunc(s.live, func(l string) bool { return l == id })
	return nil
}

// A Backup's snapshot is recorded whatever happens to the Backup meanwhile; one that cannot be recorded is deleted.
func TestSnapshotsAreRecordedOrDeleted(t *testing.T) {
	for _, row := range []struct {
		name  string
		after func(t *testing.T, b *task) // what happens between the snapshot and the write
		want  string                      // what the Backup has then
		live  int
		lost  bool
	}{
		{"nothing happens", func(*testing.T, *task) {}, "orders-1", 1, false},
		{"another controller labels the Backup", func(t *testing.T, b *task) {
			b.change(func(backup *v1.Backup) { backup.Labels = map[string]string{"seen": "yes"} })
		}, "orders-1", 1, false},
		{"the Backup is deleted", func(t *testing.T, b *task) {
			if err := b.client.Delete(t.Context(), b.live()); err != nil {
				t.Fatal(err)
			}
		}, "orders-1", 1, false},
		{"another replica records its own", func(t *testing.T, b *task) {
			backup := b.live()
			backup.Status.SnapshotID = "other"
			if err := b.client.Status().Update(t.Context(), backup); err != nil {
				t.Fatal(err)
			}
		}, "other", 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newTask(t)
			s := &storage{after: func() { row.after(t, b) }}
			r := NewBackupReconciler(b.client, b.client)
			r.Snapshots = s
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.backup)})
			var lost *patcher.NotRecordedError
			if errors.As(err, &lost) != row.lost || row.lost && (lost.Value != "orders-1" || lost.Existing != row.want) {
				t.Errorf("the reconcile: %v", err)
			}
			if got := b.live().Status.SnapshotID; got != row.want || len(s.live) != row.live {
				t.Errorf("the Backup has %q, the storage system %s; want %q and %d", got, strings.Join(s.live, ", "), row.want, row.live)
			}
			if s.after = nil; row.lost {
				return
			}
			_, err = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.backup)})
			if err != nil || len(s.made) != 1 {
				t.Errorf("the next reconcile: %v, and %d snapshots were made", err, len(s.made))
			}
		})
	}
}

func (b *task) change(mutate func(*v1.Backup)) {
	b.Helper()
	backup := b.live()
	mutate(backup)
	if err := b.client.Update(b.Context(), backup); err != nil {
		b.Fatal(err)
	}
}
