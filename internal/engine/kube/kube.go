// Package kube recognises the parts of the Kubernetes client libraries that a status write is made of: the writers,
// the patches, the reads, the copies and the retries. All by type; a name counts only together with its package or its
// signature, so that a client behind an interface, a mock or a wrapper is the client it is.
package kube

import (
	"go/types"
	"strings"
)

// The import paths by which the libraries are known.
const (
	ClientPath         = "sigs.k8s.io/controller-runtime/pkg/client"
	ControllerutilPath = "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	InterceptorPath    = "sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ReconcilePath      = "sigs.k8s.io/controller-runtime/pkg/reconcile"
	MetaPath           = "k8s.io/apimachinery/pkg/apis/meta/v1"
	UnstructuredPath   = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ErrorsPath         = "k8s.io/apimachinery/pkg/api/errors"
	RetryPath          = "k8s.io/client-go/util/retry"
	WaitPath           = "k8s.io/apimachinery/pkg/util/wait"
	PatcherPath        = "github.com/statuspatcher/statuspatcher/patcher"
)

// PkgPath is the import path of the package that declares obj, without a vendor prefix; empty for the universe.
func PkgPath(obj types.Object) string {
	if fn, ok := obj.(*types.Func); ok && fn == nil || obj == nil || obj.Pkg() == nil {
		return ""
	}
	return trimVendor(obj.Pkg().Path())
}

func trimVendor(path string) string {
	if i := strings.LastIndex(path, "/vendor/"); i >= 0 {
		return path[i+len("/vendor/"):]
	}
	return strings.TrimPrefix(path, "vendor/")
}

// Relevant reports whether a package can hold a status write: it imports controller-runtime or client-go, itself or
// through the packages that give it its clients.
func Relevant(pkg *types.Package) bool {
	seen := map[*types.Package]bool{}
	var reaches func(p *types.Package) bool
	reaches = func(p *types.Package) bool {
		if seen[p] {
			return false
		}
		seen[p] = true
		for _, imp := range p.Imports() {
			if LeadsToClient(imp.Path()) {
				return true
			}
		}
		for _, imp := range p.Imports() {
			// The standard library and apimachinery lead to no client, and are most of every import graph.
			if first, _, _ := strings.Cut(imp.Path(), "/"); !strings.Contains(first, ".") || strings.HasPrefix(imp.Path(), "k8s.io/api") {
				continue
			}
			if reaches(imp) {
				return true
			}
		}
		return false
	}
	return reaches(pkg)
}

// LeadsToClient reports whether an import path belongs to the libraries by which status is written.
func LeadsToClient(path string) bool {
	path = trimVendor(path)
	return strings.HasPrefix(path, "sigs.k8s.io/controller-runtime") || strings.HasPrefix(path, "k8s.io/client-go") || path == PatcherPath
}

// UsesPatchers reports whether a package can hold a generated patcher: the runtime is among what its imports import.
func UsesPatchers(pkg *types.Package) bool {
	for _, imp := range pkg.Imports() {
		if trimVendor(imp.Path()) == PatcherPath {
			return true
		}
		for _, second := range imp.Imports() {
			if trimVendor(second.Path()) == PatcherPath {
				return true
			}
		}
	}
	return false
}

// Named is the named type behind t, through pointers and aliases; nil if there is none.
func Named(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// IsNamed reports whether t, or what it points to, is the type path.name.
func IsNamed(t types.Type, path, name string) bool {
	n := Named(t)
	return n != nil && n.Obj().Name() == name && PkgPath(n.Obj()) == path
}

// IsContext reports whether t is context.Context.
func IsContext(t types.Type) bool { return IsNamed(t, "context", "Context") }

// IsError reports whether t is the error interface.
func IsError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// IsFunc reports whether fn is the package-level function or method path.name.
func IsFunc(fn *types.Func, path string, names ...string) bool {
	if fn == nil || PkgPath(fn) != path {
		return false
	}
	for _, n := range names {
		if fn.Name() == n {
			return true
		}
	}
	return false
}

// HasMethod reports whether t or *t has a method of that name, embedded ones included.
func HasMethod(t types.Type, name string) bool { return Method(t, name) != nil }

// Method is the method of that name of t or *t; nil if there is none.
func Method(t types.Type, name string) *types.Func {
	if t == nil {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	fn, _ := obj.(*types.Func)
	return fn
}

// IsObject reports whether t looks like a Kubernetes API object: it has a resourceVersion and copies itself.
func IsObject(t types.Type) bool {
	if HasMethod(t, "GetResourceVersion") {
		return true
	}
	n := Named(t)
	if n == nil {
		return false
	}
	return HasMethod(types.NewPointer(n), "GetResourceVersion") && HasMethod(types.NewPointer(n), "DeepCopyObject")
}

// IsResult reports whether t is reconcile.Result, or a struct that asks for a requeue the same way.
func IsResult(t types.Type) bool {
	n := Named(t)
	if n == nil {
		return false
	}
	if IsNamed(t, ReconcilePath, "Result") {
		return true
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() == "RequeueAfter" {
			return true
		}
	}
	return false
}

// IsGenericEvent reports whether t is the event by which code queues an object itself.
func IsGenericEvent(t types.Type) bool {
	n := Named(t)
	return n != nil && PkgPath(n.Obj()) == "sigs.k8s.io/controller-runtime/pkg/event" &&
		(n.Obj().Name() == "GenericEvent" || n.Obj().Name() == "TypedGenericEvent")
}

// IsReconcile reports whether fn is the method that controller-runtime calls for each request, and again when it fails.
func IsReconcile(fn *types.Func) bool {
	if fn == nil || fn.Name() != "Reconcile" || fn.Signature().Recv() == nil || !contextFirst(fn) {
		return false
	}
	sig := fn.Signature()
	return sig.Params().Len() == 2 && sig.Results().Len() == 2 && IsNamed(sig.Results().At(0).Type(), ReconcilePath, "Result") &&
		IsError(sig.Results().At(1).Type())
}

// IsClient reports whether a value of type t can write to the API server: a controller-runtime client, a subresource
// writer, or a typed or dynamic clientset.
func IsClient(t types.Type) bool {
	if t == nil {
		return false
	}
	if m := Method(t, "Status"); m != nil && returnsWriter(m) {
		return true
	}
	if m := Method(t, "Update"); m != nil && (isWriterVerb(m) || isMainVerb(m) || isClientsetVerb(m)) {
		return true
	}
	if m := Method(t, "Patch"); m != nil && (isWriterVerb(m) || isMainVerb(m) || isClientsetVerb(m)) {
		return true
	}
	n := Named(t)
	return n != nil && HasMethod(t, "Discovery") && HasMethod(t, "CoreV1")
}

func returnsWriter(m *types.Func) bool {
	res := m.Signature().Results()
	if res.Len() != 1 {
		return false
	}
	u := Method(res.At(0).Type(), "Update")
	return u != nil && isWriterVerb(u)
}

// HoldsClient reports whether t is a client or a struct with one among its fields, embedded ones included.
func HoldsClient(t types.Type) bool {
	if IsClient(t) {
		return true
	}
	n := Named(t)
	if n == nil {
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		ft := s.Field(i).Type()
		if IsClient(ft) || HasMethod(ft, "GetClient") {
			return true
		}
		if en := Named(ft); en != nil && s.Field(i).Embedded() && en != n && HoldsClient(ft) {
			return true
		}
	}
	return false
}

// HasStatus reports whether t is a struct (or points to one) with a field Status.
func HasStatus(t types.Type) bool { return StatusField(t) != nil }

// StatusField is the field Status of the struct behind t; nil if there is none.
func StatusField(t types.Type) *types.Var {
	n := Named(t)
	if n == nil {
		return nil
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Name() == "Status" {
			return f
		}
	}
	return nil
}

// AnyKind reports whether a type says nothing about the kind of the object that it holds: an interface, an unstructured
// object, metadata alone.
func AnyKind(n *types.Named) bool {
	if types.IsInterface(n) {
		return true
	}
	switch PkgPath(n.Obj()) {
	case UnstructuredPath:
		return true
	case MetaPath:
		return n.Obj().Name() == "PartialObjectMetadata"
	}
	return false
}

// AppliedKind is the kind that a generated apply configuration is for.
func AppliedKind(n *types.Named) (kind string, ok bool) {
	return strings.CutSuffix(n.Obj().Name(), "ApplyConfiguration")
}

// IsStandard reports whether an object is declared in the standard library, or is built in.
func IsStandard(obj types.Object) bool {
	path := PkgPath(obj)
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
