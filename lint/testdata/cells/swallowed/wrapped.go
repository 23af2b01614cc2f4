package swallowed

import (
	"context"
	"errors"
	"fmt"
	"time"

	pkgerrors "github.com/pkg/errors"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
	"example.com/cells/swallowed/fault"
)

// Near miss of swallowed-conflict: the work's error is returned, wrapped by a library.
func (r *Reconciler) wrapsOther(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.work(ctx); err != nil {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return ctrl.Result{}, pkgerrors.Wrap(err, "cannot work")
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: the same, by a function of the program's own.
func (r *Reconciler) wrapsOwn(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.work(ctx); err != nil {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return ctrl.Result{}, explainWork(err, cell.Name)
	}
	return ctrl.Result{}, nil
}

func explainWork(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot work on %s: %w", name, err)
}

// A function that can make nil of the other error returns nothing that counts.
func (r *Reconciler) wrapsAway(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.work(ctx); err != nil {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `swallowed-conflict: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return ctrl.Result{}, forget(err)
	}
	return ctrl.Result{}, nil
}

func forget(err error) error {
	log.Log.Error(err, "forgotten")
	return nil
}

// Near miss of swallowed-conflict: what is not nil without NotFound is not nil.
func (r *Reconciler) ignoresFirst(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	err := r.work(ctx)
	if client.IgnoreNotFound(err) != nil {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: an error that another package makes.
func (r *Reconciler) makesOther(ctx context.Context, cell *v1.Cell) error {
	if cell.Spec.Size < 0 {
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			log.FromContext(ctx).Error(err, "cannot update status")
		}
		return fault.New("the size is negative")
	}
	return nil
}

type sizeError struct{ size int }

func (e *sizeError) Error() string { return fmt.Sprint("bad size ", e.size) }

// Near miss of swallowed-conflict: an error of the program's own type.
func (r *Reconciler) makesOwn(ctx context.Context, cell *v1.Cell) error {
	var err error
	if cell.Spec.Size < 0 {
		err = &sizeError{cell.Spec.Size}
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
	}
	return err
}

// Near miss of swallowed-conflict: the result's type is a concrete error.
func (r *Reconciler) concrete(ctx context.Context, cell *v1.Cell) *sizeError {
	if cell.Spec.Size < 0 {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return &sizeError{cell.Spec.Size}
	}
	return nil
}

// Near miss of swallowed-conflict: without an error the write was not reached.
func (r *Reconciler) returnsLater(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	err := r.work(ctx)
	if err == nil {
		return ctrl.Result{}, nil
	}
	cell.Status.Phase = "Failed"
	if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
		log.FromContext(ctx).Error(uerr, "cannot update status")
	}
	log.FromContext(ctx).Info("failed")
	return ctrl.Result{}, err
}

// Near miss of swallowed-conflict: the way with the write is the one with the error.
func (r *Reconciler) returnsAfterIf(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	err := r.work(ctx)
	if err != nil {
		cell.Status.Phase = "Failed"
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
	}
	return ctrl.Result{}, err
}

// Near miss of swallowed-conflict: the deferred function asks for another attempt.
func (r *Reconciler) requeuesInDefer(ctx context.Context, cell *v1.Cell) (result ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
			result = ctrl.Result{RequeueAfter: time.Second}
		}
	}()
	return ctrl.Result{}, nil
}

// An empty result asks for nothing.
func (r *Reconciler) clearsInDefer(ctx context.Context, cell *v1.Cell) (result ctrl.Result, err error) {
	defer func() {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `swallowed-conflict: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
			result = ctrl.Result{}
		}
	}()
	return ctrl.Result{}, nil
}

var soon = ctrl.Result{RequeueAfter: time.Second}

// Near miss of swallowed-conflict: the result is kept in a variable.
func (r *Reconciler) requeuesByVariable(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		return soon, nil
	}
	return ctrl.Result{}, nil
}

type Again struct {
	client.Client
	events chan event.GenericEvent
}

// Near miss of swallowed-conflict: the reconcile starts over.
func (a *Again) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cell := &v1.Cell{}
	if err := a.Get(ctx, req.NamespacedName, cell); err != nil {
		return ctrl.Result{}, err
	}
	cell.Status.Count++
	if err := a.Status().Update(ctx, cell); apierrors.IsConflict(err) { // want `update: `
		return a.Reconcile(ctx, req)
	} else if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: an event queues the object again.
func (a *Again) byEvent(ctx context.Context, cell *v1.Cell) error {
	if err := a.Status().Update(ctx, cell); err != nil { // want `update: `
		a.events <- event.GenericEvent{Object: cell}
	}
	return nil
}

// The caller drops the result that asks for another attempt.
func (r *Reconciler) tells(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		if apierrors.IsConflict(err) {
			return ctrl.Result{Requeue: true}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) dropsResult(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if _, err := r.tells(ctx, cell); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: the caller hands the result on.
func (r *Reconciler) tellsOn(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		if apierrors.IsConflict(err) {
			return ctrl.Result{Requeue: true}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) handsOn(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if res, err := r.tellsOn(ctx, cell); err != nil || !res.IsZero() {
		return res, err
	}
	return ctrl.Result{}, nil
}

// Both callers drop the error.
func (r *Reconciler) twoCallers(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `swallowed-conflict: `
}

func (r *Reconciler) careful(ctx context.Context, cell *v1.Cell) error {
	if err := r.twoCallers(ctx, cell); err != nil {
		log.FromContext(ctx).Error(err, "cannot update status")
	}
	return nil
}

func (r *Reconciler) careless(ctx context.Context, cell *v1.Cell) error {
	_ = r.twoCallers(ctx, cell)
	return nil
}

// Near miss of swallowed-conflict: one caller does its best, the other returns the error.
func (r *Reconciler) bestEffort(ctx context.Context, cell *v1.Cell) error {
	return r.Status().Update(ctx, cell) // want `update: `
}

func (r *Reconciler) doesItsBest(ctx context.Context, cell *v1.Cell) {
	_ = r.bestEffort(ctx, cell)
}

func (r *Reconciler) returnsIt(ctx context.Context, cell *v1.Cell) error {
	return r.bestEffort(ctx, cell)
}

// The retry by recursion writes the fresh object, without the edit.
func (r *Reconciler) recursion(ctx context.Context, cell *v1.Cell) error {
	err := r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	if apierrors.IsConflict(err) {
		fresh := &v1.Cell{}
		if err := r.Get(ctx, client.ObjectKeyFromObject(cell), fresh); err != nil {
			return err
		}
		return r.recursion(ctx, fresh)
	}
	return err
}

// The same in place.
func (r *Reconciler) recursionInPlace(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		if !apierrors.IsConflict(err) {
			return err
		}
		if err := r.Get(ctx, client.ObjectKeyFromObject(cell), cell); err != nil {
			return err
		}
		return r.recursionInPlace(ctx, cell)
	}
	return nil
}

// Near miss of swallowed-conflict: the edit is part of each attempt.
func (r *Reconciler) recursionWithEdit(ctx context.Context, key client.ObjectKey) error {
	cell := &v1.Cell{}
	if err := r.Get(ctx, key, cell); err != nil {
		return err
	}
	cell.Status.Count++
	err := r.Status().Update(ctx, cell) // want `update: `
	if apierrors.IsConflict(err) {
		return r.recursionWithEdit(ctx, key)
	}
	return err
}

// Near miss of swallowed-conflict: a function value decides about the other error, which stays what it is.
func (r *Reconciler) joinsOther(ctx context.Context, cell *v1.Cell) error {
	if err := r.work(ctx); err != nil {
		if uerr := r.Status().Update(ctx, cell); uerr != nil { // want `update: `
			log.FromContext(ctx).Error(uerr, "cannot update status")
		}
		return errors.Join(err, errors.New("cannot work"))
	}
	return nil
}
