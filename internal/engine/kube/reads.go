package kube

import (
	"go/types"
	"strings"
)

// IsGet reports whether fn reads one object into its argument (controller-runtime) or returns it (a clientset, a lister).
func IsGet(fn *types.Func) (into, returns bool) {
	if fn == nil || fn.Signature().Recv() == nil || fn.Name() != "Get" {
		return false, false
	}
	if fn.Signature().Variadic() && contextFirst(fn) {
		last := variadicElem(fn)
		if last != nil && PkgPath(last) == ClientPath && strings.HasSuffix(last.Name(), "GetOption") {
			return true, false
		}
	}
	sig := fn.Signature()
	// Readers of older controller-runtime have no options; wrappers often neither.
	if contextFirst(fn) && sig.Params().Len() == 3 && IsNamed(sig.Params().At(1).Type(), "k8s.io/apimachinery/pkg/types", "NamespacedName") &&
		IsObject(sig.Params().At(2).Type()) {
		return true, false
	}
	if sig.Results().Len() == 2 && IsObject(sig.Results().At(0).Type()) && IsError(sig.Results().At(1).Type()) {
		return false, true
	}
	return false, false
}

// IsList reports whether fn lists objects into its argument.
func IsList(fn *types.Func) bool {
	if fn == nil || fn.Name() != "List" {
		return false
	}
	last := variadicElem(fn)
	return last != nil && PkgPath(last) == ClientPath && last.Name() == "ListOption"
}

// IsCopy reports whether fn is a generated deep copy.
func IsCopy(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	switch fn.Name() {
	case "DeepCopy", "DeepCopyObject":
		return fn.Signature().Params().Len() == 0
	}
	return false
}

// MergeFrom says whether fn makes a diff patch from a base, and whether it can take options.
func MergeFrom(fn *types.Func) (isPatch, options bool) {
	if fn == nil || PkgPath(fn) != ClientPath {
		return false, false
	}
	switch fn.Name() {
	case "MergeFrom":
		return true, false
	case "MergeFromWithOptions", "StrategicMergeFrom":
		return true, true
	}
	return false, false
}

// IsRawPatch reports whether fn is client.RawPatch, or its older name.
func IsRawPatch(fn *types.Func) bool {
	return IsFunc(fn, ClientPath, "RawPatch", "ConstantPatch")
}

// IsLockOption reports whether t is the option that puts the base's resourceVersion into the patch.
func IsLockOption(t types.Type) bool { return IsNamed(t, ClientPath, "MergeFromWithOptimisticLock") }

// IsFinalizerHelper reports whether fn looks at or changes the finalizers of an object, and nothing else.
func IsFinalizerHelper(fn *types.Func) bool {
	return IsFunc(fn, ControllerutilPath, "AddFinalizer", "RemoveFinalizer", "ContainsFinalizer")
}

// IsRetry reports whether fn runs a function again when it fails with a conflict.
func IsRetry(fn *types.Func) bool {
	return IsFunc(fn, RetryPath, "RetryOnConflict")
}

// IsRepeater reports whether fn runs a function several times: the retries and polls of client-go and apimachinery,
// and the widely used backoff libraries.
func IsRepeater(fn *types.Func) bool {
	if fn == nil {
		return false
	}
	switch PkgPath(fn) {
	case RetryPath:
		return true
	case WaitPath:
		return strings.HasPrefix(fn.Name(), "Poll") || strings.HasPrefix(fn.Name(), "ExponentialBackoff") || fn.Name() == "WaitFor"
	}
	return RetriesAll(fn)
}

// RetriesAll reports whether fn runs a function again whatever its error is: the widely used backoff libraries.
func RetriesAll(fn *types.Func) bool {
	switch path := PkgPath(fn); {
	case fn == nil:
		return false
	case strings.HasPrefix(path, "github.com/cenkalti/backoff"):
		return strings.HasPrefix(fn.Name(), "Retry")
	case strings.HasPrefix(path, "github.com/avast/retry-go"):
		return strings.HasPrefix(fn.Name(), "Do")
	}
	return false
}

// IsConflictCheck reports whether fn tells a conflict from other errors.
func IsConflictCheck(fn *types.Func) bool { return IsFunc(fn, ErrorsPath, "IsConflict") }

// IsOtherReasonCheck reports whether fn tells another API error than a conflict: false for a conflict.
func IsOtherReasonCheck(fn *types.Func) bool {
	return fn != nil && PkgPath(fn) == ErrorsPath && strings.HasPrefix(fn.Name(), "Is") && fn.Name() != "IsConflict"
}

// GeneratedPatcher reports whether t is a generated StatusPatcher or StatusClient: a struct with an unexported field of
// the runtime's type. The runtime's own types count too.
func GeneratedPatcher(t types.Type) (patcher, client bool) {
	n := Named(t)
	if n == nil {
		return false, false
	}
	if is, c := runtimeType(n); is || c {
		return is, c
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false, false
	}
	for i := range s.NumFields() {
		if f := s.Field(i); !f.Exported() {
			if fn := Named(f.Type()); fn != nil {
				if p, c := runtimeType(fn); p || c {
					return p, c
				}
			}
		}
	}
	return false, false
}

// PatchedKind is the object type that a generated patcher, or its client, writes; nil if t is neither.
func PatchedKind(t types.Type) types.Type {
	n := Named(t)
	if n == nil {
		return nil
	}
	if p, c := runtimeType(n); (p || c) && n.TypeArgs().Len() > 0 {
		return n.TypeArgs().At(0)
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range s.NumFields() {
		if fn := Named(s.Field(i).Type()); fn != nil && fn != n {
			if p, c := runtimeType(fn); (p || c) && fn.TypeArgs().Len() > 0 {
				return fn.TypeArgs().At(0)
			}
		}
	}
	return nil
}

func runtimeType(n *types.Named) (patcher, client bool) {
	obj := n.Origin().Obj()
	if PkgPath(obj) != PatcherPath {
		return false, false
	}
	return obj.Name() == "Patcher", obj.Name() == "Client" || obj.Name() == "Kind" // a Kind flushes through any client
}
