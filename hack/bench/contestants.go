package main

import (
	"context"

	fluxpatch "github.com/fluxcd/pkg/runtime/patch"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/retry"
	capipatch "sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
	"github.com/statuspatcher/statuspatcher/hack/bench/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher"
)

// A contestant is a way to write status. It is made once per client; write captures a base from obj, which was just read
// and is the caller's own, lets mutate change the status and flushes.
type contestant struct {
	name string

	new func(c client.Client) writer
}

type writer func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error

// The names of the contestants, as they stand in tables and in bench.json.
const (
	byPatcher     = "patcher"
	byEntry       = "patcher+PatchListEntries"
	byHand        = "handwritten"
	byHandEqual   = "handwritten+DeepEqual"
	byFlux        = "flux"
	byClusterAPI  = "cluster-api"
	byRetryUpdate = "RetryOnConflict+Update"
)

var contestants = []contestant{
	{byPatcher, func(c client.Client) writer { return generated(c) }},
	{byEntry, func(c client.Client) writer { return generated(c, patcher.PatchListEntries()) }},
	{byHand, handwritten},
	{byHandEqual, handwrittenEqual},
	{byFlux, flux},
	{byClusterAPI, clusterAPI},
	{byRetryUpdate, retryUpdate},
}

func generated(c client.Client, opts ...patcher.Option) writer {
	statuses := v1status.NewWorkloadStatusClient(c, c, opts...)
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		p, err := statuses.For(obj)
		if err != nil {
			return err
		}
		mutate(&obj.Status)
		result, err := p.Flush(ctx)
		_ = patcher.Result(result)
		return err
	}
}

// handwritten is the idiom that controller-runtime documents, with the lock.
func handwritten(c client.Client) writer {
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		base := obj.DeepCopy()
		mutate(&obj.Status)
		return c.Status().Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	}
}

// handwrittenEqual is the idiom of those who were told that a patch that changes nothing costs a request.
func handwrittenEqual(c client.Client) writer {
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		base := obj.DeepCopy()
		mutate(&obj.Status)
		if equality.Semantic.DeepEqual(base.Status, obj.Status) {
			return nil
		}
		return c.Status().Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	}
}

func flux(c client.Client) writer {
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		serial := fluxpatch.NewSerialPatcher(obj, c)
		mutate(&obj.Status)
		return serial.Patch(ctx, obj)
	}
}

func clusterAPI(c client.Client) writer {
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		helper, err := capipatch.NewHelper(obj, c)
		if err != nil {
			return err
		}
		mutate(&obj.Status)
		return helper.Patch(ctx, obj)
	}
}

// retryUpdate reads in each attempt, as the documentation of RetryOnConflict asks for.
func retryUpdate(c client.Client) writer {
	return func(ctx context.Context, obj *v1.Workload, mutate func(*v1.WorkloadStatus)) error {
		key := client.ObjectKeyFromObject(obj)
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			fresh := &v1.Workload{}
			if err := c.Get(ctx, key, fresh); err != nil {
				return err
			}
			mutate(&fresh.Status)
			return c.Status().Update(ctx, fresh)
		})
	}
}
