package patcher_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// What docs/semantics.md says under "What it does not do": an Update behind the patcher replaces the object's status by the
// server's, and with it the edit that was pending. Nothing is left to send, and Flush returns no error.
func TestDocumented_AnUpdateBehindThePatcherWipesPendingEdits(t *testing.T) {
	b := newBed(t)
	cell, p := b.fetch()
	cell.Status.Phase = "Pending"
	cell.Labels["direct"] = "yes"
	b.must(b.wire.Update(b.ctx, cell))
	if cell.Status.Phase != "" {
		t.Errorf("the pending phase is %q: the document is wrong", cell.Status.Phase)
	}
	b.flush(p, patcher.ResultUnchanged)
	t.Run("PatchMetadata keeps it", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Phase = "Pending"
		b.patchMetadata(p, func(c *v1.Cell) { c.Labels["direct"] = "yes" })
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Phase; got != "Pending" {
			t.Errorf("phase %q", got)
		}
	})
}

// S58: what is remembered of objects belongs to the kind and the client, so a StatusClient may be made in each reconcile.
func TestS58_StatusClientsOverOneClientShareWhatTheyRemember(t *testing.T) {
	once := func(t *testing.T, b *bed, statuses func() *v1status.CellStatusClient) int64 {
		for range 3 {
			cell, p, err := statuses().Fetch(b.ctx, b.key)
			b.must(err)
			cell.Status.Counter++
			if _, err := p.Flush(b.ctx); err != nil {
				t.Logf("Flush: %v", err)
			}
		}
		return b.live().Status.Counter
	}
	t.Run("rule: own writes are seen through a cache that lags, by a StatusClient that is made later", func(t *testing.T) {
		b := newBed(t)
		cached := &byPointer{Client: frozenCache(b)}
		if got := once(t, b, func() *v1status.CellStatusClient { return v1status.NewCellStatusClient(cached, b.wire) }); got != 3 {
			t.Errorf("%d of 3 landed", got)
		}
	})
	t.Run("control: over another client nothing is known of them", func(t *testing.T) {
		b := newBed(t)
		frozen := frozenCache(b)
		if got := once(t, b, func() *v1status.CellStatusClient {
			return v1status.NewCellStatusClient(&byPointer{Client: frozen}, b.wire)
		}); got != 1 {
			t.Errorf("%d of 3 landed", got)
		}
	})
}

// byPointer is a client that can be compared with others, as those of a manager are.
type byPointer struct{ client.Client }
