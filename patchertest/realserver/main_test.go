package realserver_test

import (
	"os"
	"testing"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// server is one for all tests of the package, set by TestMain.
var server *realserver.Server

func TestMain(m *testing.M) {
	os.Exit(realserver.Run(m, func(s *realserver.Server) { server = s }, realserver.WithCRDDirs("testdata/crds"), realserver.WithCRDs(gadgetCRD())))
}
