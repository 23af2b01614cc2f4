package v1

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, CellKind, func(c client.Client) behaviour.Fetch[*Cell, *CellStatusPatcher] {
		return NewCellStatusClient(c, c).Fetch
	})
}
