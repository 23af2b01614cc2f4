package errflow

import (
	"go/ast"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// logs reports whether a call only tells people about an error: a log line, an event, a span, a metric.
func logs(f *flow.Func, call *ast.CallExpr) bool {
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
	if fn.Signature().Results().Len() > 0 || fn.Signature().Recv() == nil {
		return false
	}
	// A logger of the program's own: no result, and a name that says so.
	switch fn.Name() {
	case "Error", "Errorf", "Errorw", "Info", "Infof", "Infow", "Warn", "Warnf", "Warnw", "Warning", "Warningf", "Debug", "Debugf", "Event", "Eventf", "AnnotatedEventf":
		return true
	}
	return false
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
