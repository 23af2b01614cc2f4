package executor

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
)

// Verify reports whether the StatefulSet that the status tracks was lost: it is gone, or an impostor, which Verify deletes,
// has its name. The status then tracks nothing and the plan is open again.
//
// The caller flushes that before it goes on. If it applied a new StatefulSet first and the flush of the new UID failed, the
// status would still track the old one, and the next reconcile would delete the healthy one as an impostor.
func Verify(ctx context.Context, c client.Client, live client.Reader, database *v1.Database) (lost bool, err error) {
	tracked := database.Status.StatefulSet
	if tracked == nil {
		return false, nil
	}
	statefulSet := &appsv1.StatefulSet{}
	for _, reader := range []client.Reader{c, live} { // a cache that lags is no evidence
		err = reader.Get(ctx, client.ObjectKey{Namespace: database.Namespace, Name: tracked.Name}, statefulSet)
		if err == nil && statefulSet.UID == tracked.UID {
			return false, nil
		}
	}
	if err == nil {
		err = Delete(ctx, c, statefulSet)
	}
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	database.Status.StatefulSet = nil
	planner.Reopen(database)
	return true, nil
}

// Remove deletes the Database's StatefulSet and reports whether it is gone.
func Remove(ctx context.Context, c client.Client, live client.Reader, database *v1.Database) (gone bool, err error) {
	statefulSet := &appsv1.StatefulSet{}
	err = live.Get(ctx, client.ObjectKeyFromObject(database), statefulSet)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, client.IgnoreNotFound(Delete(ctx, c, statefulSet))
}

// Delete deletes this StatefulSet and no other of the same name.
func Delete(ctx context.Context, c client.Client, statefulSet *appsv1.StatefulSet) error {
	return c.Delete(ctx, statefulSet, client.Preconditions{UID: &statefulSet.UID})
}
