package realserver_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// gadgetCRD is installed as an object, widgets from a directory.
func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.realserver.test"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "realserver.test",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &anything,
				}},
			}},
		},
	}
}

func TestCRDsOfDirectoriesAndObjectsAreServed(t *testing.T) {
	recorder := &realserver.Recorder{}
	c, ns := server.Client(t, scheme.Scheme, recorder.Wrap), server.Namespace(t)
	for _, kind := range []string{"Widget", "Gadget"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("realserver.test/v1")
		list.SetKind(kind + "List")
		if err := c.List(t.Context(), list); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		obj := &unstructured.Unstructured{}
		obj.SetAPIVersion("realserver.test/v1")
		obj.SetKind(kind)
		obj.SetNamespace(ns)
		obj.SetName("a")
		if err := c.Create(t.Context(), obj); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// One request each: no 429 of a storage that is not ready.
	want := map[string]int{"list widgets": 1, "create widgets": 1, "list gadgets": 1, "create gadgets": 1}
	if diff := cmp.Diff(want, realserver.Count(recorder.Requests())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamespacesAreUniqueAndNamedAfterTheTest(t *testing.T) {
	a, b := server.Namespace(t), server.Namespace(t)
	if a == b || !strings.HasPrefix(a, "testnamespacesareuniqueandnamedafterthetest-") {
		t.Errorf("got %s and %s", a, b)
	}
	t.Run("long, with/characters that No name may have: "+strings.Repeat("x", 100), func(t *testing.T) { server.Namespace(t) })
}

func TestConfigIsACopyWithoutLimit(t *testing.T) {
	config := server.Config()
	if config.QPS >= 0 {
		t.Errorf("QPS is %v, want it negative: a limit of requests a second hides races", config.QPS)
	}
	config.Host = "changed"
	if server.Config().Host == "changed" {
		t.Error("a caller's change reached the server's own configuration")
	}
}

// A second server runs beside the package's own, and is stopped while a watch is open, for which kube-apiserver would wait.
func TestStartStopsTheServerWithItsTestAndDoesNotWaitForWatches(t *testing.T) {
	var second *realserver.Server
	var pods watch.Interface
	var ended time.Time
	t.Run("the test", func(t *testing.T) {
		second = realserver.Start(t)
		var err error
		pods, err = second.Client(t, scheme.Scheme).Watch(context.Background(), &corev1.PodList{})
		if err != nil {
			t.Error(err)
		}
		ended = time.Now()
	})
	if took := time.Since(ended); took > 5*time.Second {
		t.Errorf("Stop took %s", took)
	}
	for range pods.ResultChan() { // ends with the server
	}
	waitUntilRefused(t, second.Config())
	if err := second.Stop(); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
}

func TestAStartThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	for _, row := range []struct {
		name, want string
		opt        realserver.Option
	}{
		{"a flag that kube-apiserver does not know", "unknown flag: --no-such-flag", realserver.WithFlag("no-such-flag", "true")},
		{"a directory that is not there", "no/such/directory", realserver.WithCRDDirs("no/such/directory")},
	} {
		t.Run(row.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			_, err := realserver.New(row.opt)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if left, err := filepath.Glob(filepath.Join(temp, "realserver-*")); len(left) != 0 || err != nil {
				t.Errorf("left %s, %v", left, err)
			}
		})
	}
}

// runnerFunc stands in for *testing.M.
type runnerFunc func() int

func (f runnerFunc) Run() int { return f() }

func TestRunReportsAServerThatDoesNotStart(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	code := realserver.Run(runnerFunc(func() int { t.Error("the tests ran without a server"); return 0 }), func(*realserver.Server) {})
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// TestServerDiesWithAProcessThatPanics runs itself in another process, which starts a server and dies beside its defers.
func TestServerDiesWithAProcessThatPanics(t *testing.T) {
	if os.Getenv("REALSERVER_CRASH") != "" {
		os.Stdout.WriteString("HOST " + server.Config().Host + "\n")
		os.Exit(3) // no deferred Stop and no Cleanup runs
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithAProcessThatPanics$")
	cmd.Env = append(os.Environ(), "REALSERVER_CRASH=1")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the process ended with %v, want exit code 3: %s", err, out)
	}
	_, host, _ := strings.Cut(strings.TrimSpace(string(out)), "HOST ")
	config := server.Config()
	config.Host = host
	waitUntilRefused(t, config)
}
