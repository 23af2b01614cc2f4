package swallowed

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct {
	client.Client
	queue workqueue.TypedRateLimitingInterface[string]
	last  error
}

func (r *Reconciler) blank(ctx context.Context, cell *v1.Cell) error {
	_ = r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	return nil
}

func (r *Reconciler) ignored(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	return ctrl.Result{}, nil
}

func (r *Reconciler) logged(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(err, "cannot update status")
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) deferred(ctx context.Context, cell *v1.Cell) (res ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `swallowed-conflict: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
	}()
	cell.Status.Phase = "Ready"
	return ctrl.Result{}, nil
}

func (r *Reconciler) conflictIsNil(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		if apierrors.IsConflict(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) exceptConflict(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell); err != nil && !apierrors.IsConflict(err) { // want `swallowed-conflict: `
		return err
	}
	return nil
}

// The helper returns it, its only caller drops it.
func (r *Reconciler) helper(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `swallowed-conflict: `
}

func (r *Reconciler) drops(ctx context.Context, cell *v1.Cell) error {
	if err := r.helper(ctx, cell); err != nil {
		fmt.Println(err)
	}
	return nil
}

// The other error may be nil.
func (r *Reconciler) otherError(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	err := r.work(ctx)
	if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(uerr, "cannot update status")
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) work(ctx context.Context) error { return ctx.Err() }

// Near misses.

func (r *Reconciler) returned(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) requeued(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		if apierrors.IsConflict(err) {
			return ctrl.Result{Requeue: true}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// On this way the work's own error is returned, so the key comes again.
func (r *Reconciler) onError(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.work(ctx); err != nil {
		cell.Status.Phase = "Failed"
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) joined(ctx context.Context, cell *v1.Cell) (err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			err = kerrors.NewAggregate([]error{err, uerr})
		}
	}()
	return r.work(ctx)
}

func (r *Reconciler) joinedInline(ctx context.Context, cell *v1.Cell) (err error) {
	defer func() { err = errors.Join(err, r.Status().Update(ctx, cell)) }() // want `update: `
	return r.work(ctx)
}

func (r *Reconciler) collected(ctx context.Context, cells []*v1.Cell) error {
	var errs []error
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *Reconciler) queued(ctx context.Context, key string, cell *v1.Cell) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		r.queue.AddRateLimited(key)
	}
}

func (r *Reconciler) retried(ctx context.Context, cell *v1.Cell) error {
	for {
		err := r.Status().Update(ctx, cell) // want `update: `
		if err == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// The same object's status is sent again, and that error is returned.
func (r *Reconciler) sentAgain(ctx context.Context, cell *v1.Cell) error {
	cell.Status.Phase = "Working"
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "best effort")
	}
	cell.Status.Phase = "Ready"
	return r.Status().Update(ctx, cell) // want `update: `
}

// Tells by a bool.
func (r *Reconciler) told(ctx context.Context, cell *v1.Cell) bool {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return false
	}
	return true
}

func (r *Reconciler) notFound(ctx context.Context, cell *v1.Cell) error {
	err := r.Status().Update(ctx, cell) // want `update: `
	return client.IgnoreNotFound(err)
}

func (r *Reconciler) wrapped(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		return fmt.Errorf("cannot update status: %w", err)
	}
	return nil
}

func (r *Reconciler) named(ctx context.Context, cell *v1.Cell) (err error) {
	if err = r.Status().Update(ctx, cell); err != nil { // want `update: `
		return
	}
	return
}

// Near miss of swallowed-conflict: the caller asks for what else the callee says before it asks for the error.
func (r *Reconciler) saysMore(ctx context.Context, cell *v1.Cell) (bool, error) {
	if cell.Status.Phase != "" {
		err := r.Status().Update(ctx, cell) // want `update: `
		return true, client.IgnoreNotFound(err)
	}
	return false, nil
}

func (r *Reconciler) asksBoth(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if done, err := r.saysMore(ctx, cell); done || err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: the controller calls Reconcile, too, and queues what fails again.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := r.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, cell) // want `update: `
}

func (r *Reconciler) once(ctx context.Context) {
	if _, err := r.Reconcile(ctx, ctrl.Request{}); err != nil {
		log.FromContext(ctx).Error(err, "cannot reconcile")
	}
}

// Near miss of swallowed-conflict: the loop tries until it works, or until nothing can work any more.
func (r *Reconciler) untilDone(ctx context.Context, tick <-chan struct{}, key client.ObjectKey) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			cell := &v1.Cell{}
			if err := r.Get(ctx, key, cell); err != nil {
				continue
			}
			if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
				log.FromContext(ctx).Error(err, "cannot update")
				continue
			}
			return
		}
	}
}

// The loop may also end another way, and then the conflict is lost.
func (r *Reconciler) untilClosed(ctx context.Context, tick <-chan struct{}, stop <-chan struct{}, cell *v1.Cell) {
	for {
		select {
		case <-stop:
			return
		case <-tick:
			if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
				log.FromContext(ctx).Error(err, "cannot update")
				continue
			}
			return
		}
	}
}

// Near miss of swallowed-conflict: what is polled tries again until all are done.
func (r *Reconciler) polled(ctx context.Context, keys map[client.ObjectKey]bool) error {
	attempt := func() (bool, error) {
		for key := range keys {
			cell := &v1.Cell{}
			if err := r.Get(ctx, key, cell); err != nil {
				return false, err
			}
			if err := r.Status().Update(ctx, cell); err != nil { // want `refetch: `
				log.FromContext(ctx).Error(err, "cannot update")
				continue
			}
			delete(keys, key)
		}
		if len(keys) == 0 {
			return true, nil
		}
		return false, nil
	}
	return wait.ExponentialBackoff(wait.Backoff{Steps: 5}, attempt)
}

// A poll that never asks for another attempt drops it.
func (r *Reconciler) polledOnce(ctx context.Context, key client.ObjectKey) error {
	return wait.ExponentialBackoff(wait.Backoff{Steps: 5}, func() (bool, error) {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return false, err
		}
		if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
			log.FromContext(ctx).Error(err, "cannot update")
		}
		return true, nil
	})
}

// Near miss of swallowed-conflict: another error is returned instead.
func (r *Reconciler) firstError(ctx context.Context, cell *v1.Cell) (res ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil && err == nil { // want `update: `
			err = uerr
		}
	}()
	return ctrl.Result{}, r.Get(ctx, client.ObjectKeyFromObject(cell), cell)
}

// Near miss of swallowed-conflict: the same, one condition in the other.
func (r *Reconciler) firstErrorNested(ctx context.Context, cell *v1.Cell) (res ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			if err == nil {
				err = uerr
			}
		}
	}()
	return ctrl.Result{}, r.Get(ctx, client.ObjectKeyFromObject(cell), cell)
}

// The other way round the conflict is the one that gets lost.
func (r *Reconciler) onlyWithError(ctx context.Context, cell *v1.Cell) (res ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil && err != nil { // want `swallowed-conflict: `
			err = errors.Join(err, uerr)
		}
	}()
	return ctrl.Result{}, r.Get(ctx, client.ObjectKeyFromObject(cell), cell)
}

// A function of the program's own makes nil of a conflict.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (r *Reconciler) ignoredByHelper(ctx context.Context, cell *v1.Cell) error {
	return ignoreConflict(r.Status().Update(ctx, cell)) // want `swallowed-conflict: `
}

func (r *Reconciler) ignoredLater(ctx context.Context, cell *v1.Cell) error {
	err := r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	if err := ignoreConflict(err); err != nil {
		return fmt.Errorf("cannot update: %w", err)
	}
	return nil
}

// Near miss of swallowed-conflict: it makes nil of another error, and wraps this one.
func explain(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if apierrors.IsConflict(err) {
		return fmt.Errorf("somebody else was faster: %w", err)
	}
	return err
}

func (r *Reconciler) explained(ctx context.Context, cell *v1.Cell) error {
	return explain(r.Status().Update(ctx, cell)) // want `update: `
}

// Near miss of swallowed-conflict: the retry reads again, and only its last error is logged.
func (r *Reconciler) retriedAfresh(ctx context.Context, key client.ObjectKey) {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		cell.Status.Count++
		return r.Status().Update(ctx, cell) // want `refetch: `
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot update status")
	}
}

// A retry that writes the same object again gets the same conflict again.
func (r *Reconciler) retriedInVain(ctx context.Context, cell *v1.Cell) {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return r.Status().Update(ctx, cell) // want `stale-retry: `
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot update status")
	}
}

// A retry for other errors does not try again.
func (r *Reconciler) retriedForOthers(ctx context.Context, key client.ObjectKey) {
	err := retry.OnError(retry.DefaultRetry, apierrors.IsServerTimeout, func() error {
		cell := &v1.Cell{}
		if err := r.Get(ctx, key, cell); err != nil {
			return err
		}
		return r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot update status")
	}
}

// A logger of the program's own is one by what it does.
func report(err error, what string) { log.Log.Error(err, "cannot "+what) }

func (r *Reconciler) reported(ctx context.Context, cell *v1.Cell) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		report(err, "update")
	}
}

// Near miss of swallowed-conflict: it is kept.
func (r *Reconciler) keep(err error) {
	log.Log.Error(err, "kept")
	r.last = err
}

func (r *Reconciler) kept(ctx context.Context, cell *v1.Cell) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		r.keep(err)
	}
}
