package sim_test

import (
	"os"
	"testing"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// real is what the simulated server is held against.
var real *realserver.Server

func TestMain(m *testing.M) {
	os.Exit(realserver.Run(m, func(s *realserver.Server) { real = s }, realserver.WithCRDs(cell.CRDs()...)))
}
