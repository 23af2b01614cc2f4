// Package kubebuilder has no code: go.mod pins the kubebuilder that is built for the tests.
package kubebuilder
