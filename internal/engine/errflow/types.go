package errflow

import (
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// isErrorType reports whether t is an error: the interface, or a type that implements it.
func isErrorType(t types.Type) bool {
	if t == nil {
		return false
	}
	if kube.IsError(t) {
		return true
	}
	_, named := types.Unalias(t).(*types.Named)
	_, pointer := types.Unalias(t).(*types.Pointer)
	return (named || pointer) && types.Implements(t, errorInterface)
}

// holdsError: what is made of an error and is not one of these (a message, a bool) no longer carries it.
func holdsError(t types.Type) bool {
	if isErrorType(t) {
		return true
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return isErrorType(s.Elem())
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if isErrorType(f.Type()) {
				return true
			}
		}
	}
	_, iface := t.Underlying().(*types.Interface)
	_, ptr := t.Underlying().(*types.Pointer)
	return iface || ptr
}

func isAPIStatus(t types.Type) bool {
	n := kube.Named(t)
	return t == nil || n == nil || kube.PkgPath(n.Obj()) == kube.ErrorsPath || types.IsInterface(t)
}

// ignores: functions that make nil of some errors: client.IgnoreNotFound and those like it.
func ignores(fn *types.Func) bool {
	return fn != nil && (strings.HasPrefix(fn.Name(), "Ignore") || strings.HasPrefix(fn.Name(), "Filter"))
}

// makesErrors: a function without a context, whose name or package says that errors are what it is for. Its code
// cannot be seen.
func makesErrors(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Results().Len() != 1 || sig.Params().Len() == 0 && sig.Recv() != nil {
		return false
	}
	for v := range sig.Params().Variables() {
		if kube.IsContext(v.Type()) {
			return false
		}
	}
	if !kube.IsError(sig.Results().At(0).Type()) {
		return isErrorType(sig.Results().At(0).Type())
	}
	if kube.IsFunc(fn, "fmt", "Errorf") || kube.IsFunc(fn, kube.ReconcilePath, "TerminalError") {
		return true
	}
	name := fn.Name()
	return strings.HasPrefix(name, "New") || strings.HasPrefix(name, "Err") || strings.HasSuffix(name, "Errorf")
}
