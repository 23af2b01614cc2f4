package mistakes

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	generated "github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	handwritten "github.com/statuspatcher/statuspatcher/examples/handwritten-operator/controller"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// operator makes the reconcilers of one replica. c may read from a cache; live never does.
type operator struct {
	database func(c client.Client, live client.Reader, events generated.Recorder) reconcile.Reconciler
	fleet    func(c client.Client, live client.Reader) reconcile.Reconciler
	backup   func(c client.Client, live client.Reader) reconcile.Reconciler
}

var before = operator{
	database: func(c client.Client, _ client.Reader, events generated.Recorder) reconcile.Reconciler {
		return &handwritten.DatabaseReconciler{Client: c, Events: events}
	},
	fleet: func(c client.Client, _ client.Reader) reconcile.Reconciler {
		return &handwritten.FleetReconciler{Client: c}
	},
	backup: func(c client.Client, _ client.Reader) reconcile.Reconciler {
		return &handwritten.BackupReconciler{Client: c}
	},
}

// wrapped is the handwritten operator, unchanged, on a client that checks its status writes.
var wrapped = operator{
	database: func(c client.Client, live client.Reader, events generated.Recorder) reconcile.Reconciler {
		return before.database(checked(c), live, events)
	},
	fleet: func(c client.Client, live client.Reader) reconcile.Reconciler {
		return before.fleet(checked(c), live)
	},
	backup: func(c client.Client, live client.Reader) reconcile.Reconciler {
		return before.backup(checked(c), live)
	},
}

func checked(c client.Client) client.Client {
	return patcher.Wrap(c, patcher.Lock, v1status.Kinds()...)
}

var after = operator{
	database: func(c client.Client, live client.Reader, events generated.Recorder) reconcile.Reconciler {
		r := generated.NewDatabaseReconciler(c, live)
		r.Events = events
		return r
	},
	fleet: func(c client.Client, live client.Reader) reconcile.Reconciler {
		return generated.NewFleetReconciler(c, live)
	},
	backup: func(c client.Client, live client.Reader) reconcile.Reconciler {
		return generated.NewBackupReconciler(c, live)
	},
}
