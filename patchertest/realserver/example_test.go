package realserver_test

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// A write that timed out may be there all the same, and its author must be able to live with that. The server is the
// one that TestMain started.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	fault := realserver.NewFault(realserver.StatusWrites(), realserver.Timeout(), realserver.AfterCommit())
	recorder := &realserver.Recorder{}
	c, err := client.New(server.Config(recorder.Wrap, fault.Wrap), client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "example-"}}
	if err := c.Create(ctx, budget); err != nil {
		fmt.Println(err)
		return
	}

	base := budget.DeepCopy()
	budget.Status.DisruptionsAllowed = 3
	err = c.Status().Patch(ctx, budget, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	fmt.Println("the author is told of an error:", err != nil)

	if err := c.Get(ctx, client.ObjectKeyFromObject(budget), budget); err != nil {
		fmt.Println(err)
	}
	fmt.Println("the server has:", budget.Status.DisruptionsAllowed)
	fmt.Println(realserver.Count(recorder.Requests()))
	// Output:
	// the author is told of an error: true
	// the server has: 3
	// map[create poddisruptionbudgets:1 get poddisruptionbudgets:1 patch poddisruptionbudgets/status:1]
}
