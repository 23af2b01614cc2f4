package world

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
)

// Tally counts how the reconciles of a controller ended.
type Tally struct {
	Ended     int
	Succeeded int
	LastError string
}

// Tallies returns the tally of each controller by its name.
func (w *World) Tallies() map[string]Tally { return w.tallies }

func (w *World) countEnd(r *run) {
	if w.tallies == nil {
		w.tallies = map[string]Tally{}
	}
	t := w.tallies[r.c.name]
	t.Ended++
	if r.err == nil {
		t.Succeeded++
	} else {
		t.LastError = r.err.Error()
	}
	w.tallies[r.c.name] = t
	if unknownKind(r.err) && w.unfit == "" {
		w.unfit = fmt.Sprintf("%s, reconcile of %s: %v: add the kind to Model.Scheme, and its CRD to Model.CRDs", r.c.who(), r.key, r.err)
	}
}

// unknownKind reports whether a reconcile failed because the model does not have a kind.
func unknownKind(err error) bool {
	var group *discovery.ErrGroupDiscoveryFailed
	return err != nil && (meta.IsNoMatchError(err) || errors.As(err, &group) || anyInChain(err, runtime.IsNotRegisteredError))
}

func anyInChain(err error, is func(error) bool) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if is(err) {
			return true
		}
	}
	return false
}
