package patcher

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Status().Apply and the type of its options exist since controller-runtime v0.23. This file builds with older versions, too, because it
// never names that type: the compiler infers O from the signature of the method.

// applyFunc is what Status().Apply does.
type applyFunc[O any] = func(ctx context.Context, obj runtime.ApplyConfiguration, opts ...O) error

// writerWithApply has an Apply method with every version of controller-runtime: that of the writer, or else the one of noApply, which
// is embedded deeper and therefore hidden by the writer's.
type writerWithApply struct {
	client.SubResourceWriter
	older
}

type older struct{ noApply }

type noApply struct{}

// Apply cannot be reached through client.SubResourceWriter, which has no such method where this one is not hidden.
func (noApply) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errors.New("this version of controller-runtime has no Status().Apply")
}

// wrappedWriter is a wrappedStatus that reports server-side apply.
type wrappedWriter[O any] struct {
	wrappedStatus
	apply applyFunc[O]
}

func newWrappedWriter[O any](s wrappedStatus, apply applyFunc[O]) *wrappedWriter[O] {
	return &wrappedWriter[O]{wrappedStatus: s, apply: apply}
}

// writerOf wraps the writer of a status subresource.
func (w *WrappedClient) writerOf(writer client.SubResourceWriter) client.SubResourceWriter {
	s := wrappedStatus{SubResourceWriter: writer, client: w}
	return newWrappedWriter(s, writerWithApply{SubResourceWriter: writer}.Apply)
}

// Apply implements client.SubResourceWriter of controller-runtime v0.23 and later.
func (s *wrappedWriter[O]) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...O) error {
	var fieldOwner string
	for _, opt := range opts {
		if owner, ok := any(opt).(client.FieldOwner); ok {
			fieldOwner = string(owner)
		}
	}
	s.client.reportApply(ctx, obj, fieldOwner)
	return s.apply(ctx, obj, opts...)
}

// reportApply reports an apply configuration that is sent to a status.
func (w *WrappedClient) reportApply(ctx context.Context, obj runtime.ApplyConfiguration, fieldOwner string) {
	applied := identityOfApplied(obj)
	kind := w.kinds.of(applied)
	if kind == nil {
		w.report.passed(PassedOtherKind)
		return
	}
	w.sendBlind(ctx, blindWrite{kind: kind, obj: applied, fieldOwner: fieldOwner, class: BlindApply, site: callSite()})
}

// identityOfApplied returns the kind, name and namespace of an apply configuration, as far as it has them.
func identityOfApplied(obj runtime.ApplyConfiguration) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	switch o := obj.(type) {
	case interface { // one made from an unstructured object
		GroupVersionKind() schema.GroupVersionKind
		GetNamespace() string
		GetName() string
	}:
		out.SetGroupVersionKind(o.GroupVersionKind())
		out.Namespace, out.Name = o.GetNamespace(), o.GetName()
	case interface { // a generated one
		GetAPIVersion() *string
		GetKind() *string
		GetNamespace() *string
		GetName() *string
	}:
		out.APIVersion, out.Kind = valueOf(o.GetAPIVersion()), valueOf(o.GetKind())
		out.Namespace, out.Name = valueOf(o.GetNamespace()), valueOf(o.GetName())
	}
	return out
}

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
