package world

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	machinery "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/schedule"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// cache is an informer of one kind: what it holds, and how far it has read the kind's events.
type cache struct {
	kind    *sim.Kind
	objects map[sim.Key]map[string]any
	next    int // position in World.events
}

// open starts an informer. Its first list is as old as the cache of the process before, or fresh.
func (p *process) open(kind *sim.Kind, before *process) *cache {
	gk := kind.GVK.GroupKind()
	if c := p.caches[gk]; c != nil {
		return c
	}
	c := &cache{kind: kind, objects: map[sim.Key]map[string]any{}}
	p.caches[gk] = c
	p.w.touch(schedule.Write, "informer", p.name, gk.String())
	if before != nil && before.caches[gk] != nil {
		old := before.caches[gk]
		c.objects, c.next = maps.Clone(old.objects), old.next
		return c
	}
	for _, key := range p.w.Server.Keys() {
		if key.Kind == gk {
			c.objects[key] = p.w.Server.Get(key)
		}
	}
	c.next = len(p.w.events[gk])
	p.w.touch(schedule.Read, "kind", gk.String())
	return c
}

// initialEvents tells handlers of every object that the first lists hold.
func (w *World) initialEvents(p *process) {
	for _, gk := range sortedKinds(p.caches) {
		c := p.caches[gk]
		for _, key := range slices.SortedFunc(maps.Keys(c.objects), sim.CompareKeys) {
			w.handle(p, sim.Commit{Type: watch.Added, Key: key, After: c.objects[key]})
		}
	}
}

// deliver hands the next watch event of a kind to a process: to its cache, and through predicates and handlers to queues.
func (w *World) deliver(p *process, gk schema.GroupKind) {
	w.own(p)
	c := p.caches[gk]
	at := w.events[gk][c.next]
	commit := w.Server.Log()[at]
	c.next++
	if commit.Type == watch.Deleted {
		delete(c.objects, commit.Key)
	} else {
		c.objects[commit.Key] = commit.After
	}
	w.touch(schedule.Write, "cache", p.name, keyText(commit.Key))
	w.touch(schedule.Add, "cachelist", p.name, gk.String())
	if step := w.committed[at].Step; step != w.now() {
		w.causedBy(step)
	}
	w.handle(p, commit)
	if w.record != nil && w.record.Who == "" {
		w.record.Who, w.record.Call = p.name, fmt.Sprintf("cache learns %s %s", Short(commit.Key), version(commit.After))
	}
}

func (w *World) handle(p *process, commit sim.Commit) {
	for _, c := range p.controllers {
		for i := range c.cfg.Sources {
			if source := &c.cfg.Sources[i]; source.Kind.GVK.GroupKind() == commit.Key.Kind {
				w.handleSource(c, source, commit)
			}
		}
	}
}

func (w *World) handleSource(c *controller, source *Source, commit sim.Commit) {
	ctx, q := context.Background(), &queue{c: c}
	after := w.event(source, commit.After)
	on := source.Handler
	if source.Map != nil {
		on = handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
			defer w.answerAtOnce()()
			return source.Map(ctx, c.client, obj)
		})
	}
	switch commit.Type {
	case watch.Added:
		e := event.CreateEvent{Object: after}
		for _, p := range source.Predicates {
			if !p.Create(e) {
				return
			}
		}
		on.Create(ctx, e, q)
	case watch.Modified:
		e := event.UpdateEvent{ObjectOld: w.event(source, commit.Before), ObjectNew: after}
		for _, p := range source.Predicates {
			if !p.Update(e) {
				return
			}
		}
		on.Update(ctx, e, q)
	case watch.Deleted:
		e := event.DeleteEvent{Object: after}
		for _, p := range source.Predicates {
			if !p.Delete(e) {
				return
			}
		}
		on.Delete(ctx, e, q)
	}
}

func (w *World) event(source *Source, content map[string]any) client.Object {
	obj, err := w.view(content, reflect.TypeOf(source.Object).Elem())
	if err != nil {
		panic(fmt.Sprintf("event of %s: expected content that decodes into %T: %v", source.Kind.GVK, source.Object, err))
	}
	return obj.DeepCopyObject().(client.Object)
}

// answerAtOnce lets calls through the gate without a step of their own: those of a handler belong to the delivery.
func (w *World) answerAtOnce() (restore func()) {
	before := w.direct
	w.direct = true
	return func() { w.direct = before }
}

type viewKey struct {
	content uintptr
	typ     reflect.Type
}

// view decodes content into a Go type, once a version: the store's content is immutable.
func (w *World) view(content map[string]any, typ reflect.Type) (machinery.Object, error) {
	if typ == reflect.TypeFor[unstructured.Unstructured]() {
		return &unstructured.Unstructured{Object: content}, nil
	}
	key := viewKey{reflect.ValueOf(content).Pointer(), typ}
	if known, ok := w.views[key]; ok {
		return known.(viewEntry).obj, nil
	}
	obj := reflect.New(typ).Interface().(machinery.Object)
	if _, partial := obj.(*metav1.PartialObjectMetadata); partial {
		content = map[string]any{"apiVersion": content["apiVersion"], "kind": content["kind"], "metadata": content["metadata"]}
	}
	if err := machinery.DefaultUnstructuredConverter.FromUnstructured(content, obj); err != nil {
		return nil, err
	}
	// The entry keeps the content alive, so that its address stays its own.
	w.views[key] = viewEntry{obj: obj, content: content}
	return obj, nil
}

type viewEntry struct {
	obj     machinery.Object
	content map[string]any
}

// reader is the cached half of a process's client. Each read waits at the gate like every call.
type reader struct{ entry *pooled }

// Get implements client.Reader.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, out client.Object, _ ...client.GetOption) error {
	kind, err := r.entry.owner.proc.w.cfg.Catalog.KindFor(out)
	if err != nil {
		return err
	}
	c := &call{verb: "get", kind: kind, key: sim.Key{Kind: kind.GVK.GroupKind(), Namespace: key.Namespace, Name: key.Name}, cached: true, out: out}
	return r.entry.owner.park(ctx, c)
}

// List implements client.Reader.
func (r *reader) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	kind, err := r.entry.owner.proc.w.cfg.Catalog.KindFor(out)
	if err != nil {
		return err
	}
	c := &call{verb: "list", kind: kind, key: sim.Key{Kind: kind.GVK.GroupKind()}, cached: true, list: out}
	c.options.ApplyOptions(opts)
	return r.entry.owner.park(ctx, c)
}

// readCache answers a cached call in the scheduler's goroutine, while the caller waits.
func (w *World) readCache(c *call) error {
	p := c.run.c.proc
	cached := p.open(c.kind, nil)
	w.touch(schedule.Read, "informer", p.name, c.kind.GVK.GroupKind().String())
	if c.verb == "list" {
		return w.listCache(c, cached)
	}
	w.touch(schedule.Read, "cache", p.name, keyText(c.key))
	content, ok := cached.objects[c.key]
	if !ok {
		return notFound(c.kind, c.key.Name)
	}
	c.run.reads[c.key] = content
	c.run.saw(c.key, content)
	c.content = content
	obj, err := w.view(content, reflect.TypeOf(c.out).Elem())
	if err != nil {
		return err
	}
	reflect.ValueOf(c.out).Elem().Set(reflect.ValueOf(obj.DeepCopyObject()).Elem())
	c.out.GetObjectKind().SetGroupVersionKind(c.kind.GVK)
	return nil
}

func (w *World) listCache(c *call, cached *cache) error {
	w.touch(schedule.Read, "cachelist", c.run.c.proc.name, c.kind.GVK.GroupKind().String())
	var items []machinery.Object
	itemType, err := w.itemType(c)
	if err != nil {
		return err
	}
	for _, key := range slices.SortedFunc(maps.Keys(cached.objects), sim.CompareKeys) {
		content := cached.objects[key]
		obj, err := w.view(content, itemType)
		if err != nil {
			return err
		}
		match, err := w.matches(c, obj.(client.Object))
		if err != nil {
			return err
		}
		if match {
			c.run.reads[key] = content
			c.run.saw(key, content)
			items = append(items, obj.DeepCopyObject())
		}
	}
	c.listed = len(items)
	return meta.SetList(c.list, items)
}

func (w *World) itemType(c *call) (reflect.Type, error) {
	if _, ok := c.list.(*unstructured.UnstructuredList); ok {
		return reflect.TypeFor[unstructured.Unstructured](), nil
	}
	if _, ok := c.list.(*metav1.PartialObjectMetadataList); ok {
		return reflect.TypeFor[metav1.PartialObjectMetadata](), nil
	}
	obj, err := w.cfg.Catalog.Scheme.New(c.kind.GVK)
	if err != nil {
		return nil, err
	}
	return reflect.TypeOf(obj).Elem(), nil
}

func (w *World) matches(c *call, obj client.Object) (bool, error) {
	if c.options.Namespace != "" && obj.GetNamespace() != c.options.Namespace {
		return false, nil
	}
	if c.options.LabelSelector != nil && !c.options.LabelSelector.Matches(labelSet(obj.GetLabels())) {
		return false, nil
	}
	if c.options.FieldSelector == nil {
		return true, nil
	}
	for _, requirement := range c.options.FieldSelector.Requirements() {
		index := w.index(c.kind, requirement.Field)
		if index == nil {
			return false, fmt.Errorf("Index with name field:%s does not exist: expected it in Model.Indexes, as IndexField registers it", requirement.Field)
		}
		if !slices.Contains(index.Extract(obj), requirement.Value) {
			return false, nil
		}
	}
	return true, nil
}

func (w *World) index(kind *sim.Kind, field string) *Index {
	for i := range w.cfg.Indexes {
		if index := &w.cfg.Indexes[i]; index.Kind == kind && index.Field == field {
			return index
		}
	}
	return nil
}

// queue is the workqueue that handlers see: they may only add to it.
type queue struct{ c *controller }

func (q *queue) Add(item reconcile.Request) { q.c.enqueue(item.NamespacedName) }
func (q *queue) AddAfter(item reconcile.Request, d time.Duration) {
	q.c.enqueueAfter(item.NamespacedName, d)
}
func (q *queue) AddRateLimited(item reconcile.Request)      { q.c.enqueueRateLimited(item.NamespacedName) }
func (q *queue) Forget(item reconcile.Request)              { delete(q.c.errors, item.NamespacedName) }
func (q *queue) NumRequeues(item reconcile.Request) int     { return q.c.errors[item.NamespacedName] }
func (q *queue) Len() int                                   { return len(q.c.queue) }
func (q *queue) Get() (item reconcile.Request, closed bool) { runtime.Goexit(); return }
func (q *queue) Done(reconcile.Request)                     {}
func (q *queue) ShutDown()                                  {}
func (q *queue) ShutDownWithDrain()                         {}
func (q *queue) ShuttingDown() bool                         { return false }

func sortedKinds(caches map[schema.GroupKind]*cache) []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(caches), func(a, b schema.GroupKind) int {
		return sim.CompareKeys(sim.Key{Kind: a}, sim.Key{Kind: b})
	})
}
