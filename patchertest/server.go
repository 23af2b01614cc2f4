package patchertest

import (
	"fmt"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

// Server is a simulated API server. It does what a real one does to the objects of one client after another: one
// resourceVersion for all, which a write that changes nothing does not move; UID and generation are assigned; spec and
// status are split; a recreated object is another one; 409, 404 and 422 as the real one answers them; pruning, defaults,
// validation and CEL rules of CRDs; merge, JSON and strategic merge patches, and server-side apply, on raw JSON.
//
// It has no watch, no admission webhooks, no conversion between versions, and no controllers: no garbage is collected,
// and nothing is defaulted in built-in kinds. Namespaces need not exist. It is safe for concurrent use.
type Server struct {
	store *sim.Server
}

// NewServer returns a simulated API server that holds the given objects, status and all. The CRDs are those of the custom kinds,
// see Model. It is an error if scheme does not know a kind, or if a CRD has no valid schema.
func NewServer(scheme *runtime.Scheme, crds []*apiextensionsv1.CustomResourceDefinition, objects ...client.Object) (*Server, error) {
	catalog, err := sim.NewCatalog(scheme, crds)
	if err != nil {
		return nil, fmt.Errorf("simulated API server: %w", err)
	}
	s := &Server{store: sim.New(catalog, time.Now)}
	for _, obj := range objects {
		if err := s.store.Seed(obj); err != nil {
			return nil, fmt.Errorf("simulated API server: %w", err)
		}
	}
	return s, nil
}

// Client is controller-runtime's client on the server, with the scheme that NewServer got. It reads live, and cannot watch.
func (s *Server) Client() (client.Client, error) {
	return sim.NewClient(s.store.Catalog, s.handle, nil)
}

// Config is what other clients need to reach the server: its transport answers without a network.
func (s *Server) Config() *rest.Config { return sim.Config(s.store.Catalog, s.handle) }

func (s *Server) handle(_ *http.Request, r *sim.Request) (*sim.Answer, error) {
	return s.store.Handle(r), nil
}
