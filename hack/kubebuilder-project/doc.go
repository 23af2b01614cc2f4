// Package kubebuilderproject makes a project as kubebuilder scaffolds it, in a temporary directory, for the tests that do there what
// the documents say. The modules of this
// repository are served to it by a module proxy, as if they were published.
//
// The layout and the Makefile are those of kubebuilder v4's testdata/project-v4, without what needs a cluster or a container.
package kubebuilderproject
