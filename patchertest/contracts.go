package patchertest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/world"
)

// kinds are the generated kinds of an exploration that have contracts. The race detector's runs add to them at once.
type kinds struct {
	mu  sync.Mutex
	all []patcher.AnyKind
}

func (k *kinds) add(kind patcher.AnyKind) {
	if len(kind.WriteOnceFields()) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.all, kind) {
		k.all = append(k.all, kind)
	}
}

func (k *kinds) list() []patcher.AnyKind {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all
}

// rewrittenField finds a write, by whomever, that changes or removes the value of a write-once field while the parent of the field
// exists.
func rewrittenField(h *History, at int) string {
	last := h.commits[at]
	if last.Before == nil || last.Type == watch.Deleted || uidOf(last.Before) != uidOf(last.After) {
		return ""
	}
	for _, kind := range h.generated.list() {
		known, err := h.catalog.KindFor(kind.NewObject())
		if err != nil || known.GVK.GroupKind() != last.Key.Kind || !touchesAny(last, kind.WriteOnceFields()) {
			continue
		}
		var once *patcher.WriteOnceError
		if err := kind.CheckWriteOnce(decodeAs(kind, last.Before), decodeAs(kind, last.After)); errors.As(err, &once) {
			return fmt.Sprintf("status.%s of %s is written once, and was %q at %s; the write at %s makes it %q",
				once.Path, world.Short(last.Key), once.Old, world.Version(last.Before), world.Version(last.After), once.New)
		}
	}
	return ""
}

// touchesAny reports whether a commit changes one of the fields, or an object that it is in. It spares most commits the decoding.
func touchesAny(c sim.Commit, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		before, had := valueAt(c.Before, "status."+path)
		after, has := valueAt(c.After, "status."+path)
		return had && (!has || !sim.EqualJSON(before, after))
	})
}

func decodeAs(kind patcher.AnyKind, content map[string]any) client.Object {
	obj := kind.NewObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj); err != nil {
		panic("patchertest: an object of the store does not decode into " + kind.KindName() + ": " + err.Error())
	}
	return obj
}
