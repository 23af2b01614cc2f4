package patchertest_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

var (
	scheme = cell.NewScheme()
	crds   = cell.CRDs()
	keyA   = client.ObjectKey{Namespace: "default", Name: "a"}
)

func newCell(name string) *cell.Cell {
	return &cell.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: cell.Spec{Size: 1}}
}
