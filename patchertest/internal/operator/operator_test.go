package operator_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	"github.com/statuspatcher/statuspatcher/patchertest"
)

var orders = client.ObjectKey{Namespace: "default", Name: "orders"}

// operator is the example's reconciler of Databases as it is.
func operator(t *testing.T) func() patchertest.Model {
	crds, err := patchertest.ReadCRDs("../../../examples/database-operator/config/crd")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return func() patchertest.Model {
		return patchertest.Model{
			Scheme: scheme, CRDs: crds,
			Objects: []client.Object{&v1.Database{
				ObjectMeta: metav1.ObjectMeta{Namespace: orders.Namespace, Name: orders.Name},
				Spec:       v1.DatabaseSpec{Image: "postgres:18"},
			}},
			Controllers: []patchertest.Controller{{
				Name: "database", For: &v1.Database{}, Owns: []client.Object{&appsv1.StatefulSet{}},
				New: func(c client.Client, live client.Reader) reconcile.Reconciler {
					return controller.NewDatabaseReconciler(c, live)
				},
			}},
			Invariants: []patchertest.Invariant{
				patchertest.AtMostOneEver("status.plan.id"), patchertest.NoLostStatusWrite(),
				patchertest.EventuallyObserved(), patchertest.EventuallyQuiescent(),
			},
		}
	}
}

func TestOperator(t *testing.T) {
	for name, opts := range map[string][]patchertest.Option{
		"1 alone": {}, "2 replicas": {patchertest.Replicas(2)}, "3 stale": {patchertest.StaleReads()},
		"4 crash": {patchertest.Crashes(1)}, "5 timeout": {patchertest.Timeouts(1)},
		"6 stale, crash, timeout": {patchertest.StaleReads(), patchertest.Crashes(1), patchertest.Timeouts(1)},
		"7 two stale":             {patchertest.Replicas(2), patchertest.StaleReads()},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			r := patchertest.Check(t, operator(t), append(opts, patchertest.Budget(30*time.Second), patchertest.Samples(100))...)
			t.Log("\n"+r.String(), time.Since(start))
		})
	}
}
