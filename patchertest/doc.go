// Package patchertest proves a reconciler safe: it runs real reconcilers against a simulated API server and tries every
// order of their calls, every delay of a cache, a crash before or after every call, and timeouts whose write did or did
// not land. All of it inside go test, in seconds, without a cluster.
//
//	func TestPlanIsMintedOnce(t *testing.T) {
//		crds, err := patchertest.ReadCRDs("../config/crd")
//		if err != nil {
//			t.Fatal(err)
//		}
//		patchertest.Explore(t, func() patchertest.Model {
//			return patchertest.Model{
//				Scheme:  scheme,
//				CRDs:    crds,
//				Objects: []client.Object{&v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}},
//				Controllers: []patchertest.Controller{{
//					Name: "cell", For: &v1.Cell{},
//					New: func(c client.Client, live client.Reader) reconcile.Reconciler { return &Reconciler{Client: c} },
//				}},
//				Invariants: []patchertest.Invariant{
//					patchertest.AtMostOneEver("status.plan.id"),
//					patchertest.NoLostStatusWrite(),
//					patchertest.EventuallyObserved(),
//				},
//			}
//		}, patchertest.Replicas(2), patchertest.StaleReads())
//	}
//
// A reconciler that can lose a write fails the test with the shortest schedule that shows it, and a token that replays it:
// go test -run TestPlanIsMintedOnce -patchertest.replay=TOKEN.
//
// # What is tried
//
// A step is an API call, a Call of an outside system, the delivery of one watch event to one cache, the end of a timer, or a step of a foreign writer.
// A reconcile begins with its first call. Steps that do not depend on each other are not tried in both orders: that is
// dynamic partial-order reduction, and is checked by running models without it. What was tried is in the report:
// "exhaustive within bounds" if every order was, within the options given, else "sampled N".
//
// # What is not
//
// Faults of the API server itself, admission webhooks, garbage collection and the controllers of Kubernetes are not part
// of a model; write the last as foreign steps. Memory that reconciles share is seen in the orders that are tried, but
// API calls and Calls are the only points at which one reconcile gives way to another. The clock moves only when a timer ends or a
// reconcile sleeps; two schedules that differ in nothing else are taken as the same.
//
// A test that uses this package must not be parallel if its reconcilers use randomness: the random source of the process
// is seeded for each schedule.
package patchertest
