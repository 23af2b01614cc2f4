package patcher_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// cached is the client that a manager with this cache would have, made by NewClientFunc.
func (b *bed) cached(options cache.Options, configure func(*client.CacheOptions)) client.Client {
	b.Helper()
	config, scheme := server.Config(), newScheme(b)
	options.Scheme = scheme
	reader, err := cache.New(config, options)
	b.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := reader.Start(ctx); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() { cancel(); running.Wait() })
	if !reader.WaitForCacheSync(ctx) {
		b.Fatal("the cache did not start")
	}
	forReads := client.CacheOptions{Reader: reader}
	if configure != nil {
		configure(&forReads)
	}
	c, err := patcher.NewClientFunc(patcher.Lock, v1status.Kinds())(config, client.Options{Scheme: scheme, Cache: &forReads})
	b.must(err)
	return c
}

// readYourWrites turns on the client that waits for its own writes, where this version of controller-runtime has it.
func readYourWrites(options *client.CacheOptions) {
	if field := reflect.ValueOf(options).Elem().FieldByName("EnableReadYourWritesConsistency"); field.IsValid() {
		field.Set(reflect.ValueOf(new(bool)))
		field.Elem().SetBool(true)
	}
}

// Handwritten writers behind a wrapped client lose nothing of each other, whatever cache they read from.
func TestS76_BlindWritersBehindACache(t *testing.T) {
	const writers, writes = 4, 5
	for _, row := range []struct {
		name      string
		options   func(namespaces []string) cache.Options
		configure func(*client.CacheOptions)
	}{
		{"a cache", func([]string) cache.Options { return cache.Options{} }, nil},
		{"a cache that shares its objects", func([]string) cache.Options {
			return cache.Options{DefaultUnsafeDisableDeepCopy: new(true)}
		}, nil},
		{"a cache that strips annotations and managed fields", func([]string) cache.Options {
			return cache.Options{DefaultTransform: func(obj any) (any, error) {
				if cell, ok := obj.(*v1.Cell); ok {
					cell.Annotations, cell.ManagedFields = nil, nil
				}
				return obj, nil
			}}
		}, nil},
		{"caches of single namespaces", func(namespaces []string) cache.Options {
			options := cache.Options{DefaultNamespaces: map[string]cache.Config{}}
			for _, namespace := range namespaces {
				options.DefaultNamespaces[namespace] = cache.Config{}
			}
			return options
		}, nil},
		{"a client that reads its own writes", func([]string) cache.Options { return cache.Options{} }, readYourWrites},
	} {
		t.Run(row.name, func(t *testing.T) {
			beds := []*bed{newBed(t), newBed(t)}
			c := beds[0].cached(row.options([]string{beds[0].key.Namespace, beds[1].key.Namespace}), row.configure)
			var all sync.WaitGroup
			for _, b := range beds {
				for i := range writers {
					all.Go(func() { b.append(c, fmt.Sprint(i), writes) })
				}
			}
			all.Wait()
			for _, b := range beds {
				if got := len(b.live().Status.Writers); got != writers*writes {
					t.Errorf("%d of %d writes landed", got, writers*writes)
				}
			}
		})
	}
}

// append adds a name to a list n times, as a reconcile would that is run again after each conflict.
func (b *bed) append(c client.Client, name string, n int) {
	for n > 0 {
		list := &v1.CellList{}
		if err := c.List(b.ctx, list, client.InNamespace(b.key.Namespace)); err != nil {
			b.Error(err)
			return
		}
		if len(list.Items) == 0 {
			continue // the cache does not have it yet
		}
		cell := list.Items[0].DeepCopy() // the list may be the cache's
		cell.Status.Writers = append(cell.Status.Writers, name)
		err := c.Status().Patch(b.ctx, cell, client.MergeFrom(&list.Items[0]))
		switch {
		case err == nil:
			n--
		case !apierrors.IsConflict(err):
			b.Error(err)
			return
		}
	}
}

// A transform that strips the status hides what is stored. A write is then sent, and never taken for one that changes nothing.
func TestS71_BehindACacheWithoutStatus(t *testing.T) {
	for _, row := range []struct {
		name  string
		write func(ctx context.Context, c client.Client, cell *v1.Cell) error
	}{
		{"Update", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			cell.Status.Phase = "Mine"
			return c.Status().Update(ctx, cell)
		}},
		{"Patch", func(ctx context.Context, c client.Client, cell *v1.Cell) error {
			base := cell.DeepCopy()
			cell.Status.Phase = "Mine"
			return c.Status().Patch(ctx, cell, client.MergeFrom(base))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t, func(s *v1.CellStatus) { s.Phase = "Theirs" })
			c := b.cached(cache.Options{DefaultTransform: func(obj any) (any, error) {
				if cell, ok := obj.(*v1.Cell); ok {
					cell.Status = v1.CellStatus{}
				}
				return obj, nil
			}}, nil)
			cell := &v1.Cell{}
			b.must(c.Get(b.ctx, b.key, cell))
			b.must(row.write(b.ctx, c, cell))
			if got := b.live().Status.Phase; got != "Mine" {
				t.Errorf("the phase is %q", got)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "none"}}
			if err := c.Get(b.ctx, client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
				t.Errorf("control: another kind: %v", err)
			}
		})
	}
}
