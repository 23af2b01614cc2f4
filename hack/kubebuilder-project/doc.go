// Package kubebuilderproject makes a project with the real kubebuilder, in a temporary directory, for the tests that do there what
// the documents say. The modules of this repository are served to it by a module proxy, as if they were published.
package kubebuilderproject
