package patcher_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// server is the API server that all tests of this package share; each works in a namespace of its own.
var server *realserver.Server

func TestMain(m *testing.M) {
	crds, err := variants()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(realserver.Run(m, func(s *realserver.Server) { server = s },
		realserver.WithCRDDirs("crd"), realserver.WithCRDs(crds...)))
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, contracts.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// wire is a client of the real server whose requests are recorded.
type wire struct {
	client.WithWatch
	recorder realserver.Recorder
}

func newWire(t testing.TB) *wire {
	t.Helper()
	w := &wire{}
	w.WithWatch = server.Client(t, newScheme(t), w.recorder.Wrap)
	return w
}

// during returns the requests that f makes.
func (w *wire) during(f func()) []realserver.Request {
	from := len(w.recorder.Requests())
	f()
	return w.recorder.Requests()[from:]
}

// patchOf is the one status patch among requests, decoded.
func patchOf(t testing.TB, requests []realserver.Request) map[string]any {
	t.Helper()
	patch, err := realserver.OneStatusPatch(requests)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(patch.Body, &body); err != nil {
		t.Fatalf("the patch is no JSON object: %v\n%s", err, patch.Body)
	}
	return body
}
