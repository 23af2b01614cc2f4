package patcher

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// base is the last state that the API server acknowledged: what every diff is made against. It is never taken from an
// object that somebody may have edited, or an edit whose write failed would be lost. It does not have the spec. A base is
// immutable: patchers and the memory of bases share it.
type base[S any] struct {
	status   S
	identity identity
	metadata metadata
	// room holds the text of the metadata, so that a base is one allocation.
	room [12]string
}

// identity says which object, and which version of it.
type identity struct {
	uid               types.UID
	resourceVersion   string
	generation        int64
	deletionTimestamp metav1.Time
}

func identityOf(obj client.Object) identity {
	i := identity{
		uid:             obj.GetUID(),
		resourceVersion: obj.GetResourceVersion(),
		generation:      obj.GetGeneration(),
	}
	if at := obj.GetDeletionTimestamp(); at != nil {
		i.deletionTimestamp = *at
	}
	return i
}

func (i identity) deleting() bool { return !i.deletionTimestamp.IsZero() }

// isSame is false only where both UIDs are known and differ: the fake client assigns none.
func (i identity) isSame(other identity) bool {
	return i.uid == "" || other.uid == "" || i.uid == other.uid
}
