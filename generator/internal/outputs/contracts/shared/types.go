// Package shared has what the statuses of several packages are made of.
//
// +kubebuilder:object:generate=true
package shared

// Key is the type of an identity.
type Key string

// Made is embedded.
type Made struct {
	// +statuspatcher:writeOnce
	MadeBy Key `json:"madeBy,omitempty"`
}

// Volume is one identity.
type Volume struct {
	Zone string `json:"zone"`
	Name string `json:"name"`
}
