package docs

// What fragments of the documents may import, so that go.mod has it: the tests load these packages by their paths.
import (
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/apimachinery/pkg/api/errors"
	_ "k8s.io/apimachinery/pkg/api/meta"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
	_ "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	_ "sigs.k8s.io/controller-runtime/pkg/log"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/reconcile"

	_ "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	_ "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	_ "github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	_ "github.com/statuspatcher/statuspatcher/examples/database-operator/planner"
	_ "github.com/statuspatcher/statuspatcher/patcher"
	_ "github.com/statuspatcher/statuspatcher/patcher/metrics"
	_ "github.com/statuspatcher/statuspatcher/patchertest"
	_ "github.com/statuspatcher/statuspatcher/patchertest/realserver"
)
