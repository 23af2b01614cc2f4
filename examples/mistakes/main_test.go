package mistakes

import (
	"os"
	"testing"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

var server *realserver.Server

func TestMain(m *testing.M) {
	os.Exit(realserver.Run(m, func(s *realserver.Server) { server = s }, realserver.WithCRDDirs("../database-operator/config/crd")))
}
