// Command demo runs the example operator as it is written by hand, the same behind a client that checks status writes, and with the
// generated patcher, each in two replicas, under the same contention and the same lagging cache, on a real API server, and prints
// what became of it. Run it with make demo.
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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	generated "github.com/statuspatcher/statuspatcher/examples/database-operator/controller"
	handwritten "github.com/statuspatcher/statuspatcher/examples/handwritten-operator/controller"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

const crds = "../examples/database-operator/config/crd"

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

	var scores []*score
	for _, run := range []operator{
		{"handwritten", handwritten.SetupWithManager, nil},
		{"wrapped", handwritten.SetupWithManager, v1status.NewClient},
		{"generated", generated.SetupWithManager, nil},
	} {
		score, err := play(ctx, server, run, shown)
		if err != nil {
			return err
		}
		scores = append(scores, score)
	}
	shown.stop()
	before, wrapped, after := scores[0], scores[1], scores[2]
	fmt.Fprintln(out, table(before, wrapped, after))
	return verdict(before, wrapped, after)
}

// operator is one that is played: how it is set up, and the client that its manager makes, or nil for the usual one.
type operator struct {
	name      string
	setup     setup
	newClient client.NewClientFunc
}

// verdict is an error when the demonstration did not show what it is for.
func verdict(before, wrapped, after *score) error {
	if before.lost() == 0 {
		return fmt.Errorf("expected the handwritten operator to lose updates, found none: the contention was not there")
	}
	if wrapped.lost() != 0 {
		return fmt.Errorf("expected the handwritten operator to lose nothing behind a client that checks status writes, found %d lost", wrapped.lost())
	}
	if after.lost() != 0 || !after.converged {
		return fmt.Errorf("expected the generated patcher to lose nothing and to converge, found %d lost, converged %v", after.lost(), after.converged)
	}
	return nil
}
