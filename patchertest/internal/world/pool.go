package world

import (
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// Pool keeps clients from one schedule to the next: they hold nothing but what they know of kinds, and cost more to
// make than a schedule does to run. Each life of a process has its own, so that what a dead one left behind reaches
// nobody.
type Pool struct{ clients map[string]*pooled }

// pooled is a client whose calls go to the controller that has it now.
type pooled struct {
	owner        *controller
	handle       sim.Handler
	cached, live client.Client
}

// ofLife is a client of one life of a process in one schedule, which no other has.
type ofLife struct {
	client.Client
	onKind func(patcher.AnyKind)
}

// ObserveKind receives from package patcher the generated kinds that the reconciler uses.
func (c *ofLife) ObserveKind(kind patcher.AnyKind) {
	if c.onKind != nil {
		c.onKind(kind)
	}
}

// get returns the clients of a controller of one life of a process. A nil pool makes new ones.
func (p *Pool) get(w *World, c *controller, life int) (*pooled, error) {
	key := fmt.Sprintf("%s/%s/%d", c.proc.name, c.name, life)
	return p.client(key, func(entry *pooled) (err error) {
		entry.handle = func(req *http.Request, r *sim.Request) (*sim.Answer, error) { return entry.owner.gate(req, r) }
		cache := &client.CacheOptions{Reader: &reader{entry: entry}, DisableFor: c.cfg.Uncached}
		if entry.cached, err = sim.NewClient(w.cfg.Catalog, entry.handle, cache); err != nil {
			return err
		}
		entry.live, err = sim.NewClient(w.cfg.Catalog, entry.handle, nil)
		return err
	})
}

// foreign returns a live client whose calls go to handle.
func (p *Pool) foreign(w *World, handle sim.Handler) (client.Client, error) {
	entry, err := p.client("foreign", func(entry *pooled) (err error) {
		entry.live, err = sim.NewClient(w.cfg.Catalog, func(req *http.Request, r *sim.Request) (*sim.Answer, error) { return entry.handle(req, r) }, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	entry.handle = handle
	return entry.live, nil
}

func (p *Pool) client(key string, build func(*pooled) error) (*pooled, error) {
	if p != nil && p.clients[key] != nil {
		return p.clients[key], nil
	}
	entry := &pooled{}
	if err := build(entry); err != nil {
		return nil, err
	}
	if p != nil {
		if p.clients == nil {
			p.clients = map[string]*pooled{}
		}
		p.clients[key] = entry
	}
	return entry, nil
}
