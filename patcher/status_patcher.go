package patcher

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// StatusPatcher is what all generated patchers have in common, for helpers that serve several kinds.
type StatusPatcher interface {
	// Changed reports whether Flush would send a request.
	Changed() bool
	// Flush writes what changed in the status since the base.
	Flush(ctx context.Context) (Result, error)
	// FlushOnReturn is Flush for a defer, by whichever return.
	FlushOnReturn(ctx context.Context, result *reconcile.Result, err *error)
	// FlushOnSuccess is Flush for a defer, if the reconcile did not fail.
	FlushOnSuccess(ctx context.Context, result *reconcile.Result, err *error)
	// Refresh reads the object live into the patcher and its object.
	Refresh(ctx context.Context) error
	// Discard drops the edits of status that were not saved.
	Discard()
}

// ConditionPatcher is what the generated patchers of kinds with conditions have in common.
type ConditionPatcher interface {
	StatusPatcher
	// SetCondition sets the condition of that type and reports whether it changed.
	SetCondition(condition metav1.Condition) (changed bool)
	// RemoveCondition removes the condition of that type and reports whether there was one.
	RemoveCondition(conditionType string) (changed bool)
	// Condition returns a copy of the condition of that type, or nil.
	Condition(conditionType string) *metav1.Condition
}
