package patcher

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kinds are the registered kinds, bound to a client.
type kinds struct {
	client client.Client
	byType map[reflect.Type]*boundKind
	// byGroupKind finds objects of other Go types and versions.
	byGroupKind *groupKinds
	// byList holds, for each type of list that was read, whether its items are of these kinds.
	byList *sync.Map
}

type boundKind struct {
	kind   AnyKind
	client anyClient
}

// bindKinds calls no method of c: operators add their API to the scheme after they have made the client, and test doubles expect no
// other calls than those of the operator.
func bindKinds(c client.Client, live client.Reader, all []AnyKind) kinds {
	k := kinds{client: c, byType: map[reflect.Type]*boundKind{}, byGroupKind: &groupKinds{known: map[schema.GroupKind]*boundKind{}}, byList: new(sync.Map)}
	for _, kind := range all {
		bound := &boundKind{kind: kind, client: kind.bind(c, live, nil)}
		k.byType[reflect.TypeOf(kind.NewObject())] = bound
		k.byGroupKind.unresolved = append(k.byGroupKind.unresolved, bound)
	}
	return k
}

func (k kinds) all() (all []AnyKind) {
	for _, bound := range k.byType {
		all = append(all, bound.kind)
	}
	return all
}

// ofType returns the kind of a typed object, or nil.
func (k kinds) ofType(obj any) *boundKind { return k.byType[reflect.TypeOf(obj)] }

// of returns the kind of an object of any Go type, or nil: a typed one of another version, too, and an unstructured one, which says
// its kind by itself.
func (k kinds) of(obj client.Object) *boundKind {
	if bound := k.ofType(obj); bound != nil {
		return bound
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk = kindInScheme(k.client, obj)
	}
	if gvk.Empty() {
		return nil
	}
	return k.byGroupKind.of(k.client, gvk.GroupKind())
}

// kindInScheme returns the kind of a typed object, which is empty if the scheme of the client does not have it.
func kindInScheme(c client.Client, obj client.Object) schema.GroupVersionKind {
	scheme := c.Scheme()
	if scheme == nil {
		return schema.GroupVersionKind{}
	}
	known, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return known[0]
}

// groupKinds finds kinds by their names. A kind is found from the moment on when the scheme has it.
type groupKinds struct {
	mu         sync.Mutex
	known      map[schema.GroupKind]*boundKind
	unresolved []*boundKind
}

func (g *groupKinds) of(c client.Client, name schema.GroupKind) *boundKind {
	g.mu.Lock()
	defer g.mu.Unlock()
	var unresolved []*boundKind
	for _, bound := range g.unresolved {
		if gvk := kindInScheme(c, bound.kind.NewObject()); gvk.Empty() {
			unresolved = append(unresolved, bound)
		} else {
			g.known[gvk.GroupKind()] = bound
		}
	}
	g.unresolved = unresolved
	return g.known[name]
}
