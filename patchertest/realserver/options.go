package realserver

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Option configures the server before it starts.
type Option func(*envtest.Environment)

// WithCRDDirs installs the CustomResourceDefinitions in YAML or JSON files: paths are directories or files. A path
// that does not exist is an error of the start.
func WithCRDDirs(paths ...string) Option {
	return func(env *envtest.Environment) {
		env.CRDDirectoryPaths = append(env.CRDDirectoryPaths, paths...)
		env.ErrorIfCRDPathMissing = true
	}
}

// WithCRDs installs CustomResourceDefinitions.
func WithCRDs(crds ...*apiextensionsv1.CustomResourceDefinition) Option {
	return func(env *envtest.Environment) { env.CRDs = append(env.CRDs, crds...) }
}

// WithFlag sets a flag of kube-apiserver, written without dashes, to values: a feature gate, say. It replaces the
// value that the server would have had.
func WithFlag(name string, values ...string) Option {
	return func(env *envtest.Environment) {
		env.ControlPlane.GetAPIServer().Configure().Set(name, values...)
	}
}
