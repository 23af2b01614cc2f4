package docs

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// imports are what a fragment may use without saying so, by the name that it uses.
var imports = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "os": "os", "testing": "testing", "time": "time",
	"apierrors":      "k8s.io/apimachinery/pkg/api/errors",
	"appsv1":         "k8s.io/api/apps/v1",
	"client":         "sigs.k8s.io/controller-runtime/pkg/client",
	"controllerutil": "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil",
	"crcontroller":   "sigs.k8s.io/controller-runtime/pkg/controller",
	"ctrl":           "sigs.k8s.io/controller-runtime",
	"log":            "sigs.k8s.io/controller-runtime/pkg/log",
	"meta":           "k8s.io/apimachinery/pkg/api/meta",
	"metav1":         "k8s.io/apimachinery/pkg/apis/meta/v1",
	"reconcile":      "sigs.k8s.io/controller-runtime/pkg/reconcile",
	"retry":          "k8s.io/client-go/util/retry",
	"runtime":        "k8s.io/apimachinery/pkg/runtime",
	"types":          "k8s.io/apimachinery/pkg/types",
	"controller":     module + "/examples/database-operator/controller",
	"executor":       module + "/examples/database-operator/executor",
	"ctrlmetrics":    "sigs.k8s.io/controller-runtime/pkg/metrics",
	"metrics":        module + "/patcher/metrics",
	"patcher":        module + "/patcher",
	"patchertest":    module + "/patchertest",
	"planner":        module + "/examples/database-operator/planner",
	"realserver":     module + "/patchertest/realserver",
	"v1":             module + "/examples/database-operator/api/v1",
	"v1status":       module + "/examples/database-operator/api/v1/v1status",
}

const module = "github.com/statuspatcher/statuspatcher"

// prelude declares what fragments are about, as a reader of the example knows it.
const prelude = `
type Reconciler struct {
	client.Client
	statuses, databases *v1status.DatabaseStatusClient
	newID               func() string
}

type fakeCloud struct{}

func (*fakeCloud) create(name string) (string, error) { return name, nil }

var (
	r           *Reconciler
	ctx         context.Context
	req         ctrl.Request
	mgr         ctrl.Manager
	c           client.Client
	live        client.Reader
	t           *testing.T
	key         client.ObjectKey
	database    *v1.Database
	base        *v1.Database
	backup      *v1.Backup
	status      *v1status.DatabaseStatusPatcher
	statuses    *v1status.DatabaseStatusClient
	lockedMerge client.Patch
	failed      []error
	errTaken    error
	server      *realserver.Server
	cloud       http.Handler
	machines    interface{ Create(ctx context.Context, key string) error }
	snapshots   executor.Snapshots
	backups     *v1status.BackupStatusPatcher
)
`

// shapes are what a fragment can be, the strictest first.
var shapes = []string{
	"%s",                    // declarations
	"func _() { { %s\n } }", // statements
	"func _() (result ctrl.Result, err error) { { %s\n }; return }",
	"func _() (err error) { { %s\n }; return }",
	"func _() { var err error; { %s\n }; _ = err }",
	"%s }",                           // the beginning of a type
	"%s return ctrl.Result{}, nil }", // the beginning of a Reconcile
	"var _ = struct { statuses *v1status.DatabaseStatusClient }{ %s\n }", // the field of a literal
}

// compiler type-checks the Go blocks of documents.
type compiler struct {
	fset   *token.FileSet
	loaded map[string]*types.Package
}

func newCompiler(t *testing.T) *compiler {
	c, err := known()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// known has loaded every package that a document may import.
var known = sync.OnceValues(func() (*compiler, error) {
	c := &compiler{fset: token.NewFileSet(), loaded: map[string]*types.Package{}}
	config := &packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps, Fset: c.fset}
	loaded, err := packages.Load(config, slices.Collect(maps.Values(imports))...)
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, loadErr := range p.Errors {
			err = errors.Join(err, loadErr)
		}
		c.loaded[p.PkgPath] = p.Types
	})
	return c, err
})

// Import is types.Importer's.
func (c *compiler) Import(path string) (*types.Package, error) {
	if p := c.loaded[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("the tests of the documents do not know %q", path)
}

// compile returns what is wrong with a block, in the shape that comes nearest.
func (c *compiler) compile(text string) error {
	if strings.Contains("\n"+text, "\npackage ") {
		return c.check(text)
	}
	var all []error
	for _, shape := range shapes {
		err := c.check(c.file(fmt.Sprintf(shape, text)))
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// file puts what is used, and not declared by the fragment itself, around it.
func (c *compiler) file(fragment string) string {
	var file strings.Builder
	file.WriteString("package p\n")
	for name, path := range imports {
		fmt.Fprintf(&file, "import %s %q\n", name, path)
	}
	file.WriteString(prelude + fragment)
	return file.String()
}

// check type-checks a file.
func (c *compiler) check(source string) error {
	file, err := parser.ParseFile(c.fset, "block.go", source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var errs []error
	config := types.Config{Importer: c, Error: func(err error) {
		var typeErr types.Error
		if errors.As(err, &typeErr) && !unused(typeErr.Msg) {
			errs = append(errs, errors.New(typeErr.Msg))
		}
	}}
	_, _ = config.Check("p", c.fset, []*ast.File{file}, nil) // its first error is among errs, unless it is none here
	return errors.Join(errs...)
}

// unused reports what is no mistake in a fragment.
func unused(message string) bool {
	return strings.HasPrefix(message, "declared and not used") || strings.HasSuffix(message, "and not used")
}
