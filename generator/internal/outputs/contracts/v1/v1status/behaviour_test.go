package v1status

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statuspatcher/statuspatcher/generator/internal/outputs/contracts/shared"
	v1 "github.com/statuspatcher/statuspatcher/generator/internal/outputs/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher"
)

func newDeed(t *testing.T, status *v1.DeedStatus) (client.Client, client.ObjectKey) {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: "contracts.statuspatcher.dev", Version: "v1"}, &v1.Deed{})
	deed := &v1.Deed{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "u"}, Status: status}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(deed).WithStatusSubresource(deed).Build(), client.ObjectKeyFromObject(deed)
}

// A status that is a nil pointer has no values yet, and does not remove those that the base has.
func TestWriteOnceBehindAPointer(t *testing.T) {
	c, key := newDeed(t, nil)
	deed, p, err := NewDeedStatusClient(c, c).Fetch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := p.ClaimMadeBy(t.Context(), func() shared.Key { return "me" }); err != nil || made != "me" || deed.Status.MadeBy != "me" {
		t.Fatalf("%q, %v, the object has %+v", made, err, deed.Status)
	}
	volume := shared.Volume{Zone: "z", Name: "n"}
	if err := p.RecordStoreVolume(t.Context(), volume); err != nil || *deed.Status.Store.Volume != volume {
		t.Fatalf("%v, the object has %+v", err, deed.Status)
	}
	for name, edit := range map[string]func(){
		"store.volume": func() { deed.Status.Store.Volume.Name = "other" },
		"madeBy":       func() { deed.Status = nil },
	} {
		edit()
		_, err := p.Flush(t.Context())
		var once *patcher.WriteOnceError
		if !errors.As(err, &once) || once.Path != name {
			t.Errorf("%s: %v", name, err)
		}
		p.Discard()
	}
	deed.Status.Store = nil
	if _, err := p.Flush(t.Context()); err != nil {
		t.Errorf("a parent that goes: %v", err)
	}
}

func TestOwnersOfAStatusBehindAPointer(t *testing.T) {
	c, key := newDeed(t, nil)
	deed, store, err := NewDeedStoreStatusClient(c, c).Fetch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	other, gate, err := NewDeedGateStatusClient(c, c).Fetch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	store.SetCondition(metav1.Condition{Type: "Stored", Status: "True", Reason: "Done"})
	deed.Status.Store = &v1.Store{Ready: true}
	if _, err := store.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.Status = &v1.DeedStatus{Gates: []v1.Gate{{Controller: "example.com/gate", Name: "north", Open: true}}}
	if result, err := gate.Flush(t.Context()); err != nil || result != patcher.ResultRebased {
		t.Fatalf("%q, %v", result, err)
	}
	if other.Status.Store == nil || len(other.Status.Conditions) != 1 || len(other.Status.Gates) != 1 {
		t.Errorf("the object has %+v", other.Status)
	}
	other.Status.Gates[0].Controller = "example.com/other"
	var notOwned *patcher.NotOwnedError
	if _, err := gate.Flush(t.Context()); !errors.As(err, &notOwned) || notOwned.Path != "gates" {
		t.Errorf("%v", err)
	}
}
