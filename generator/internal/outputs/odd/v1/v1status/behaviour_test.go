package v1status

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/generator/internal/outputs/odd/v1"
	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, OddKind, func(c client.Client) behaviour.Fetch[*v1.Odd, *OddStatusPatcher] {
		return NewOddStatusClient(c, c).Fetch
	})
	behaviour.Check(t, OpaqueKind, func(c client.Client) behaviour.Fetch[*v1.Opaque, *OpaqueStatusPatcher] {
		return NewOpaqueStatusClient(c, c).Fetch
	})
}
