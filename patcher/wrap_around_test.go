package patcher_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

func lockIn(c client.Client) client.Client {
	return patcher.Wrap(c, patcher.Lock, v1status.Kinds()...)
}

// Other clients may be put above and below a wrapped one, and it goes on locking.
func TestWrap_AmongOtherClients(t *testing.T) {
	asInterceptor := func(c client.Client) client.Client {
		return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{})
	}
	for name, around := range map[string]func(client.Client) client.Client{
		"no other client":                   lockIn,
		"above WithFieldOwner":              func(c client.Client) client.Client { return lockIn(client.WithFieldOwner(c, "me")) },
		"below WithFieldOwner":              func(c client.Client) client.Client { return client.WithFieldOwner(lockIn(c), "me") },
		"above WithFieldValidation":         func(c client.Client) client.Client { return lockIn(client.WithFieldValidation(c, "Strict")) },
		"below WithFieldValidation":         func(c client.Client) client.Client { return client.WithFieldValidation(lockIn(c), "Strict") },
		"above NewNamespacedClient":         func(c client.Client) client.Client { return lockIn(client.NewNamespacedClient(c, "default")) },
		"below NewNamespacedClient":         func(c client.Client) client.Client { return client.NewNamespacedClient(lockIn(c), "default") },
		"above an interceptor":              func(c client.Client) client.Client { return lockIn(asInterceptor(c)) },
		"below an interceptor":              func(c client.Client) client.Client { return asInterceptor(lockIn(c)) },
		"above another wrapped one":         func(c client.Client) client.Client { return lockIn(lockIn(c)) },
		"inside of a client that embeds it": func(c client.Client) client.Client { return struct{ client.Client }{lockIn(c)} },
	} {
		t.Run(name, func(t *testing.T) {
			s := &sent{}
			bare := s.recording(newFake(t, newCellWithStatus(0)))
			c, key := around(bare), client.ObjectKeyFromObject(newCell(0))
			cell, other := &v1.Cell{}, &v1.Cell{}
			mustNot(t, c.Get(t.Context(), key, cell))
			mustNot(t, bare.Get(t.Context(), key, other))
			mustNot(t, c.Status().Update(t.Context(), cell))
			if len(s.writes) != 0 {
				t.Errorf("sent %q, though nothing changed", s.writes)
			}
			phase(other)
			mustNot(t, bare.Status().Update(t.Context(), other))

			stale := cell.DeepCopy()
			stale.Status.Plan = &v1.Plan{ID: "stale"}
			if err := c.Status().Patch(t.Context(), stale, client.MergeFrom(cell)); !apierrors.IsConflict(err) {
				t.Errorf("a stale patch: %v, expected a conflict", err)
			}
			mustNot(t, c.Get(t.Context(), key, cell))
			newest := cell.DeepCopy()
			newest.Status.Plan = &v1.Plan{ID: "newest"}
			mustNot(t, c.Status().Patch(t.Context(), newest, client.MergeFrom(cell)))
			mustNot(t, bare.Get(t.Context(), key, other))
			if other.Status.Plan == nil || other.Status.Phase != "Ready" {
				t.Errorf("control: a patch of the newest version left the status %+v", other.Status)
			}
		})
	}
}

// The place of a write is in the operator, also if a helper of controller-runtime makes it.
func TestWrap_PlaceOfCreateOrPatch(t *testing.T) {
	w := patcher.Wrap(newFake(t, newCell(0)), patcher.Report, v1status.Kinds()...)
	cell := newCell(0)
	_, err := controllerutil.CreateOrPatch(t.Context(), w, cell, func() error {
		cell.Status.Phase = "Ready"
		return nil
	})
	mustNot(t, err)
	if report := w.Report(); len(report.Blind) != 1 || !strings.HasSuffix(report.Blind[0].Site.Function, ".TestWrap_PlaceOfCreateOrPatch") {
		t.Errorf("the report is %v", report)
	}
}

// A dry run stores nothing, wherever it is asked for.
func TestWrap_OverADryRunClient(t *testing.T) {
	bare := newFake(t, newCell(0))
	w := lockIn(client.NewDryRunClient(bare))
	cell := &v1.Cell{}
	mustNot(t, w.Get(t.Context(), client.ObjectKeyFromObject(newCell(0)), cell))
	tried := cell.DeepCopy()
	base := phase(tried)
	mustNot(t, w.Status().Patch(t.Context(), tried, client.MergeFrom(base)))
	phase(cell)
	s := &sent{}
	w2 := patcher.Wrap(s.recording(bare), patcher.Lock, v1status.Kinds()...)
	mustNot(t, w2.Get(t.Context(), client.ObjectKeyFromObject(cell), &v1.Cell{}))
	mustNot(t, w2.Status().Update(t.Context(), cell))
	if len(s.writes) != 1 {
		t.Errorf("after a dry run sent %q, expected the Update", s.writes)
	}
}

// The fake client has the status subresource only of kinds that it was told of. For others the status is written with the object.
func TestWrap_FakeWithoutStatusSubresource(t *testing.T) {
	for _, row := range []struct {
		name    string
		builder func(*fake.ClientBuilder) *fake.ClientBuilder
		landed  bool
	}{
		{"without", func(b *fake.ClientBuilder) *fake.ClientBuilder { return b }, true},
		{"control: with", func(b *fake.ClientBuilder) *fake.ClientBuilder { return b.WithStatusSubresource(&v1.Cell{}) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			bare := row.builder(fake.NewClientBuilder().WithScheme(newFake(t).Scheme())).WithObjects(newCell(0)).Build()
			w := lockIn(bare)
			cell, got := &v1.Cell{}, &v1.Cell{}
			key := client.ObjectKeyFromObject(newCell(0))
			mustNot(t, w.Get(t.Context(), key, cell))
			cell.Status.Phase = "Ready"
			mustNot(t, w.Update(t.Context(), cell))
			mustNot(t, bare.Get(t.Context(), key, got))
			if landed := got.Status.Phase == "Ready"; landed != row.landed {
				t.Errorf("the status that an Update of the object has landed: %v, expected %v", landed, row.landed)
			}
			// What Wrap remembers of it is what was stored: the same Update of the status is sent if the one before was not stored.
			cell.Status.Phase = "Ready"
			err := w.Status().Update(t.Context(), cell)
			mustNot(t, client.IgnoreNotFound(err))
			mustNot(t, bare.Get(t.Context(), key, got))
			if got.Status.Phase != "Ready" {
				t.Errorf("the phase is %q", got.Status.Phase)
			}
		})
	}
}

// Objects of other Go types are objects of their kind.
func TestWrap_OtherGoTypes(t *testing.T) {
	gvk := v1.GroupVersion.WithKind("Cell")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Mine"}}`))
	for _, row := range []struct {
		name string
		obj  client.Object
	}{
		{"PartialObjectMetadata", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}}},
		{"unstructured", func() client.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			return u
		}()},
		{"unstructured of another version", func() client.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk.GroupKind().WithVersion("v2"))
			return u
		}()},
		{"typed of a type of the operator's own", &localCell{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &sent{}
			bare := newFake(t, newCell(0))
			bare.Scheme().AddKnownTypeWithName(gvk.GroupVersion().WithKind("Cell").GroupKind().WithVersion("v3"), &localCell{})
			w := patcher.Wrap(s.recording(bare), patcher.Lock, v1status.Kinds()...)
			row.obj.SetNamespace("default")
			row.obj.SetName("cell-0")
			row.obj.SetResourceVersion("7")
			_ = w.Status().Patch(t.Context(), row.obj, patch) // stale, or of a version that is not served
			if want := `merge-patch {"metadata":{"resourceVersion":"7"},"status":{"phase":"Mine"}}`; strings.Join(s.writes, ";") != want {
				t.Errorf("sent %q, expected %q", s.writes, want)
			}
		})
	}
}

// localCell is another Go type of the same kind.
type localCell struct{ v1.Cell }

// The fake client assigns no UIDs, and the versions of a new object begin anew.
func TestWrap_AnotherObjectOfTheSameName(t *testing.T) {
	ctx := t.Context()
	live := func(c client.Client) *v1.Cell {
		cell := &v1.Cell{}
		mustNot(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "cell-0"}, cell))
		return cell
	}
	create := func(c client.Client) *v1.Cell {
		cell := newCell(0)
		cell.UID = ""
		mustNot(t, c.Create(ctx, cell))
		return cell
	}
	patch := func(c client.Client, cell *v1.Cell, set func(*v1.CellStatus)) {
		base := cell.DeepCopy()
		set(&cell.Status)
		mustNot(t, c.Status().Patch(ctx, cell, client.MergeFrom(base)))
	}
	label := func(c client.Client, cell *v1.Cell, value string) {
		cell.Labels = map[string]string{"label": value}
		mustNot(t, c.Update(ctx, cell))
	}
	oneReconcile := patcher.WithReconcileID(func(context.Context) types.UID { return "one" })
	c := patcher.Wrap(newFake(t), patcher.Lock, v1status.Kinds()...).With(oneReconcile)
	first := create(c)
	label(c, first, "a")
	label(c, first, "b")
	patch(c, first, func(s *v1.CellStatus) { s.Phase, s.Counter = "First", 1 })
	last := first.ResourceVersion
	mustNot(t, c.Delete(ctx, first))

	second := create(c)
	read := second.DeepCopy()
	label(c, second, "c")
	patch(c, read.DeepCopy(), func(s *v1.CellStatus) { s.Plan = &v1.Plan{ID: "a"} }) // not locked to a version of the first object
	if got := live(c).Status; got.Phase != "" || got.Plan == nil {
		t.Errorf("the second object's status is %+v", got)
	}
	label(c, live(c), "b")
	second = live(c)
	if second.ResourceVersion != last {
		t.Fatalf("control: version %s, not %s as that of the first object", second.ResourceVersion, last)
	}
	second.Status = v1.CellStatus{Phase: "First", Counter: 1} // as that of the first object
	mustNot(t, c.Status().Update(ctx, second))
	if got := live(c).Status; got.Phase != "First" {
		t.Errorf("the Update was dropped: %+v", got)
	}
}

// A cache may share its objects, and somebody may edit one although that is not allowed.
func TestWrap_AnEditedObjectOfASharedCache(t *testing.T) {
	s := &sent{}
	bare := s.recording(newFake(t, newCell(0)))
	shared := &v1.Cell{}
	mustNot(t, bare.Get(t.Context(), client.ObjectKeyFromObject(newCell(0)), shared))
	w := lockIn(interceptor.NewClient(bare, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			*obj.(*v1.Cell) = *shared
			return nil
		},
	}))
	mustNot(t, w.Get(t.Context(), client.ObjectKeyFromObject(shared), &v1.Cell{}))
	phase(shared)
	cell := &v1.Cell{}
	mustNot(t, w.Get(t.Context(), client.ObjectKeyFromObject(shared), cell))
	mustNot(t, w.Status().Update(t.Context(), cell))
	if len(s.writes) != 1 {
		t.Errorf("sent %q, expected the Update", s.writes)
	}
	mustNot(t, w.Status().Update(t.Context(), cell))
	if len(s.writes) != 1 {
		t.Errorf("control: sent %q, though nothing changed", s.writes)
	}
}

// A blind patch never conflicted, so RetryOnConflict around it was without effect. Behind a wrapped client it retries, and helps if it
// reads the object again.
func TestWrap_RetryOnConflict(t *testing.T) {
	for _, row := range []struct {
		name   string
		reread bool
	}{{"that reads again", true}, {"control: of one stale object", false}} {
		t.Run(row.name, func(t *testing.T) {
			s := &sent{}
			bare := s.recording(newFake(t, newCell(0)))
			w, key := lockIn(bare), client.ObjectKeyFromObject(newCell(0))
			cell, other := &v1.Cell{}, &v1.Cell{}
			mustNot(t, w.Get(t.Context(), key, cell))
			mustNot(t, bare.Get(t.Context(), key, other))
			phase(other)
			mustNot(t, bare.Status().Update(t.Context(), other))
			s.writes = nil
			attempts := 0
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
				attempts++
				if row.reread && attempts > 1 {
					mustNot(t, w.Get(t.Context(), key, cell))
				}
				base := cell.DeepCopy()
				base.Status.Counter = 0
				cell.Status.Counter = 1
				return w.Status().Patch(t.Context(), cell, client.MergeFrom(base))
			})
			mustNot(t, bare.Get(t.Context(), key, other))
			if landed := other.Status.Counter == 1; landed != row.reread || apierrors.IsConflict(err) == row.reread || other.Status.Phase != "Ready" {
				t.Errorf("%d attempts: %v, and the status is %+v", attempts, err, other.Status)
			}
		})
	}
}
