// Package kubebuilderproject holds a project as kubebuilder scaffolds it, in project.txtar, and a test that adopts statuspatcher in
// it by doing what docs/getting-started.md says: its files are written and its commands are run as they stand.
//
// The layout and the Makefile are those of kubebuilder v4's testdata/project-v4, without what needs a cluster or a container.
package kubebuilderproject
