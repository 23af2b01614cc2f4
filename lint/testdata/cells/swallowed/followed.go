package swallowed

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "example.com/cells/api/v1"
)

// Near miss of swallowed-conflict: a list with the error in it is not empty.
func (r *Reconciler) countsErrors(ctx context.Context, cells []*v1.Cell) error {
	var errs []error
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return kerrors.NewAggregate(errs)
	}
	return nil
}

// The list is logged and forgotten.
func (r *Reconciler) logsErrors(ctx context.Context, cells []*v1.Cell) error {
	var errs []error
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		log.FromContext(ctx).Error(errors.Join(errs...), "cannot update")
	}
	return nil
}

// Near miss of swallowed-conflict: the variable that is returned tells.
func (r *Reconciler) tellsByVariable(ctx context.Context, cell *v1.Cell) bool {
	ok := true
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "cannot update status")
		ok = false
	}
	return ok
}

// The same value is returned, whatever happens.
func (r *Reconciler) returnsTheSame(ctx context.Context, cell *v1.Cell) *v1.Cell {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return cell
	}
	return cell
}

// Near miss of swallowed-conflict: the helper hands the error back beside the result.
func fail(err error) (ctrl.Result, error) {
	return ctrl.Result{}, fmt.Errorf("failed: %w", err)
}

func (r *Reconciler) failsByHelper(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		return fail(err)
	}
	return ctrl.Result{}, nil
}

// The helper hands back neither the error nor a requeue.
func done(ctx context.Context, err error) (ctrl.Result, error) {
	if err != nil {
		log.FromContext(ctx).Error(err, "done with an error")
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) endsByHelper(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		return done(ctx, err)
	}
	return ctrl.Result{}, nil
}

// Near miss of swallowed-conflict: the helper asks for another attempt of conflicts.
func later(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) laterByHelper(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		return later(err)
	}
	return ctrl.Result{}, nil
}

// A result that a helper leaves empty asks for nothing.
func (r *Reconciler) nothing() ctrl.Result { return ctrl.Result{} }

func (r *Reconciler) asksForNothing(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return r.nothing(), nil
	}
	return ctrl.Result{}, nil
}

// The result is filled in only where nothing went wrong.
func (r *Reconciler) filledElsewhere(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	result := ctrl.Result{}
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return result, nil
	}
	result.RequeueAfter = time.Minute
	return result, nil
}

// Near miss of swallowed-conflict: the result is filled in before.
func (r *Reconciler) filledBefore(ctx context.Context, cell *v1.Cell) (ctrl.Result, error) {
	result := ctrl.Result{}
	result.RequeueAfter = time.Minute
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "cannot update status")
	}
	return result, nil
}

type outcome struct {
	changed bool
	err     error
}

// Near miss of swallowed-conflict: a struct carries it.
func (r *Reconciler) inStruct(ctx context.Context, cell *v1.Cell) outcome {
	err := r.Status().Update(ctx, cell) // want `update: `
	return outcome{changed: true, err: err}
}

func (r *Reconciler) outOfStruct(ctx context.Context, cell *v1.Cell) error {
	o := r.inStruct(ctx, cell)
	return o.err
}

// Near miss of swallowed-conflict: it is sent to whoever collects errors.
func (r *Reconciler) sent(ctx context.Context, cell *v1.Cell, errs chan<- error) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		errs <- err
	}
}

// Only its text is sent.
func (r *Reconciler) textSent(ctx context.Context, cell *v1.Cell, lines chan<- string) {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		lines <- err.Error()
	}
}

// Near miss of swallowed-conflict: the flag is set on this way, and the function returns an error for it.
func (r *Reconciler) byFlag(ctx context.Context, cells []*v1.Cell) error {
	failed := false
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
			log.FromContext(ctx).Error(err, "cannot update status")
			failed = true
		}
	}
	if failed {
		return errors.New("some were not updated")
	}
	return nil
}

// A local function that drops it.
func (r *Reconciler) localDrops(ctx context.Context, cell *v1.Cell) error {
	best := func(err error) error {
		if apierrors.IsConflict(err) {
			return nil
		}
		return err
	}
	return best(r.Status().Update(ctx, cell)) // want `swallowed-conflict: `
}

// Near miss of swallowed-conflict: an error type switch that conflicts fall through.
func (r *Reconciler) bySwitch(ctx context.Context, cell *v1.Cell) error {
	switch err := r.Status().Update(ctx, cell); { // want `update: `
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case errors.Is(err, context.Canceled):
		return nil
	default:
		return err
	}
}

// Conflicts fall into the case of what is not worth an attempt.
func (r *Reconciler) bySwitchDropped(ctx context.Context, cell *v1.Cell) error {
	switch err := r.Status().Update(ctx, cell); { // want `swallowed-conflict: `
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	default:
		return err
	}
}

// The helper only writes the text of the error down.
func note(cell *v1.Cell, err error) {
	cell.Status.Phase = err.Error()
}

func (r *Reconciler) noted(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
		note(cell, err)
	}
	return nil
}

// Near miss of swallowed-conflict: the helper always fails.
func (r *Reconciler) alwaysFails(cell *v1.Cell) error { return fmt.Errorf("cell %s", cell.Name) }

func (r *Reconciler) failsAnyway(ctx context.Context, cell *v1.Cell) error {
	if err := r.Status().Update(ctx, cell); err != nil { // want `update: `
		log.FromContext(ctx).Error(err, "cannot update status")
		return r.alwaysFails(cell)
	}
	return nil
}

// Near miss of swallowed-conflict: the first error is kept for the end.
func (r *Reconciler) keepsFirst(ctx context.Context, cells []*v1.Cell) error {
	var first error
	for _, cell := range cells {
		if err := r.Status().Update(ctx, cell); err != nil && first == nil { // want `update: `
			first = err
		}
	}
	return first
}

// In a goroutine nobody waits for it.
func (r *Reconciler) inGoroutine(ctx context.Context, cell *v1.Cell) error {
	go func() {
		if err := r.Status().Update(ctx, cell); err != nil { // want `swallowed-conflict: `
			log.FromContext(ctx).Error(err, "cannot update status")
		}
	}()
	return nil
}

func (r *Reconciler) goes(ctx context.Context, cell *v1.Cell) error {
	go r.Status().Update(ctx, cell) // want `swallowed-conflict: `
	return nil
}
