// Package reach has the ways by which code gets at a status writer, and what only looks like one.
package reach

import (
	"context"

	kcorev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "example.com/cells/api/v1"
)

type embedded struct{ client.Client }

type wider interface {
	client.Client
	Extra()
}

type updater interface {
	Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error
}

type writer struct{ client.SubResourceWriter }

func forms(ctx context.Context, e embedded, w wider, u updater, sw writer, sc client.StatusClient, cell *v1.Cell) error {
	if err := e.Status().Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := w.Status().Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := u.Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := sw.Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := sc.Status().Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	update := e.Status().Update
	if err := update(ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := client.SubResourceWriter.Update(e.Status(), ctx, cell); err != nil { // want `update: `
		return err
	}
	if err := e.SubResource("status").Update(ctx, cell); err != nil { // want `update: `
		return err
	}
	const name = "status"
	sub := e.SubResource(name)
	return sub.Update(ctx, cell) // want `update: `
}

func generic[C client.StatusClient, T client.Object](ctx context.Context, c C, obj T) error {
	return c.Status().Update(ctx, obj) // want `update: `
}

func clientsets(ctx context.Context, c kubernetes.Interface, d dynamic.ResourceInterface) error {
	pod, err := c.CoreV1().Pods("ns").Get(ctx, "x", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, err := c.CoreV1().Pods("ns").UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil { // want `update: `
		return err
	}
	u, err := d.Get(ctx, "x", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, err := d.Update(ctx, u, metav1.UpdateOptions{}, "status"); err != nil { // want `update: `
		return err
	}
	_, err = d.Update(ctx, u, metav1.UpdateOptions{})
	return err
}

func handedOn(e embedded) func(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return e.Status().Update // want `unknown: the writer's method is handed on`
}

// A client that hands on what it gets is no site; its callers are.
type delegating struct{ client.SubResourceWriter }

func (d delegating) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return d.SubResourceWriter.Update(ctx, obj, opts...)
}

func (d delegating) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return d.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

func useDelegating(ctx context.Context, d delegating, cell *v1.Cell) error {
	return d.Update(ctx, cell) // want `update: `
}

var funcs = interceptor.Funcs{
	SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
		return c.SubResource(name).Update(ctx, obj, opts...)
	},
}

func otherSubresources(ctx context.Context, e embedded, cell *v1.Cell) error {
	if err := e.SubResource("eviction").Create(ctx, cell, cell); err != nil {
		return err
	}
	return e.SubResource("scale").Update(ctx, cell)
}

type recorder struct{}

func (recorder) UpdateStatus(ctx context.Context, s string) error { return nil }

func unrelated(ctx context.Context, r recorder) error { return r.UpdateStatus(ctx, "x") }

// A client that tries several times hands on what it gets, too.
type retrying struct{ client.SubResourceWriter }

func (r retrying) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return try(func() error { return r.SubResourceWriter.Update(ctx, obj, opts...) })
}

func try(f func() error) error {
	if err := f(); err != nil {
		return f()
	}
	return nil
}

// A typed clientset that is wrapped hands on, too.
type measured struct{ corev1.NodeInterface }

func (m measured) PatchStatus(ctx context.Context, name string, data []byte) (*kcorev1.Node, error) {
	return m.NodeInterface.PatchStatus(ctx, name, data)
}

// It is a site where it writes something else.
type logging struct {
	client.SubResourceWriter
	entry *v1.Cell
}

func (l logging) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return try(func() error { return l.SubResourceWriter.Update(ctx, l.entry) }) // want `update: `
}
