package patchertest

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
)

// NoBlindWrites fails the test, when it ends, if a status write without an optimistic lock was sent through c, which
// patcher.Wrap returned: it names each place in the code, with the kind and the class of the write. A suite that runs an
// operator through such a client, on the fake client or on a real API server, audits every write that it reaches.
//
// What AllowBlind allows, and what mode Lock has locked, is no blind write that was sent.
func NoBlindWrites(t testing.TB, c client.Client) {
	t.Helper()
	wrapped, ok := c.(interface{ Report() patcher.WriteReport })
	if !ok {
		t.Fatalf("NoBlindWrites: a %T does not check status writes: pass the client that patcher.Wrap returned", c)
		return
	}
	t.Cleanup(func() {
		t.Helper()
		for _, site := range wrapped.Report().Blind {
			if site.Action == patcher.ActionSent {
				t.Errorf("%s: %s of %s without a check of what was written since it was read, %d times, first %s",
					site.Site, site.Class, site.Kind, site.Count, site.Key)
			}
		}
	})
}
