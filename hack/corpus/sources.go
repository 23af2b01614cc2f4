package main

// A source is a module with API packages.
type source struct {
	name, module, version string
	// dirs are the directories of the API packages, with those below.
	dirs []string
	// named tells to require the module instead of copying it, and to generate with types=, into a directory per API package:
	// what one does for kinds that one cannot mark.
	named bool
	// without are directories below dirs that are no API.
	without []string
	// only are the kinds to try; all without.
	only []string
	// stale are faults of the source's own: types whose DeepCopyInto omits fields. Verify finds these, and no others.
	stale []string
}

var sources = []source{
	{name: "cluster-api", module: "sigs.k8s.io/cluster-api/api", version: "v1.14.2", dirs: []string{"."}},
	{name: "cert-manager", module: "github.com/cert-manager/cert-manager", version: "v1.21.2", dirs: []string{"pkg/apis"}},
	{name: "keda", module: "github.com/kedacore/keda/v2", version: "v2.21.0", dirs: []string{"apis"}},
	{name: "argo-rollouts", module: "github.com/argoproj/argo-rollouts", version: "v1.8.3", dirs: []string{"pkg/apis/rollouts/v1alpha1"}},
	{name: "prometheus-operator", module: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring", version: "v0.86.2", dirs: []string{"."}},
	{name: "source-controller", module: "github.com/fluxcd/source-controller/api", version: "v1.9.5", dirs: []string{"."}},
	{name: "gateway-api", module: "sigs.k8s.io/gateway-api", version: "v1.6.0", dirs: []string{"apis", "apisx"}},
	{name: "kustomize-controller", module: "github.com/fluxcd/kustomize-controller/api", version: "v1.9.5", dirs: []string{"."}},
	{name: "helm-controller", module: "github.com/fluxcd/helm-controller/api", version: "v1.6.4", dirs: []string{"."}},
	{name: "istio", module: "istio.io/client-go", version: "v1.27.3", dirs: []string{"pkg/apis"}},
	{name: "openshift", module: "github.com/openshift/api", version: "v0.0.0-20250602203052-b29811a290c7", dirs: []string{"."}},
	{name: "velero", module: "github.com/vmware-tanzu/velero", version: "v1.18.3", dirs: []string{"pkg/apis"}},
	{name: "external-secrets", module: "github.com/external-secrets/external-secrets", version: "v0.19.2", dirs: []string{"apis"}},
	{name: "karpenter", module: "sigs.k8s.io/karpenter", version: "v1.8.0", dirs: []string{"pkg/apis"}},
	{name: "crossplane", module: "github.com/crossplane/crossplane/v2", version: "v2.0.2", dirs: []string{"apis"}},
	{name: "cloudnative-pg", module: "github.com/cloudnative-pg/cloudnative-pg", version: "v1.27.0", dirs: []string{"api"}},
	{name: "tekton", module: "github.com/tektoncd/pipeline", version: "v1.4.0", dirs: []string{"pkg/apis/pipeline/v1", "pkg/apis/pipeline/v1beta1", "pkg/apis/resolution"}, stale: []string{"CustomRunStatusFields"}},
	{name: "kuberay", module: "github.com/ray-project/kuberay/ray-operator", version: "v1.4.2", dirs: []string{"apis"}},
	// The checksum database does not have the version of openreports that its reports need.
	{name: "kyverno", module: "github.com/kyverno/kyverno", version: "v1.15.2", dirs: []string{"api"}, without: []string{"api/policyreport", "api/reports"}},
	{name: "chaos-mesh", module: "github.com/chaos-mesh/chaos-mesh/api", version: "v0.0.0-20260906172039-d70b66ad97ac", dirs: []string{"."}},
	{name: "mariadb-operator", module: "github.com/mariadb-operator/mariadb-operator", version: "v0.38.1", dirs: []string{"api"}},
	{name: "grafana-operator", module: "github.com/grafana/grafana-operator/v5", version: "v5.18.0", dirs: []string{"api"}},
	{name: "volcano", module: "volcano.sh/apis", version: "v1.12.1", dirs: []string{"pkg/apis"}},
	{name: "kueue", module: "sigs.k8s.io/kueue", version: "v0.14.0", dirs: []string{"apis"}},
	{name: "training-operator", module: "github.com/kubeflow/training-operator", version: "v1.9.3", dirs: []string{"pkg/apis"}},
	{name: "cluster-api-operator", module: "sigs.k8s.io/cluster-api-operator", version: "v0.29.0", dirs: []string{"api"}},
	{name: "elastic", module: "github.com/elastic/cloud-on-k8s/v3", version: "v3.5.0", dirs: []string{"pkg/apis"}},
	{name: "kubernetes", module: "k8s.io/api", version: "v0.34.3", dirs: []string{"."}, named: true},
	{name: "gateway-api-by-name", module: "sigs.k8s.io/gateway-api", version: "v1.6.0", dirs: []string{"apis"}, named: true, only: []string{"HTTPRoute"}},
	{name: "cluster-api-by-name", module: "sigs.k8s.io/cluster-api/api", version: "v1.14.2", dirs: []string{"core"}, named: true, only: []string{"Machine"}},
}
