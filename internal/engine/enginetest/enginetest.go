// Package enginetest type-checks small sources against a sketch of the Kubernetes client libraries, so that tests of the
// analysis need neither a module nor the go command.
package enginetest

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// header imports the sketch, as every source does.
const header = `package p
import (
	"context"
	"example.com/api/v1"
	"example.com/api/v1/v1status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)
var ( _ context.Context; _ v1.Cell; _ = apierrors.IsConflict; _ = retry.RetryOnConflict; _ client.Client; _ reconcile.Result; _ v1status.CellStatusClient )
`

// libraries are the sketches, by import path.
var libraries = map[string]string{
	"sigs.k8s.io/controller-runtime/pkg/client": `package client
import "context"
type Object interface { GetName() string; GetResourceVersion() string; DeepCopyObject() any }
type ObjectList interface { GetResourceVersion() string; DeepCopyObject() any }
type ObjectKey struct { Namespace, Name string }
type GetOption interface { get() }
type ListOption interface { list() }
type UpdateOption interface { update() }
type PatchOption interface { patch() }
type DeleteOption interface { del() }
type SubResourceUpdateOption interface { update() }
type SubResourcePatchOption interface { patch() }
type Patch interface { Type() string; Data(Object) ([]byte, error) }
type SubResourceWriter interface {
	Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error
	Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error
}
type Client interface {
	Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error
	List(ctx context.Context, list ObjectList, opts ...ListOption) error
	Update(ctx context.Context, obj Object, opts ...UpdateOption) error
	Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error
	Delete(ctx context.Context, obj Object, opts ...DeleteOption) error
	Status() SubResourceWriter
	SubResource(name string) SubResourceWriter
}
type MergeFromOption interface { ApplyToMergeFrom(*MergeFromOptions) }
type MergeFromOptions struct { OptimisticLock bool }
type MergeFromWithOptimisticLock struct{}
func (MergeFromWithOptimisticLock) ApplyToMergeFrom(*MergeFromOptions) {}
func MergeFrom(obj Object) Patch { return nil }
func MergeFromWithOptions(obj Object, opts ...MergeFromOption) Patch { return nil }
func RawPatch(t string, data []byte) Patch { return nil }
func IgnoreNotFound(err error) error { return err }
func ObjectKeyFromObject(obj Object) ObjectKey { return ObjectKey{} }
`,
	"sigs.k8s.io/controller-runtime/pkg/reconcile": `package reconcile
type Result struct { Requeue bool; RequeueAfter int64 }
type Request struct { Name string }
`,
	"k8s.io/client-go/util/retry": `package retry
var DefaultRetry int
func RetryOnConflict(backoff int, fn func() error) error { return fn() }
func OnError(backoff int, retriable func(error) bool, fn func() error) error { return fn() }
`,
	"k8s.io/apimachinery/pkg/api/errors": `package errors
func IsConflict(err error) bool { return false }
func IsNotFound(err error) bool { return false }
`,
	"github.com/statuspatcher/statuspatcher/patcher": `package patcher
type Patcher[T any] struct{}
type Client[T any] struct{}
type Result struct{}
`,
	"example.com/api/v1/v1status": `package v1status
import (
	"context"
	"example.com/api/v1"
	"github.com/statuspatcher/statuspatcher/patcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
)
type CellStatusClient struct { c *patcher.Client[*v1.Cell] }
type CellStatusPatcher struct { p *patcher.Patcher[*v1.Cell] }
func (c *CellStatusClient) Fetch(ctx context.Context, key client.ObjectKey) (*v1.Cell, *CellStatusPatcher, error) { return nil, nil, nil }
func (c *CellStatusClient) For(cell *v1.Cell) (*CellStatusPatcher, error) { return nil, nil }
func (p *CellStatusPatcher) Flush(ctx context.Context) (patcher.Result, error) { return patcher.Result{}, nil }
func (p *CellStatusPatcher) Changed() bool { return false }
`,
	"example.com/api/v1": `package v1
type ObjectMeta struct { Name, ResourceVersion string; Finalizers []string }
func (m *ObjectMeta) GetName() string { return m.Name }
func (m *ObjectMeta) GetResourceVersion() string { return m.ResourceVersion }
func (m *ObjectMeta) SetResourceVersion(v string) { m.ResourceVersion = v }
type CellStatus struct { Phase string; Items []string }
type Cell struct { ObjectMeta; Size int; Status CellStatus }
func (c *Cell) DeepCopy() *Cell { d := *c; return &d }
func (c *Cell) DeepCopyObject() any { return c.DeepCopy() }
type CellList struct { ResourceVersion string; Items []Cell }
func (l *CellList) GetResourceVersion() string { return l.ResourceVersion }
func (l *CellList) DeepCopyObject() any { return l }
type Other struct { ObjectMeta; Status CellStatus }
func (o *Other) DeepCopy() *Other { d := *o; return &d }
func (o *Other) DeepCopyObject() any { return o.DeepCopy() }
`,
}

// Check type-checks a source that may name context, client, v1, v1status, apierrors, retry and reconcile.
func Check(t *testing.T, src string) *flow.Package {
	t.Helper()
	l := &loader{fset: token.NewFileSet(), done: map[string]*types.Package{}, std: importer.Default()}
	p := &flow.Package{Fset: l.fset, Info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	file, err := parser.ParseFile(l.fset, "p.go", header+src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p.Files = []*ast.File{file}
	if p.Types, err = (&types.Config{Importer: l}).Check("example.com/p", l.fset, p.Files, p.Info); err != nil {
		t.Fatal(err)
	}
	flow.New(p)
	return p
}

// loader imports the sketches, and the standard library.
type loader struct {
	fset *token.FileSet
	done map[string]*types.Package
	std  types.Importer
}

func (l *loader) Import(path string) (*types.Package, error) {
	src, ok := libraries[path]
	if !ok {
		return l.std.Import(path)
	}
	if p := l.done[path]; p != nil {
		return p, nil
	}
	file, err := parser.ParseFile(l.fset, path+".go", src, 0)
	if err != nil {
		return nil, fmt.Errorf("the sketch of %s: %w", path, err)
	}
	l.done[path], err = (&types.Config{Importer: l}).Check(path, l.fset, []*ast.File{file}, nil)
	return l.done[path], err
}

// Function is the declaration of that name.
func Function(t *testing.T, p *flow.Package, name string) *flow.Func {
	t.Helper()
	for _, f := range p.Funcs() {
		if f.Decl != nil && f.Decl.Name.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// Call is the first call in f of what is written as text.
func Call(t *testing.T, f *flow.Func, text string) *ast.CallExpr {
	t.Helper()
	var found *ast.CallExpr
	ast.Inspect(f.Node(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && found == nil && types.ExprString(c.Fun) == text {
			found = c
		}
		return found == nil
	})
	if found == nil {
		t.Fatalf("no call of %s in %s", text, f.Name())
	}
	return found
}
