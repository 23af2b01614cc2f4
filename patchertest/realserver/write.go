package realserver

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Forge writes obj's status as another writer would: it reads obj anew by its name, calls mutate, and updates the status
// with the version that it has read; after a conflict again, until ctx is done. c reads from the server, as
// Server.Client does. Afterwards obj is what the server stored.
//
// It is an error if mutate changes nothing, which moves no resourceVersion and wakes nobody, or if it changes anything
// beside the status, which the server would drop in silence.
func Forge[T client.Object](ctx context.Context, c client.Client, obj T, mutate func(T)) error {
	return write(ctx, c, obj, mutate, statusOnly, func(ctx context.Context) error { return c.Status().Update(ctx, obj) })
}

// MutateSpec writes obj's spec or metadata as its user would, in the way of Forge; it is an error if mutate changes the
// status.
func MutateSpec[T client.Object](ctx context.Context, c client.Client, obj T, mutate func(T)) error {
	return write(ctx, c, obj, mutate, allButStatus, func(ctx context.Context) error { return c.Update(ctx, obj) })
}

// conflictBackoff is short: a busy reconciler is met again within a write or two.
var conflictBackoff = wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Steps: 20, Cap: 200 * time.Millisecond}

func write[T client.Object](ctx context.Context, c client.Client, obj T, mutate func(T), check func(before, after map[string]any) error,
	update func(context.Context) error,
) error {
	key := client.ObjectKeyFromObject(obj)
	var conflict error
	err := conflictBackoff.DelayFunc().Until(ctx, true, false, func(ctx context.Context) (bool, error) {
		clearObject(obj)
		if err := c.Get(ctx, key, obj); err != nil {
			return false, err
		}
		before, err := content(obj)
		if err != nil {
			return false, err
		}
		mutate(obj)
		after, err := content(obj)
		if err != nil {
			return false, err
		}
		if err := check(before, after); err != nil {
			return false, err
		}
		err = update(ctx)
		if apierrors.IsConflict(err) {
			conflict = err
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("writing %T %s: %w", obj, key, errors.Join(err, conflict))
	}
	return nil
}

// clearObject leaves the kind only: what is decoded into an object that is not empty keeps fields that the server has not.
func clearObject(obj client.Object) {
	kind := obj.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(obj).Elem().SetZero()
	obj.GetObjectKind().SetGroupVersionKind(kind)
}

// content is a copy of obj as it is sent.
func content(obj client.Object) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
}

func statusOnly(before, after map[string]any) error {
	if reflect.DeepEqual(before, after) {
		return errNothingChanged
	}
	delete(before, "status")
	delete(after, "status")
	if !reflect.DeepEqual(before, after) {
		return errors.New("expected mutate to change the status only, found a change beside it, which a status write drops;" +
			" write that by MutateSpec")
	}
	return nil
}

func allButStatus(before, after map[string]any) error {
	if !reflect.DeepEqual(before["status"], after["status"]) {
		return errors.New("expected mutate to leave the status alone, found a change, which an update of the object drops;" +
			" write that by Forge")
	}
	if reflect.DeepEqual(before, after) {
		return errNothingChanged
	}
	return nil
}

var errNothingChanged = errors.New("expected mutate to change something, found the object as it is stored:" +
	" such a write moves no resourceVersion and causes no event")
