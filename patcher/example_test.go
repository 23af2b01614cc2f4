package patcher_test

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// exampleClient stands for mgr.GetClient() and mgr.GetAPIReader().
func exampleClient() client.Client {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	cell := &v1.Cell{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Generation: 1}}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(cell).WithStatusSubresource(cell).Build()
}

var exampleKey = client.ObjectKey{Namespace: "default", Name: "a"}

// A reconcile fetches, changes Status in place, and flushes when it returns, by whichever return.
func Example() {
	c := exampleClient()
	statuses := v1status.NewCellStatusClient(c, c) // in SetupWithManager: mgr.GetClient(), mgr.GetAPIReader()

	reconcile := func(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
		cell, status, err := statuses.Fetch(ctx, req.NamespacedName)
		if err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		defer status.FlushOnReturn(ctx, &result, &err)

		if cell.Status.Plan == nil {
			cell.Status.Plan = &v1.Plan{ID: "plan-1"}
		}
		status.SetObservedGeneration()
		status.SetCondition(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Planned"})
		return ctrl.Result{}, nil
	}

	result, err := reconcile(context.Background(), ctrl.Request{NamespacedName: exampleKey})
	fmt.Println(result.RequeueAfter, err)

	cell := &v1.Cell{}
	err = c.Get(context.Background(), exampleKey, cell)
	fmt.Println(cell.Status.Plan.ID, cell.Status.ObservedGeneration, cell.Status.Conditions[0].Reason, err)
	// Output:
	// 0s <nil>
	// plan-1 1 Planned <nil>
}

// A Flush says what it did. With nothing changed it sends nothing.
func ExamplePatcher_Flush() {
	ctx, c := context.Background(), exampleClient()
	cell, status, err := v1status.NewCellStatusClient(c, c).Fetch(ctx, exampleKey)
	if err != nil {
		panic(err)
	}
	fmt.Println(status.Flush(ctx))
	cell.Status.Phase = "Ready"
	fmt.Println(status.Changed())
	fmt.Println(status.Flush(ctx))
	// Output:
	// unchanged <nil>
	// true
	// patched <nil>
}

// Retry runs the decision again on the object as it is read live. A second writer that got in first is seen.
func ExampleClient_Retry() {
	ctx, c := context.Background(), exampleClient()
	statuses := v1status.NewCellStatusClient(c, c)
	for _, writer := range []string{"one", "two", "one"} {
		result, err := statuses.Retry(ctx, exampleKey, func(cell *v1.Cell) error {
			for _, w := range cell.Status.Writers {
				if w == writer {
					return nil
				}
			}
			cell.Status.Writers = append(cell.Status.Writers, writer)
			return nil
		})
		fmt.Println(writer, result, err)
	}
	// Output:
	// one patched <nil>
	// two patched <nil>
	// one unchanged <nil>
}

// A finalizer is written through the patcher, so that the status write after it does not conflict with it.
func ExamplePatcher_PatchMetadata() {
	ctx, c := context.Background(), exampleClient()
	cell, status, err := v1status.NewCellStatusClient(c, c).Fetch(ctx, exampleKey)
	if err != nil {
		panic(err)
	}
	cell.Status.Phase = "Creating"
	fmt.Println(status.PatchMetadata(ctx, func(cell *v1.Cell) {
		cell.Finalizers = append(cell.Finalizers, "example.com/cleanup")
	}))
	fmt.Println(status.Flush(ctx))
	fmt.Println(cell.Finalizers, cell.Status.Phase)
	// Output:
	// patched <nil>
	// patched <nil>
	// [example.com/cleanup] Creating
}

// Only a conflict is quiet. What it is joined with is not hidden.
func ExampleRequeueOnConflict() {
	ctx, c := context.Background(), exampleClient()
	statuses := v1status.NewCellStatusClient(c, c, patcher.WithJitter(func() float64 { return 1 }))
	first, mine, _ := statuses.Fetch(ctx, exampleKey)
	second, theirs, _ := statuses.Fetch(ctx, exampleKey)
	first.Status.Phase, second.Status.Phase = "Mine", "Theirs"
	fmt.Println(theirs.Flush(ctx))

	_, err := mine.Flush(ctx)
	var conflict *patcher.ConflictError
	fmt.Println(errors.As(err, &conflict))
	result, err := patcher.RequeueOnConflict(conflict)
	fmt.Println(result.RequeueAfter, err)
	_, err = patcher.RequeueOnConflict(errors.Join(conflict, errors.New("disk full")))
	fmt.Println(err != nil)
	// Output:
	// patched <nil>
	// true
	// 20ms <nil>
	// true
}
