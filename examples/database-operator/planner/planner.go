// Package planner decides which steps bring a Database to what its spec asks for. It changes obj.Status in memory and
// writes nothing: the reconciler flushes.
package planner

import (
	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
)

const (
	StepApplyStatefulSet = "ApplyStatefulSet"
	StepReport           = "Report"
)

// Needed reports whether the Database has no plan for its present spec.
func Needed(database *v1.Database) bool {
	plan := database.Status.Plan
	return plan == nil || plan.Generation != database.Generation
}

// Outdated reports whether the Database has a plan, made for another spec. A plan whose ID is only claimed is made for none yet.
func Outdated(database *v1.Database) bool {
	plan := database.Status.Plan
	return plan != nil && plan.Generation != 0 && plan.Generation != database.Generation
}

// Mint gives the Database a new plan with that ID.
func Mint(database *v1.Database, id string) {
	database.Status.Phase = v1.PhasePlanned
	database.Status.Plan = &v1.Plan{
		ID:         id,
		Generation: database.Generation,
		Steps:      []v1.Step{{Name: StepApplyStatefulSet}, {Name: StepReport}},
	}
}

// Reopen lets the plan be executed again from its first step: what it made is gone.
func Reopen(database *v1.Database) {
	for i := range database.Status.Plan.Steps {
		database.Status.Plan.Steps[i].Done = false
	}
}
