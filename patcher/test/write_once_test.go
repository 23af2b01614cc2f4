package patcher_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
)

// valued has a value in every write-once field.
func valued(s *contracts.OrderStatus) {
	port := int32(0)
	s.Plan = &contracts.Plan{ID: "p-1", SnapshotID: "s-1", Steps: []string{"one"}, Mode: "gentle"}
	s.VolumeID, s.Address, s.Port, s.Parts.Serial = "v-1", &contracts.Address{ARN: "arn", Region: "here"}, &port, "n-1"
}

// rewrites are edits of a status that valued has filled in.
var rewrites = []struct {
	name, path string
	edit       func(*contracts.OrderStatus)
	old, now   string
}{
	{"another value", "plan.id", func(s *contracts.OrderStatus) { s.Plan.ID = "p-2" }, "p-1", "p-2"},
	{"no value", "plan.id", func(s *contracts.OrderStatus) { s.Plan.ID = "" }, "p-1", ""},
	{"a parent that is removed and added in one write", "plan.id", func(s *contracts.OrderStatus) { s.Plan = &contracts.Plan{ID: "p-2"} }, "p-1", "p-2"},
	{"a second field of the parent", "plan.snapshotID", func(s *contracts.OrderStatus) { s.Plan.SnapshotID = "s-2" }, "s-1", "s-2"},
	{"a type of its own", "volumeID", func(s *contracts.OrderStatus) { s.VolumeID = "v-2" }, "v-1", "v-2"},
	{"a field of the status itself that is removed", "volumeID", func(s *contracts.OrderStatus) { s.VolumeID = "" }, "v-1", ""},
	{"one part of an identity", "address", func(s *contracts.OrderStatus) { s.Address.Region = "there" }, `{"arn":"arn","region":"here"}`, `{"arn":"arn","region":"there"}`},
	{"an identity that is removed", "address", func(s *contracts.OrderStatus) { s.Address = nil }, `{"arn":"arn","region":"here"}`, ""},
	{"a number behind a pointer", "port", func(s *contracts.OrderStatus) { *s.Port = 1 }, "0", "1"},
	{"a number that is removed", "port", func(s *contracts.OrderStatus) { s.Port = nil }, "0", ""},
	{"in a struct that is no pointer", "parts.serial", func(s *contracts.OrderStatus) { s.Parts = contracts.Parts{Ready: true} }, "n-1", ""},
	{"the whole status", "volumeID", func(s *contracts.OrderStatus) { *s = contracts.OrderStatus{} }, "v-1", ""},
}

func requireWriteOnce(t testing.TB, err error, key client.ObjectKey, path, old, now string) {
	t.Helper()
	var once *patcher.WriteOnceError
	if !errors.As(err, &once) {
		t.Fatalf("%v, want a WriteOnceError", err)
	}
	if want := (patcher.WriteOnceError{Kind: "Order", Key: key, Path: path, Old: old, New: now}); *once != want {
		t.Errorf("got %+v, want %+v", *once, want)
	}
	if !strings.Contains(err.Error(), "status."+path) {
		t.Errorf("the text does not name the field: %v", err)
	}
}

func TestS90_AValueThatIsWrittenOnce(t *testing.T) {
	for _, row := range rewrites {
		t.Run("rule: refused before any request: "+row.name, func(t *testing.T) {
			b := newOrder(t, valued)
			order, p := b.fetch()
			row.edit(&order.Status)
			for name, write := range map[string]func() error{
				"Flush":                   func() error { _, err := p.Flush(b.ctx); return err },
				"FlushWith another path":  func() error { _, err := p.FlushWith(b.ctx, patcher.AllowRewrite(other(row.path))); return err },
				"Flush of a StatusClient": func() error { _, err := v1status.NewOrderStatusClient(b.wire, b.wire).Flush(b.ctx, order); return err },
				"with PatchListEntries": func() error {
					_, err := v1status.NewOrderStatusClient(b.wire, b.wire, patcher.PatchListEntries()).Flush(b.ctx, order)
					return err
				},
				"Flush of a kind": func() error { return v1status.OrderKind.Flush(b.ctx, b.wire, order) },
				"FlushObject behind Wrap": func() error {
					_, err := patcher.FlushObject(b.ctx, patcher.Wrap(b.wire, patcher.Lock, v1status.Kinds()...), order)
					return err
				},
				"FlushOnReturn": func() error { return flushedOnReturn(b, p) },
			} {
				var err error
				sent := b.wire.during(func() { err = write() })
				if slices.ContainsFunc(sent, orderPatches) {
					t.Errorf("%s: sent %v", name, sent)
				}
				requireWriteOnce(t, err, b.key, row.path, row.old, row.now)
			}
		})
		t.Run("rule: each attempt of Retry: "+row.name, func(t *testing.T) {
			b := newOrder(t)
			_, p := b.fetch()
			attempts := 0
			_, err := p.Retry(b.ctx, func(order *contracts.Order) error {
				if attempts++; attempts == 1 {
					b.forge(valued)
					order.Status.Phase = "Ready" // which is fine, and conflicts
					return nil
				}
				row.edit(&order.Status)
				return nil
			})
			requireWriteOnce(t, err, b.key, row.path, row.old, row.now)
			if attempts != 2 {
				t.Errorf("%d attempts", attempts)
			}
			_, err = v1status.NewOrderStatusClient(b.wire, b.wire).Retry(b.ctx, b.key, func(order *contracts.Order) error { row.edit(&order.Status); return nil })
			requireWriteOnce(t, err, b.key, row.path, row.old, row.now)
		})
		t.Run("control: AllowRewrite lets it land: "+row.name, func(t *testing.T) {
			b := newOrder(t, valued)
			order, p := b.fetch()
			row.edit(&order.Status)
			if result, err := p.FlushWith(b.ctx, patcher.AllowRewrite(v1status.OrderKind.WriteOnce...)); err != nil || result != patcher.ResultPatched {
				t.Errorf("%q, %v: the test above proves nothing", result, err)
			}
		})
	}
	for name, edit := range map[string]func(*contracts.OrderStatus){
		"what else is in the parent": func(s *contracts.OrderStatus) { s.Plan.Steps = []string{"two"} },
		"the parent goes":            func(s *contracts.OrderStatus) { s.Plan = nil },
		"the same value, rebuilt": func(s *contracts.OrderStatus) {
			s.Address = &contracts.Address{ARN: "arn", Region: "here"}
			s.Phase = "Ready"
		},
		"the same type in a list": func(s *contracts.OrderStatus) { s.History = []contracts.Plan{{ID: "p-0", Steps: []string{}}} },
	} {
		t.Run("rule: allowed: "+name, func(t *testing.T) {
			b := newOrder(t, valued)
			order, p := b.fetch()
			edit(&order.Status)
			b.flush(p, patcher.ResultPatched)
		})
	}
	t.Run("rule: a first value, and a new one after the parent went in a write of its own", func(t *testing.T) {
		b := newOrder(t)
		order, p := b.fetch()
		valued(&order.Status)
		b.flush(p, patcher.ResultPatched)
		order.Status.Plan = nil
		b.flush(p, patcher.ResultPatched)
		planned("p-2")(&order.Status)
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Plan.ID; got != "p-2" {
			t.Errorf("the server has %q", got)
		}
	})
	t.Run("rule: AllowRewrite names fields that exist, and lifts the rule for one call", func(t *testing.T) {
		b := newOrder(t, valued)
		order, p := b.fetch()
		order.Status.Plan.ID = "p-2"
		if _, err := p.FlushWith(b.ctx, patcher.AllowRewrite("plan.ID")); err == nil || !strings.Contains(err.Error(), `AllowRewrite("plan.ID")`) {
			t.Errorf("%v, want the path that does not exist", err)
		}
		if _, err := p.Retry(b.ctx, func(order *contracts.Order) error { order.Status.Plan.ID = "p-2"; return nil }, patcher.AllowRewrite("plan.id")); !errors.Is(err, patcher.ErrPendingChanges) {
			t.Errorf("Retry with pending changes: %v", err)
		}
		p.Discard()
		if _, err := p.Retry(b.ctx, func(order *contracts.Order) error { order.Status.Plan.ID = "p-2"; return nil }, patcher.AllowRewrite("plan.id")); err != nil {
			t.Error(err)
		}
		order.Status.Plan.ID = "p-3"
		_, err := p.Flush(b.ctx)
		requireWriteOnce(t, err, b.key, "plan.id", "p-2", "p-3")
	})
}

// other is the path of a field that is not this one.
func other(path string) string {
	if path == "plan.id" {
		return "plan.snapshotID"
	}
	return "plan.id"
}

func flushedOnReturn(b *orderBed, p *v1status.OrderStatusPatcher) (err error) {
	var result reconcile.Result
	defer func() {
		if result != (reconcile.Result{}) {
			b.Errorf("a rewrite is requeued in silence: %+v", result)
		}
	}()
	defer p.FlushOnReturn(b.ctx, &result, &err)
	return nil
}
