package realserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// namespaceTimeout bounds one small request to a server that is up.
const namespaceTimeout = 30 * time.Second

// Server is a kube-apiserver with its etcd, up and with the CRDs established. It is safe for concurrent use.
type Server struct {
	config     *rest.Config
	namespaces client.Client // for Namespace
	stop       func() error
}

// Start starts a server for one test, and stops it at the test's end. A server that does not come up fails the test.
// Where a package has more than one such test, Run starts one for all.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	server, err := New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Run starts a server, hands it to use, runs the tests of m, which is TestMain's *testing.M, and stops the server. It
// returns the exit code for os.Exit: that of the tests, or 1 when the server did not come up, which it reports on stderr.
func Run(m interface{ Run() int }, use func(*Server), opts ...Option) (code int) {
	server, err := New(opts...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}()
	use(server)
	return m.Run()
}

// New starts a server. The caller calls Stop; a process that ends without it, by a panic or os.Exit, takes the server
// along. The error says what to do where no kube-apiserver is found, and shows the end of the servers' logs where they fail.
func New(opts ...Option) (*Server, error) {
	workDir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	binaries, err := findBinaries(workDir)
	if err != nil {
		return nil, err
	}
	guard, err := newGuard()
	if err != nil {
		return nil, err
	}
	env, logs, err := newEnvironment(binaries, guard, opts)
	if err != nil {
		return nil, errors.Join(err, guard.end())
	}
	config, err := env.Start()
	if err == nil {
		err = warm(config, env.CRDs)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the API server of %s: %w%s", binaries, err, logs.tail()), guard.end())
	}
	config.QPS = -1 // a limit in the client only hides races
	namespaces, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, errors.Join(err, guard.end())
	}
	stop := sync.OnceValue(func() error { return stop(env, guard) })
	return &Server{config: config, namespaces: namespaces, stop: stop}, nil
}

// Stop ends both processes at once and removes what they stored. A second call does nothing more.
func (s *Server) Stop() error { return s.stop() }

func stop(env *envtest.Environment, guard *guard) error {
	killed := guard.end()
	if err := env.Stop(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(killed, fmt.Errorf("stopping the API server: %w", err))
	}
	return killed
}

// Config returns a copy of the administrator's configuration, without a limit of requests a second. A Recorder's, Gate's
// or Fault's Wrap sees every request made with it; of several, the first sees a request first.
func (s *Server) Config(wrap ...transport.WrapperFunc) *rest.Config {
	config := rest.CopyConfig(s.config)
	for _, w := range slices.Backward(wrap) { // client-go calls the last one first
		config.Wrap(w)
	}
	return config
}

// Client returns a client that reads and writes the server itself, without a cache. For wrap see Config.
func (s *Server) Client(t testing.TB, scheme *runtime.Scheme, wrap ...transport.WrapperFunc) client.WithWatch {
	t.Helper()
	config := s.Config(wrap...)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) })
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, HTTPClient: httpClient})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Namespace creates a namespace of its own for a test and returns its name. It is not deleted: no controller runs that
// would empty it, and the server does not live long.
func (s *Server) Namespace(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), namespaceTimeout)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: namespacePrefix(t.Name())}}
	if err := s.namespaces.Create(ctx, ns); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return ns.Name
}

// namespacePrefix makes a test's name a prefix of a DNS label.
func namespacePrefix(test string) string {
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(test))
	if len(label) > 50 { // the server cuts at 58
		label = label[:50]
	}
	return strings.Trim(label, "-") + "-"
}
