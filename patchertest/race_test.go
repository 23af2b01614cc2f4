//go:build race

package patchertest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

const racyChild = "PATCHERTEST_RACY"

// TestRacyModel is the child of TestDataRaceIsNamed: two controllers of one process share a map without a lock.
func TestRacyModel(t *testing.T) {
	if os.Getenv(racyChild) == "" {
		return
	}
	patchertest.Explore(t, func() patchertest.Model {
		seen := map[string]int{}
		count := func(_ context.Context, _ api, obj *cell.Cell) (reconcile.Result, error) {
			seen[obj.Name]++
			return reconcile.Result{}, nil
		}
		return with(model(count), func(m *patchertest.Model) {
			m.Controllers = append(m.Controllers, controllerOf("other", count))
		})()
	})
}

func TestDataRaceIsNamed(t *testing.T) {
	for _, racy := range []string{"yes", ""} {
		start := time.Now()
		cmd := exec.Command(os.Args[0], "-test.run=^TestRacyModel$")
		cmd.Env = append(os.Environ(), racyChild+"="+racy)
		out, err := cmd.CombinedOutput()
		found := err != nil && strings.Contains(string(out), "DATA RACE") && strings.Contains(string(out), "race_test.go")
		if found != (racy != "") {
			t.Errorf("racy %q: expected the race to be found only where there is one, found %v:\n%s", racy, err, out)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("expected the report within 10 s, found %s", took)
		}
	}
}
