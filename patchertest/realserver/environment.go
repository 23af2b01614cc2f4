package realserver

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startTimeout is longer than envtest's, for machines that run many test packages at once.
const startTimeout = time.Minute

// newEnvironment prepares both processes: launched under the guard, everything they write inside its directory.
func newEnvironment(binaries string, guard *guard, opts []Option) (*envtest.Environment, logs, error) {
	env := &envtest.Environment{}
	if os.Getenv("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT") == "" {
		env.ControlPlaneStartTimeout = startTimeout
	}
	apiServer, etcd := env.ControlPlane.GetAPIServer(), &envtest.Etcd{}
	env.ControlPlane.Etcd = etcd
	apiServer.CertDir, etcd.DataDir = filepath.Join(guard.dir, "certificates"), filepath.Join(guard.dir, "data")
	for _, dir := range []string{apiServer.CertDir, etcd.DataDir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if apiServer.Path, err = guard.launcher(filepath.Join(binaries, "kube-apiserver")); err != nil {
		return nil, nil, err
	}
	if etcd.Path, err = guard.launcher(filepath.Join(binaries, "etcd")); err != nil {
		return nil, nil, err
	}
	logs := logs{"etcd": &tail{}, "kube-apiserver": &tail{}}
	etcd.Err, apiServer.Err = logs["etcd"], logs["kube-apiserver"]
	startFast(env)
	for _, opt := range opts {
		opt(env)
	}
	return env, logs, nil
}

// startFast leaves out what a short-lived server on one machine does not need.
func startFast(env *envtest.Environment) {
	env.ControlPlane.GetAPIServer().Configure().
		Set("enable-priority-and-fairness", "false"). // its objects are written at the start
		Set("endpoint-reconciler-type", "none").      // of the kubernetes Service, which nobody calls
		Set("profiling", "false")
	env.ControlPlane.Etcd.Configure(). // envtest adds unsafe-no-fsync
						Set("heartbeat-interval", "10").
						Set("election-timeout", "100")
}

// logs keeps the last that each server said, for the error of a start that failed.
type logs map[string]*tail

func (l logs) tail() string {
	var text string
	for _, name := range []string{"etcd", "kube-apiserver"} {
		text += fmt.Sprintf("\n--- %s said last:\n%s", name, l[name])
	}
	return text
}

// tailSize holds some ten lines of log.
const tailSize = 2 << 10

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, data...)
	if surplus := len(t.buf) - tailSize; surplus > 0 {
		t.buf = append(t.buf[:0], t.buf[surplus:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
