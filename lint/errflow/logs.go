package errflow

import (
	"go/ast"
	"strings"

	"github.com/statuspatcher/statuspatcher/lint/kube"
)

// isLog reports whether a call only tells people about an error: a log line, an event, a span, a metric.
func (w *walk) isLog(call *ast.CallExpr) bool {
	fn := w.f.Pkg.Callee(call)
	if fn == nil {
		return false
	}
	if IsLogPackage(kube.PkgPath(fn), fn.Name()) {
		return true
	}
	if t := receiver(w, call); t != "" && IsLogPackage(t, fn.Name()) {
		return true
	}
	// A logger of the program's own: no result, and a name that says so.
	if fn.Signature().Results().Len() == 0 && fn.Signature().Recv() != nil {
		switch fn.Name() {
		case "Error", "Errorf", "Errorw", "Info", "Infof", "Infow", "Warn", "Warnf", "Warnw", "Warning", "Warningf", "Debug", "Debugf", "Event", "Eventf", "AnnotatedEventf":
			return true
		}
	}
	return false
}

func (w *walk) isLogExpr(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && w.isLog(call)
}

func receiver(w *walk, call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if n := kube.Named(w.f.Pkg.TypeOf(sel.X)); n != nil {
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
