package directives

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cells/api/v1"
)

type Reconciler struct{ client.Client }

func (r *Reconciler) trailing(ctx context.Context, cell, base *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) //statuspatcher:allow blind-merge -- the only writer
}

func (r *Reconciler) above(ctx context.Context, cell, base *v1.Cell) error {
	//statuspatcher:allow blind-merge -- the only writer
	if err := r.Status().Patch(ctx, cell, client.MergeFrom(base)); err != nil {
		return err
	}
	return nil
}

// Of a whole function.
//
//statuspatcher:allow blind-merge -- the only writer
func (r *Reconciler) function(ctx context.Context, cell, base *v1.Cell) error {
	cell.Status.Phase = "x"
	return r.Status().Patch(ctx, cell, client.MergeFrom(base))
}

func (r *Reconciler) noReason(ctx context.Context, cell, base *v1.Cell) error {
	//statuspatcher:allow blind-merge // want `the directive allows blind-merge without a reason`
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) otherClass(ctx context.Context, cell, base *v1.Cell) error {
	//statuspatcher:allow blind-json -- wrong class // want `the directive allows blind-json, but there is no such finding here`
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) elsewhere(ctx context.Context, cell, base *v1.Cell) error {
	//statuspatcher:allow blind-merge -- too far away // want `the directive allows blind-merge, but there is no such finding here`
	cell.Status.Phase = "x"

	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

func (r *Reconciler) noClass(ctx context.Context, cell, base *v1.Cell) error {
	//statuspatcher:allow blind-merg -- misspelt // want `the directive allows "blind-merg", which is not a class`
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}

//statuspatcher:alow blind-merge -- misspelt // want `unknown directive //statuspatcher:alow`
func (r *Reconciler) verb(ctx context.Context, cell, base *v1.Cell) error {
	return r.Status().Patch(ctx, cell, client.MergeFrom(base)) // want `blind-merge: `
}
