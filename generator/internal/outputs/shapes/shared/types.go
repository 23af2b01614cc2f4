// Package shared has a status that kinds of another package use.
//
// +kubebuilder:object:generate=true
package shared

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is the status of a kind elsewhere.
type Status struct {
	Common `json:",inline"`
	Parts  []Part `json:"parts,omitempty"`
}

// Common is promoted into Status.
type Common struct {
	Conditions         Conditions `json:"conditions,omitempty"`
	ObservedGeneration int64      `json:"observedGeneration,omitempty"`
}

// Conditions is a slice type of its own.
type Conditions []metav1.Condition

// Part has a field that nobody can compare from outside.
type Part struct {
	Name string `json:"name"`
	//nolint:unused // it is there to be unexported
	cached []string
}
