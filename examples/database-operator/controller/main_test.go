package controller

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

var server *realserver.Server

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // managers complain otherwise
	os.Exit(realserver.Run(m, func(s *realserver.Server) { server = s }, realserver.WithCRDDirs("../config/crd")))
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// newDatabase creates a Database in a namespace of its own.
func newDatabase(t testing.TB) *v1.Database {
	t.Helper()
	database := &v1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: server.Namespace(t), Name: "orders"},
		Spec:       v1.DatabaseSpec{Image: "postgres:18", Settings: map[string]string{"LANG": "C"}},
	}
	if err := server.Client(t, newScheme(t)).Create(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	return database
}
