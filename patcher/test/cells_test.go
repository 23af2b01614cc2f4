package patcher_test

import (
	"context"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// bed is one Cell on the real server, and the ways to it.
type bed struct {
	testing.TB
	ctx  context.Context
	wire *wire
	key  client.ObjectKey
}

// newBed creates a Cell with a spec, labels and a first status.
func newBed(t testing.TB, status ...func(*v1.CellStatus)) *bed {
	t.Helper()
	w := newWire(t)
	cell := &v1.Cell{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: server.Namespace(t), Name: "a",
			Labels: map[string]string{"tier": "one"}, Annotations: map[string]string{"note": "first"},
		},
		Spec: v1.CellSpec{Image: "image:1", Settings: map[string]string{"a": "b"}},
	}
	b := &bed{TB: t, ctx: t.Context(), wire: w, key: client.ObjectKeyFromObject(cell)}
	b.must(w.Create(b.ctx, cell))
	for _, set := range status {
		b.forge(set)
	}
	return b
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// statuses is a StatusClient that reads the server itself both ways.
func (b *bed) statuses(opts ...patcher.Option) *v1status.CellStatusClient {
	return v1status.NewCellStatusClient(b.wire, b.wire, opts...)
}

// fetch is Fetch from a new StatusClient.
func (b *bed) fetch(opts ...patcher.Option) (*v1.Cell, *v1status.CellStatusPatcher) {
	b.Helper()
	cell, p, err := b.statuses(opts...).Fetch(b.ctx, b.key)
	b.must(err)
	return cell, p
}

// live is what the server holds.
func (b *bed) live() *v1.Cell {
	b.Helper()
	cell := &v1.Cell{}
	b.must(b.wire.Get(b.ctx, b.key, cell))
	return cell
}

// forge writes the status as another controller would.
func (b *bed) forge(set func(*v1.CellStatus)) {
	b.Helper()
	cell := b.live()
	set(&cell.Status)
	b.must(b.wire.Status().Update(b.ctx, cell))
}

// mutate writes spec and metadata as a user would.
func (b *bed) mutate(set func(*v1.Cell)) {
	b.Helper()
	cell := b.live()
	set(cell)
	b.must(b.wire.Update(b.ctx, cell))
}

// flush expects a Flush with that result.
func (b *bed) flush(p *v1status.CellStatusPatcher, want patcher.Result) {
	b.Helper()
	got, err := p.Flush(b.ctx)
	if err != nil || got != want {
		b.Fatalf("Flush: %q, %v; want %q", got, err, want)
	}
}

func phase(value string) func(*v1.CellStatus) {
	return func(s *v1.CellStatus) { s.Phase = value }
}

// The naive idioms that the rules' negative controls show failing.

func blindMerge(base *v1.Cell) client.Patch { return client.MergeFrom(base) }

func lockedMerge(base *v1.Cell) client.Patch {
	return client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
}

// requireJSON compares as the API server would see it. The schema's default is not what a test is about.
func requireJSON(t testing.TB, got, want v1.CellStatus) {
	t.Helper()
	got.Tier = want.Tier
	gotJSON, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("the server has\n%s, want\n%s", gotJSON, wantJSON)
	}
}
