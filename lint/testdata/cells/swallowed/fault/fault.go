// Package fault makes errors.
package fault

type fault string

func (f fault) Error() string { return string(f) }

// New makes one.
func New(text string) error { return fault(text) }
