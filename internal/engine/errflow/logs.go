package errflow

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// isLog reports whether a call only tells people about an error: a log line, an event, a span, a metric.
func (w *walk) isLog(call *ast.CallExpr) bool { return logs(w.f, call, 0) }

func logs(f *flow.Func, call *ast.CallExpr, depth int) bool {
	fn := f.Pkg.Callee(call)
	if fn == nil {
		return false
	}
	if IsLogPackage(kube.PkgPath(fn), fn.Name()) {
		return true
	}
	if t := receiver(f, call); t != "" && IsLogPackage(t, fn.Name()) {
		return true
	}
	if fn.Signature().Results().Len() > 0 {
		return false
	}
	// A logger of the program's own: no result, and a name that says so, or a body that does nothing else.
	if fn.Signature().Recv() != nil {
		switch fn.Name() {
		case "Error", "Errorf", "Errorw", "Info", "Infof", "Infow", "Warn", "Warnf", "Warnw", "Warning", "Warningf", "Debug", "Debugf", "Event", "Eventf", "AnnotatedEventf":
			return true
		}
	}
	decls := f.Pkg.DeclsOf(call)
	return len(decls) == 1 && depth < limits.Logs && onlyLogs(decls[0], depth)
}

// onlyLogs: all that a function does with the errors that it gets is to log them.
func onlyLogs(d *flow.Func, depth int) bool {
	told, kept := false, false
	ast.Inspect(d.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if namesError(d, n) {
				told = true
				kept = kept || !logs(d, n, depth+1)
				return false
			}
		case *ast.Ident:
			kept = kept || isErrorParam(d, n)
		}
		return !kept
	})
	return told && !kept
}

// namesError: an error that the function was given is among the arguments.
func namesError(d *flow.Func, call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if id, ok := ast.Unparen(a).(*ast.Ident); ok && isErrorParam(d, id) {
			return true
		}
	}
	return false
}

func isErrorParam(d *flow.Func, id *ast.Ident) bool {
	v, ok := d.Pkg.Info.Uses[id].(*types.Var)
	if !ok || !kube.IsError(v.Type()) {
		return false
	}
	_, param := d.ParamIndex(v)
	return param
}

func (w *walk) isLogExpr(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && w.isLog(call)
}

func receiver(f *flow.Func, call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if n := kube.Named(f.Pkg.TypeOf(sel.X)); n != nil {
		return kube.PkgPath(n.Obj())
	}
	return ""
}

// IsLogPackage reports whether a function of that package tells people about things.
func IsLogPackage(path, name string) bool {
	switch path {
	case "log", "log/slog", "github.com/go-logr/logr", "github.com/sirupsen/logrus", "k8s.io/client-go/tools/record",
		"k8s.io/client-go/tools/events", "github.com/golang/glog", "github.com/rs/zerolog", "github.com/rs/zerolog/log":
		return true
	case "fmt":
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fprint")
	case "k8s.io/apimachinery/pkg/util/runtime":
		return strings.HasPrefix(name, "HandleError")
	}
	return strings.HasPrefix(path, "k8s.io/klog") || strings.HasPrefix(path, "go.uber.org/zap") ||
		strings.HasPrefix(path, "go.opentelemetry.io/otel") || strings.HasPrefix(path, "github.com/prometheus/client_golang")
}
