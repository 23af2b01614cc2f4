package patchertest

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// History is every version of every object that was committed so far. Read it by Versions, Latest and Objects.
type History struct {
	w         *world.World
	catalog   *sim.Catalog
	commits   []sim.Commit
	read      map[sim.Key]bool
	kinds     []schema.GroupKind // that controllers of the model are For
	generated *kinds             // generated kinds that controllers of the model use
}

func newHistory(w *world.World, catalog *sim.Catalog, upTo int) *History {
	return &History{w: w, catalog: catalog, commits: w.Server.Log()[:upTo], read: map[sim.Key]bool{}}
}

// of adds the kinds of the model's controllers.
func (h *History) of(cfg *world.Config, generated *kinds) *History {
	h.generated = generated
	for _, c := range cfg.Controllers {
		if c.For != nil {
			h.kinds = append(h.kinds, c.For.GVK.GroupKind())
		}
	}
	return h
}

// note keeps which objects an invariant looks at: one that looks at several sees the order of their writes.
func (h *History) note(key sim.Key) {
	h.read[key] = true
	if len(h.read) > 1 {
		h.w.OrderSeen = true
	}
}

// Versions returns every committed version of one object, oldest first, those of its earlier lives included.
func Versions[T client.Object](h History, key client.ObjectKey) []T {
	k := keyFor[T](h, key)
	h.note(k)
	var out []T
	for _, c := range h.commits {
		if c.Key == k && c.Type != watch.Deleted {
			out = append(out, decode[T](c.After))
		}
	}
	return out
}

// Latest returns the newest version of an object; false if it does not exist.
func Latest[T client.Object](h History, key client.ObjectKey) (T, bool) {
	k := keyFor[T](h, key)
	h.note(k)
	for i := len(h.commits) - 1; i >= 0; i-- {
		if c := h.commits[i]; c.Key == k {
			if c.Type == watch.Deleted {
				break
			}
			return decode[T](c.After), true
		}
	}
	var none T
	return none, false
}

// Objects returns the newest version of every object of a type.
func Objects[T client.Object](h History) []T {
	kind := kindOf[T](h)
	var keys []sim.Key
	latest := map[sim.Key]sim.Commit{}
	for _, c := range h.commits {
		if c.Key.Kind == kind {
			if _, known := latest[c.Key]; !known {
				keys = append(keys, c.Key)
			}
			latest[c.Key] = c
		}
	}
	h.w.OrderSeen = h.w.OrderSeen || len(keys) > 1
	var out []T
	for _, k := range keys {
		h.note(k)
		if latest[k].Type != watch.Deleted {
			out = append(out, decode[T](latest[k].After))
		}
	}
	return out
}

func keyFor[T client.Object](h History, key client.ObjectKey) sim.Key {
	return sim.Key{Kind: kindOf[T](h), Namespace: key.Namespace, Name: key.Name}
}

func kindOf[T client.Object](h History) schema.GroupKind {
	kind, err := h.catalog.KindFor(newObject[T]())
	if err != nil {
		panic("patchertest: " + err.Error())
	}
	return kind.GVK.GroupKind()
}

func decode[T client.Object](content map[string]any) T {
	obj := newObject[T]()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj); err != nil {
		panic("patchertest: an object of the store does not decode into " + reflect.TypeOf(obj).String() + ": " + err.Error())
	}
	return obj
}

// valueAt finds the value at a dotted path, such as status.plan.id.
func valueAt(content map[string]any, path string) (any, bool) {
	var value any = content
	for _, name := range strings.Split(path, ".") {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = fields[name]; !ok {
			return nil, false
		}
	}
	return value, true
}

func lower(s string) string { return strings.ToLower(s) }
