package patcher

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Mode says what a wrapped client does with a blind status write: one that the API server would not check against the
// state it was decided on.
type Mode int

const (
	// Report reports blind status writes and changes no request.
	Report Mode = iota + 1
	// Lock adds the optimistic lock to them: a write whose object has changed since it was read fails with a conflict, which
	// apierrors.IsConflict reports, instead of overwriting the change. A write that changes nothing is not sent.
	Lock
	// Refuse returns ErrBlindStatusWrite for them and sends nothing, also if the object has no resourceVersion. A write that changes
	// nothing is not sent. Server-side apply is sent.
	Refuse
)

// ErrBlindStatusWrite is returned for a status write that no optimistic lock protects, by a client that was wrapped with
// Refuse. Nothing was written.
var ErrBlindStatusWrite = errors.New("blind status write")

// Wrap returns a client that checks every status write of objects of these kinds, whoever makes it: a helper behind an
// interface, generic code, a library. It is meant for operators with handwritten status writes:
//
//	c := patcher.Wrap(c, patcher.Lock, v1status.Kinds()...)
//
// A merge patch or JSON patch without a resourceVersion gets that of the object it is made of. An Update is locked
// already and stays one, see PatchUpdates. Requests for other kinds, other subresources and, unless mode is Refuse, objects
// without a resourceVersion pass as they are; Report counts them. Server-side apply is reported and never changed.
//
// The client is safe for concurrent use. It panics if c is nil or mode is none of the three.
func Wrap(c client.Client, mode Mode, kinds ...AnyKind) *WrappedClient {
	if c == nil {
		panic("statuspatcher: Wrap was given a nil client")
	}
	if mode != Report && mode != Lock && mode != Refuse {
		panic(fmt.Sprintf("statuspatcher: Wrap was given mode %d: pass patcher.Report, patcher.Lock or patcher.Refuse", mode))
	}
	return &WrappedClient{Client: c, live: NoLiveReader, mode: mode, kinds: bindKinds(c, NoLiveReader, kinds), report: newReport(), own: newOwnWrites(), successors: newSuccessors(), overtaken: newOvertaken()}
}

// NewClientFunc returns what the NewClient option of a manager takes: the client that the manager would have had, wrapped.
// Generated packages have one in mode Lock, as NewClient.
func NewClientFunc(mode Mode, kinds []AnyKind, opts ...WrapOption) client.NewClientFunc {
	return func(config *rest.Config, options client.Options) (client.Client, error) {
		c, err := client.New(config, options)
		if err != nil {
			return nil, err
		}
		options.Cache = nil
		live, err := client.New(config, options)
		if err != nil {
			return nil, err
		}
		return Wrap(c, mode, kinds...).With(append(opts, WithLiveReader(live))...), nil
	}
}

// A WrappedClient checks status writes. See Wrap.
type WrappedClient struct {
	client.Client
	live    client.Reader
	mode    Mode
	kinds   kinds
	options wrapOptions
	report  *report
	own     *ownWrites
	// successors are versions that a write of metadata or spec led to.
	successors *successors
	overtaken  *overtaken
}

// With returns a copy of the client that has the options; the client itself stays as it is. Both share what they remember and
// report.
func (w *WrappedClient) With(opts ...WrapOption) *WrappedClient {
	configured := *w
	configured.options.allowed = slices.Clone(w.options.allowed)
	for _, opt := range opts {
		opt(&configured)
	}
	return &configured
}

// Watch watches if the client that was wrapped can.
func (w *WrappedClient) Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	watcher, ok := w.Client.(client.WithWatch)
	if !ok {
		return nil, fmt.Errorf("the wrapped client, a %T, cannot watch: wrap a client.WithWatch", w.Client)
	}
	return watcher.Watch(ctx, list, opts...)
}

// unwrapped is the client that a StatusClient uses: its own writes are checked already.
func (w *WrappedClient) unwrapped() client.Client { return w.Client }

func (w *WrappedClient) clientOf(obj client.Object) anyClient {
	if kind := w.kinds.ofType(obj); kind != nil {
		return kind.client
	}
	return nil
}

// A WrapOption configures a wrapped client.
type WrapOption func(*WrappedClient)

type wrapOptions struct {
	patchUpdates bool
	allowed      []allowance
	observer     BlindWriteObserver
	reconcileID  func(context.Context) types.UID
}

// allowance is a writer that may write status of a kind blindly.
type allowance struct {
	kind AnyKind
	by   string
}

// PatchUpdates turns Status().Update into a locked patch of what changed, so that fields which the operator's Go type does
// not know are kept. The operator needs the verb patch on the status subresource.
func PatchUpdates() WrapOption { return func(w *WrappedClient) { w.options.patchUpdates = true } }

// AllowBlind lets a writer write the status of a kind without a lock, for controllers that share a status on purpose and
// write disjoint fields. by is the field owner of its requests, or the name of the function that makes them, itself or in a closure,
// such as "controller.(*Reconciler).mirror", with as much of the package path as is needed. What is allowed is still counted.
//
// It panics if kind is nil or by is empty.
func AllowBlind(kind AnyKind, by string) WrapOption {
	if kind == nil || by == "" {
		panic(fmt.Sprintf("statuspatcher: AllowBlind was given the kind %v and the writer %q: pass a generated kind, such as v1status.DatabaseKind, and a name", kind, by))
	}
	return func(w *WrappedClient) { w.options.allowed = append(w.options.allowed, allowance{kind, by}) }
}

// WithBlindWriteObserver reports every blind write to observer, as well as to the log.
func WithBlindWriteObserver(observer BlindWriteObserver) WrapOption {
	return func(w *WrappedClient) { w.options.observer = observer }
}

// WithLiveReader lets FlushObject read the state that an object was read in if neither memory nor the cache has it:
// mgr.GetAPIReader(). NewClientFunc sets it.
func WithLiveReader(live client.Reader) WrapOption {
	return func(w *WrappedClient) {
		w.live = live
		w.kinds = bindKinds(w.Client, live, w.kinds.all())
	}
}
