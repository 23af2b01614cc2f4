package realserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/version"
)

// assetsVariable names the directory of the binaries, here as in controller-runtime's envtest.
const assetsVariable = "KUBEBUILDER_ASSETS"

// findBinaries returns the directory that holds kube-apiserver and etcd: that of KUBEBUILDER_ASSETS, else the newest
// bin/envtest/<version> of the module that workDir is in, or of a module around it.
func findBinaries(workDir string) (string, error) {
	if assets := os.Getenv(assetsVariable); assets != "" {
		if missing := missingBinary(assets); missing != "" {
			return "", fmt.Errorf("expected kube-apiserver and etcd in %s=%s, found no %s; unset it, or point it to both",
				assetsVariable, assets, missing)
		}
		return assets, nil
	}
	for dir := workDir; ; dir = filepath.Dir(dir) {
		if newest := newestBuild(dir); newest != "" {
			return newest, nil
		}
		if dir == filepath.Dir(dir) {
			return "", noBinariesError(workDir)
		}
	}
}

// newestBuild returns the build of hack/envtest with the highest version under a module's root, or nothing.
func newestBuild(moduleRoot string) string {
	if _, err := os.Stat(filepath.Join(moduleRoot, "go.mod")); err != nil {
		return ""
	}
	builds, _ := filepath.Glob(filepath.Join(moduleRoot, "bin", "envtest", "*")) // fails on a bad pattern only
	var newest string
	var highest *version.Version
	for _, build := range builds {
		v, err := version.ParseGeneric(filepath.Base(build))
		if err != nil || missingBinary(build) != "" {
			continue
		}
		if highest == nil || highest.LessThan(v) {
			newest, highest = build, v
		}
	}
	return newest
}

// missingBinary names the binary that dir does not hold, if any.
func missingBinary(dir string) string {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return name
		}
	}
	return ""
}

func noBinariesError(workDir string) error {
	return errors.Join(
		fmt.Errorf("expected kube-apiserver and etcd in bin/envtest/<version> of the module around %s, found none, and %s is not set",
			workDir, assetsVariable),
		errors.New("build them once with `make envtest`, or set "+assetsVariable+" to a directory that holds both"))
}
