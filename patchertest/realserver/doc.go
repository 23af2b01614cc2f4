// Package realserver runs tests on a real API server: one call starts kube-apiserver and etcd, and the rest makes
// happen on it, in a fixed order, what in a cluster happens once a month.
//
//   - [Run] and [Start] start a server for the tests of a package, or for one test.
//   - [Recorder] tells which requests a reconcile made, down to the body of each patch.
//   - [Gate] holds a reconcile before its status write and lets it go.
//   - [Drain] waits until every reconcile that started after a resourceVersion has ended.
//   - [Forge] and [MutateSpec] write as another controller, or a user, would.
//   - [Fault] answers 409, 429 or 500, resets the connection or times out, before or after the write is committed.
//
// # The server
//
// The binaries are those of KUBEBUILDER_ASSETS, else those that `make envtest` built in bin/envtest/<version> of the
// module that the test is in, or of one around it. A package starts its server in TestMain:
//
//	var server *realserver.Server
//
//	func TestMain(m *testing.M) {
//		os.Exit(realserver.Run(m, func(s *realserver.Server) { server = s }, realserver.WithCRDDirs("../config/crd")))
//	}
//
// The server ends with the test process, however that ends. It runs on Linux and macOS.
//
// No controllers run beside it: nothing removes the objects of a deleted namespace, creates the pods of a Deployment,
// or collects an object whose owner is gone. Give each test a [Server.Namespace], and limit its manager's cache to it.
//
// # Requests
//
// Recorder, Gate and Fault work on HTTP requests, below any client: their Wrap goes to [Server.Config] or
// [Server.Client], or to the Wrap of any rest.Config. A [Match] says which requests are meant.
//
// Gate and Drain wait for events and never poll. Every wait takes a context, which must have a deadline, and its error
// says what was expected and what there was instead.
package realserver
