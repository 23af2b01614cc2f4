// The envtest command builds the kube-apiserver and etcd that the tests run on, from the Go module proxy alone:
//
//	go run . DIR
//
// DIR then holds kube-apiserver and etcd, in the versions that go.mod pins; its name must be the version of
// k8s.io/kubernetes. What is already there is not built again. Invocations that overlap wait for each other.
// Where KUBEBUILDER_ASSETS is set, tests use what is there, and nothing is built.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . DIR, where DIR is named after the version of k8s.io/kubernetes")
		os.Exit(2)
	}
	if err := run(os.Args[1], newProgress(os.Stderr)); err != nil {
		fmt.Fprintln(os.Stderr, "envtest:", err)
		os.Exit(1)
	}
}

func run(dir string, progress *progress) error {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		progress.step("KUBEBUILDER_ASSETS is %s: nothing to build", assets)
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	target, err := newTarget(dir)
	if err != nil {
		return err
	}
	return target.build(progress)
}
