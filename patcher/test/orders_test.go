package patcher_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// orderBed is one Order, the kind with write-once fields, on the real server.
type orderBed struct {
	testing.TB
	ctx  context.Context
	wire *wire
	key  client.ObjectKey
}

func newOrder(t testing.TB, status ...func(*contracts.OrderStatus)) *orderBed {
	t.Helper()
	w := newWire(t)
	order := &contracts.Order{ObjectMeta: metav1.ObjectMeta{Namespace: server.Namespace(t), Name: "a", Labels: map[string]string{"tier": "one"}}}
	b := &orderBed{TB: t, ctx: t.Context(), wire: w, key: client.ObjectKeyFromObject(order)}
	b.must(w.Create(b.ctx, order))
	for _, set := range status {
		b.forge(set)
	}
	return b
}

func (b *orderBed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// fetch goes through a client of its own, whose answers faults may spoil.
func (b *orderBed) fetch(faults ...*realserver.Fault) (*contracts.Order, *v1status.OrderStatusPatcher) {
	b.Helper()
	w := b.wire
	if len(faults) > 0 {
		w = &wire{}
		wraps := []transport.WrapperFunc{w.recorder.Wrap}
		for _, f := range faults {
			wraps = append(wraps, f.Wrap)
		}
		w.WithWatch = server.Client(b, newScheme(b), wraps...)
	}
	order, p, err := v1status.NewOrderStatusClient(w, w).Fetch(b.ctx, b.key)
	b.must(err)
	return order, p
}

func (b *orderBed) live() *contracts.Order {
	b.Helper()
	order := &contracts.Order{}
	b.must(b.wire.Get(b.ctx, b.key, order))
	return order
}

// forge writes the status as another controller would.
func (b *orderBed) forge(set func(*contracts.OrderStatus)) {
	b.Helper()
	order := b.live()
	set(&order.Status)
	b.must(b.wire.Status().Update(b.ctx, order))
}

// mutate writes spec and metadata as a user would.
func (b *orderBed) mutate(set func(*contracts.Order)) {
	b.Helper()
	order := b.live()
	set(order)
	b.must(b.wire.Update(b.ctx, order))
}

func (b *orderBed) flush(p *v1status.OrderStatusPatcher, want patcher.Result) {
	b.Helper()
	if got, err := p.Flush(b.ctx); err != nil || got != want {
		b.Fatalf("Flush: %q, %v; want %q", got, err, want)
	}
}

func planned(id string) func(*contracts.OrderStatus) {
	return func(s *contracts.OrderStatus) { s.Plan = &contracts.Plan{ID: id, Steps: []string{}, Mode: "gentle"} }
}

var orderPatches = realserver.Requests("patch", "orders/status")
