package kube

import (
	"go/types"
	"strings"
)

// Verb is what a write does to the object: the name of the client's method.
type Verb string

// The verbs of writers and clientsets.
const (
	Update Verb = "Update"
	Patch  Verb = "Patch"
	Apply  Verb = "Apply"
	Create Verb = "Create"
	Delete Verb = "Delete"
)

// Writer says through which API a write goes.
type Writer int

// The APIs.
const (
	NoWriter        Writer = iota
	SubResource            // Status().X or SubResource(s).X of controller-runtime
	Main                   // client.Writer of controller-runtime
	ClientsetStatus        // UpdateStatus, ApplyStatus, PatchStatus of a typed or dynamic clientset
	ClientsetVerb          // Update, Patch, Apply of a clientset: the last strings name the subresource
	CreateOrPatch          // controllerutil.CreateOrPatch
	RawREST                // Do of a raw request of client-go's REST client
	Generated              // Flush, Retry and the like of a generated patcher
)

// Kind says which write a call of fn is; NoWriter if it is none.
func Kind(fn *types.Func) (Writer, Verb) {
	if fn == nil {
		return NoWriter, ""
	}
	switch {
	case IsFunc(fn, ControllerutilPath, "CreateOrPatch"):
		return CreateOrPatch, Patch
	case fn.Signature().Recv() == nil:
		return NoWriter, ""
	case isFlush(fn):
		return Generated, Patch
	case isWriterVerb(fn):
		return SubResource, Verb(fn.Name())
	case isMainVerb(fn):
		return Main, Verb(fn.Name())
	case isClientsetStatus(fn):
		return ClientsetStatus, Verb(strings.TrimSuffix(fn.Name(), "Status"))
	case isClientsetVerb(fn):
		return ClientsetVerb, Verb(fn.Name())
	}
	return NoWriter, ""
}

// isFlush: a method of a generated patcher, or of its client, that writes status.
func isFlush(fn *types.Func) bool {
	switch fn.Name() {
	case "Flush", "FlushOnReturn", "FlushOnSuccess", "Retry":
	default:
		return false
	}
	p, c := GeneratedPatcher(fn.Signature().Recv().Type())
	return p || c
}

// isWriterVerb: a method of SubResourceWriter, or one with its shape: a context first, and last the options of a
// subresource write. The receiver's name says nothing: in export data it is an anonymous interface.
func isWriterVerb(fn *types.Func) bool {
	switch fn.Name() {
	case "Update", "Patch", "Apply", "Create":
	default:
		return false
	}
	if !contextFirst(fn) {
		return false
	}
	if last := variadicElem(fn); last != nil && PkgPath(last) == ClientPath && last.Name() == "SubResource"+fn.Name()+"Option" {
		return true
	}
	return methodOf(fn, "SubResourceWriter") || methodOf(fn, "StatusWriter")
}

// methodOf reports whether fn is one of the methods of the interface of that name in controller-runtime's client package.
func methodOf(fn *types.Func, name string) bool {
	if PkgPath(fn) != ClientPath {
		return false
	}
	tn, ok := fn.Pkg().Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return false
	}
	iface, ok := tn.Type().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for i := range iface.NumMethods() {
		if iface.Method(i) == fn {
			return true
		}
	}
	return false
}

func isMainVerb(fn *types.Func) bool {
	switch fn.Name() {
	case "Update", "Patch", "Apply", "Create", "Delete":
	default:
		return false
	}
	if !contextFirst(fn) || isWriterVerb(fn) {
		return false
	}
	last := variadicElem(fn)
	return last != nil && PkgPath(last) == ClientPath && last.Name() == fn.Name()+"Option"
}

func isClientsetStatus(fn *types.Func) bool {
	params := fn.Signature().Params()
	if !contextFirst(fn) || params.Len() < 3 {
		return false
	}
	last := params.At(params.Len() - 1).Type()
	switch fn.Name() {
	case "UpdateStatus":
		return IsNamed(last, MetaPath, "UpdateOptions")
	case "ApplyStatus":
		return IsNamed(last, MetaPath, "ApplyOptions")
	case "PatchStatus":
		return strings.HasPrefix(PkgPath(fn), "k8s.io/client-go/kubernetes/") && types.Identical(last, types.NewSlice(types.Typ[types.Byte]))
	}
	return false
}

// isClientsetVerb: a context first, and metav1's options for the verb last, or last before the names of subresources.
func isClientsetVerb(fn *types.Func) bool {
	switch fn.Name() {
	case "Update", "Patch", "Apply", "Create", "Delete":
	default:
		return false
	}
	params := fn.Signature().Params()
	if !contextFirst(fn) || params.Len() < 3 {
		return false
	}
	last := params.At(params.Len() - 1).Type()
	if fn.Signature().Variadic() {
		if s, ok := last.(*types.Slice); !ok || !types.Identical(s.Elem(), types.Typ[types.String]) || params.Len() < 4 {
			return false
		}
		last = params.At(params.Len() - 2).Type()
	}
	return IsNamed(last, MetaPath, fn.Name()+"Options")
}

func contextFirst(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 1 && IsContext(params.At(0).Type())
}

// variadicElem is the named type of the variadic parameter's elements; nil without one.
func variadicElem(fn *types.Func) *types.TypeName {
	sig := fn.Signature()
	if !sig.Variadic() {
		return nil
	}
	s, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return nil
	}
	n := Named(s.Elem())
	if n == nil {
		return nil
	}
	return n.Obj()
}

// VariadicOption is the name of the controller-runtime option type that ends the signature; empty if it is another.
func VariadicOption(sig *types.Signature) string {
	if !sig.Variadic() {
		return ""
	}
	s, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return ""
	}
	n := Named(s.Elem())
	if n == nil || PkgPath(n.Obj()) != ClientPath {
		return ""
	}
	return n.Obj().Name()
}

// ReturnsWriter says whether a call of fn gives a subresource writer, and whether it is Status (no argument) or
// SubResource (the argument names it).
func ReturnsWriter(fn *types.Func) (status, named bool) {
	if fn == nil || fn.Signature().Recv() == nil || !returnsWriter(fn) {
		return false, false
	}
	switch fn.Name() {
	case "Status":
		return fn.Signature().Params().Len() == 0, false
	case "SubResource":
		return false, fn.Signature().Params().Len() == 1
	}
	return false, false
}

// IsDelete reports whether fn deletes objects: by a client of controller-runtime or by a clientset.
func IsDelete(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	if _, verb := Kind(fn); verb == Delete {
		return true
	}
	last := variadicElem(fn)
	return fn.Name() == "DeleteAllOf" && last != nil && PkgPath(last) == ClientPath
}

// IsRESTRequest reports whether t is a raw request of client-go's REST client.
func IsRESTRequest(t types.Type) bool { return IsNamed(t, "k8s.io/client-go/rest", "Request") }

// IsRESTDo reports whether fn sends a raw request.
func IsRESTDo(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() == nil || !IsRESTRequest(fn.Signature().Recv().Type()) {
		return false
	}
	return fn.Name() == "Do" || fn.Name() == "DoRaw"
}
