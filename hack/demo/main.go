// Command demo runs the example operator as it is written by hand and with the generated patcher, each in two replicas, under the
// same contention and the same lagging cache, on a real API server, and prints what became of it. Run it with make demo.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	generated "github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	handwritten "github.com/statuspatcher/statuspatcher/examples/handwritten-operator/controller"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

const crds = "examples/database-operator/config/crd"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard()) // events that are on their way when the server stops
	shown := newProgress(os.Stderr)
	defer shown.stop()
	starting := shown.track("starting kube-apiserver and etcd", 1)
	server, err := realserver.New(realserver.WithCRDDirs(crds))
	if err != nil {
		return err
	}
	defer server.Stop()
	starting.Increment(1)

	before, err := play(ctx, server, "handwritten", handwritten.SetupWithManager, shown)
	if err != nil {
		return err
	}
	after, err := play(ctx, server, "generated", generated.SetupWithManager, shown)
	if err != nil {
		return err
	}
	shown.stop()
	fmt.Fprintln(out, table(before, after))
	return verdict(before, after)
}

// verdict is an error when the demonstration did not show what it is for.
func verdict(before, after *score) error {
	if before.lost() == 0 {
		return fmt.Errorf("expected the handwritten operator to lose updates, found none: the contention was not there")
	}
	if after.lost() != 0 || !after.converged {
		return fmt.Errorf("expected the generated patcher to lose nothing and to converge, found %d lost, converged %v", after.lost(), after.converged)
	}
	return nil
}
