package patchertest

import (
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// catalogFor compiles scheme and CRDs once for all schedules of an exploration: they do not change.
func (e *explorer) catalogFor(m *Model) (*sim.Catalog, error) {
	if e.catalog != nil && e.catalog.Scheme == m.Scheme && sameCRDs(e.crds, m.CRDs) {
		return e.catalog, nil
	}
	catalog, err := sim.NewCatalog(m.Scheme, m.CRDs)
	if err != nil {
		return nil, err
	}
	e.catalog, e.crds, e.clients = catalog, m.CRDs, world.Pool{}
	return catalog, nil
}

func sameCRDs[T any](a, b []*T) bool {
	return slices.EqualFunc(a, b, func(x, y *T) bool { return x == y || reflect.DeepEqual(x, y) })
}

// compile turns a model into what a world runs.
func (e *explorer) compile(m *Model) (world.Config, error) {
	catalog, err := e.catalogFor(m)
	if err != nil {
		return world.Config{}, err
	}
	cfg := world.Config{
		Catalog: catalog, Objects: m.Objects, Replicas: e.replicas, Stale: e.stale, Crashes: e.crashes, Timeouts: e.timeouts,
		EarlyTimers: e.earlyTimers, MaxReconciles: e.maxReconciles, Horizon: e.horizon, OrderedWrites: e.ordered,
	}
	if err := e.checkDemands(m); err != nil {
		return cfg, err
	}
	if err := checkPaths(m); err != nil {
		return cfg, err
	}
	if len(m.Controllers) == 0 {
		return cfg, fmt.Errorf("expected at least one Controller in the model, found none")
	}
	for i := range m.Controllers {
		c, err := compileController(catalog, &m.Controllers[i])
		if err != nil {
			return cfg, fmt.Errorf("controller %q: %w", m.Controllers[i].Name, err)
		}
		if slices.ContainsFunc(cfg.Controllers, func(other world.Controller) bool { return other.Name == c.Name }) {
			return cfg, fmt.Errorf("controller %q: expected names to be unique in the model, found two", c.Name)
		}
		cfg.Controllers = append(cfg.Controllers, c)
	}
	for _, s := range m.Foreign {
		if s.Writer == "" {
			s.Writer = "foreign"
		}
		cfg.Foreign = append(cfg.Foreign, world.Foreign{Writer: s.Writer, Name: s.Name, Run: s.Run})
	}
	for _, index := range m.Indexes {
		kind, err := catalog.KindFor(index.Object)
		if err != nil {
			return cfg, fmt.Errorf("index %q: %w", index.Field, err)
		}
		cfg.Indexes = append(cfg.Indexes, world.Index{Kind: kind, Object: index.Object, Field: index.Field, Extract: index.Extract})
	}
	e.judge(m, &cfg)
	return cfg, nil
}

func compileController(catalog *sim.Catalog, c *Controller) (world.Controller, error) {
	out := world.Controller{Name: c.Name, Uncached: c.Uncached, New: c.New}
	if c.New == nil || c.Name == "" {
		return out, fmt.Errorf("expected a Name and a New, found one missing")
	}
	add := func(obj client.Object, h handler.EventHandler, predicates []predicate.Predicate) (*sim.Kind, error) {
		kind, err := catalog.KindFor(obj)
		if err != nil {
			return nil, err
		}
		out.Sources = append(out.Sources, world.Source{Object: obj, Kind: kind, Handler: h, Predicates: predicates})
		return kind, nil
	}
	if c.For == nil && len(c.Watches) == 0 {
		return out, fmt.Errorf("expected For or Watches: nothing would ever be reconciled")
	}
	if c.For != nil {
		kind, err := add(c.For, &handler.EnqueueRequestForObject{}, c.Predicates)
		if err != nil {
			return out, err
		}
		out.For = kind
	}
	for _, owned := range c.Owns {
		if c.For == nil {
			return out, fmt.Errorf("expected For beside Owns: events are mapped to the owner of that kind")
		}
		if _, err := add(owned, handler.EnqueueRequestForOwner(catalog.Scheme, catalog.Mapper, c.For, handler.OnlyControllerOwner()), nil); err != nil {
			return out, err
		}
	}
	for _, w := range c.Watches {
		if (w.Handler == nil) == (w.Map == nil) {
			return out, fmt.Errorf("watch of %T: expected either Handler or Map", w.Object)
		}
		if _, err := add(w.Object, w.Handler, w.Predicates); err != nil {
			return out, err
		}
		out.Sources[len(out.Sources)-1].Map = w.Map
	}
	return out, nil
}

// judge binds the invariants to the world's moments.
func (e *explorer) judge(m *Model, cfg *world.Config) {
	catalog := cfg.Catalog
	for _, kind := range m.Kinds {
		e.kinds.add(kind)
	}
	cfg.OnKind = e.kinds.add
	cfg.OnCommit = func(w *world.World, at int) *world.Violation {
		for _, invariant := range m.Invariants {
			if invariant.commit == nil {
				continue
			}
			if err := invariant.commit(newHistory(w, catalog, at+1)); err != nil {
				return &world.Violation{Invariant: invariant.name, Detail: err.Error()}
			}
		}
		return e.judgeDemands(newHistory(w, catalog, at+1).of(cfg, &e.kinds), at)
	}
	if slices.ContainsFunc(m.Invariants, func(i Invariant) bool { return i.always }) {
		cfg.OnOutside = func(w *world.World) *world.Violation {
			for _, invariant := range m.Invariants {
				if !invariant.always {
					continue
				}
				if err := invariant.commit(newHistory(w, catalog, len(w.Server.Log()))); err != nil {
					return &world.Violation{Invariant: invariant.name, Detail: err.Error()}
				}
			}
			return nil
		}
	}
	cfg.OnQuiet = func(w *world.World) *world.Violation {
		for _, invariant := range m.Invariants {
			if invariant.quiet == nil {
				continue
			}
			if err := invariant.quiet(newHistory(w, catalog, len(w.Server.Log())), m); err != nil {
				return &world.Violation{Invariant: invariant.name, Detail: err.Error()}
			}
		}
		return e.judgeDemands(newHistory(w, catalog, len(w.Server.Log())).of(cfg, &e.kinds), -1)
	}
	for _, invariant := range m.Invariants {
		cfg.Probe = cfg.Probe || invariant.probe
	}
}
