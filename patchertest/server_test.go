package patchertest_test

import (
	"flag"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
)

func TestServer(t *testing.T) {
	server, err := patchertest.NewServer(scheme, crds, newCell("a"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := server.Client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, obj := t.Context(), &cell.Cell{}
	if err := c.Get(ctx, keyA, obj); err != nil || obj.UID == "" || obj.Generation != 1 || obj.Spec.Mode != "auto" {
		t.Fatalf("expected the object with UID, generation 1 and its default, found %v, %+v", err, obj)
	}
	stale := obj.DeepCopy()
	obj.Status.Phase = "New"
	if err := c.Status().Update(ctx, obj); err != nil || obj.Generation != 1 || obj.ResourceVersion == stale.ResourceVersion {
		t.Fatalf("expected a status write to move the version and not the generation, found %v, %+v", err, obj.ObjectMeta)
	}
	version := obj.ResourceVersion
	if err := c.Status().Update(ctx, obj); err != nil || obj.ResourceVersion != version {
		t.Errorf("expected a write that changes nothing not to move %s, found %v, %s", version, err, obj.ResourceVersion)
	}
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("expected a conflict, found %v", err)
	}
	err = c.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":1000}}`)))
	if !apierrors.IsInvalid(err) {
		t.Errorf("expected a size out of range to be invalid, found %v", err)
	}
}

func TestReadCRDs(t *testing.T) {
	read, err := patchertest.ReadCRDs("internal/cell")
	if err != nil || len(read) != 1 || read[0].Name != crds[0].Name {
		t.Errorf("expected the CRD of cells, found %v, %v", read, err)
	}
	for _, path := range []string{"testdata", "none"} {
		if _, err := patchertest.ReadCRDs(path); err == nil {
			t.Errorf("%s: expected an error, found none", path)
		}
	}
}

// TestReplayFlag: the flag runs one schedule, whatever the options would explore.
func TestReplayFlag(t *testing.T) {
	found := patchertest.Check(t, mint(blind), replicas2)
	if err := flag.Set("patchertest.replay", found.Violation.Token); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("patchertest.replay", "") }()
	r := patchertest.Check(t, mint(blind), replicas2)
	if r.Violation == nil || r.Schedules != 1 || r.Violation.Detail != found.Violation.Detail || !strings.Contains(r.String(), "replayed") {
		t.Errorf("expected the counterexample of %s, found %s", found, r)
	}
	if r := patchertest.Check(t, mint(lockedPatch), replicas2); r.Violation != nil {
		t.Errorf("expected the schedule to do no harm to a locked write, found %s", r)
	}
}
