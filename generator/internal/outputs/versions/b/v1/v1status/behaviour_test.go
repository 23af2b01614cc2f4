package v1status

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/generator/internal/outputs/versions/b/v1"
	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, SiteKind, func(c client.Client) behaviour.Fetch[*v1.Site, *SiteStatusPatcher] {
		return NewSiteStatusClient(c, c).Fetch
	})
}
