package patcher_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

// Fetch and Get pass their options to the client. A live read that follows must not get them: with resourceVersion "0", which
// the API server may answer from its own cache, it would not be live.
func TestGetOptions(t *testing.T) {
	asked := func(t *testing.T, superseded bool, read func(*v1status.CellStatusClient, client.ObjectKey, ...client.GetOption) error, opts ...client.GetOption) (cached, live []client.GetOption) {
		noting := func(c client.WithWatch, to *[]client.GetOption) client.WithWatch {
			return &pointer{interceptor.NewClient(c, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					*to = append(*to, opts...)
					return c.Get(ctx, key, obj, opts...)
				},
			})}
		}
		store := newFake(t, newCell(0))
		cache := frozen(t, store)
		statuses := v1status.NewCellStatusClient(noting(cache, &cached), noting(store, &live))
		key := client.ObjectKeyFromObject(newCell(0))
		if superseded {
			_, err := statuses.Retry(t.Context(), key, func(c *v1.Cell) error { c.Status.Counter++; return nil })
			mustNot(t, err)
		}
		mustNot(t, read(statuses, key, opts...))
		return cached, live
	}
	fromAPIServersCache := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
	for name, read := range map[string]func(*v1status.CellStatusClient, client.ObjectKey, ...client.GetOption) error{
		"Fetch": func(sc *v1status.CellStatusClient, key client.ObjectKey, opts ...client.GetOption) error {
			_, _, err := sc.Fetch(t.Context(), key, opts...)
			return err
		},
		"Get": func(sc *v1status.CellStatusClient, key client.ObjectKey, opts ...client.GetOption) error {
			return sc.Get(t.Context(), key, &v1.Cell{}, opts...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, superseded := range []bool{false, true} {
				cached, live := asked(t, superseded, read, fromAPIServersCache)
				if len(cached) != 1 || cached[0] != client.GetOption(fromAPIServersCache) || len(live) != 0 {
					t.Errorf("superseded %v: the client got %v, the live reader %v", superseded, cached, live)
				}
			}
			t.Run("control: without options there are none", func(t *testing.T) {
				if cached, live := asked(t, true, read); len(cached) != 0 || len(live) != 0 {
					t.Errorf("the client got %v, the live reader %v", cached, live)
				}
			})
		})
	}
}
