package patcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// siteBed is one Site, the kind with several owners, on the real server.
type siteBed struct {
	testing.TB
	ctx  context.Context
	wire *wire
	key  client.ObjectKey
}

// newSite creates a Site with a status that all owners have written, or with none.
func newSite(t testing.TB, status ...func(*contracts.SiteStatus)) *siteBed {
	t.Helper()
	w := newWire(t)
	site := &contracts.Site{ObjectMeta: metav1.ObjectMeta{
		Namespace: server.Namespace(t), Name: "a", Labels: map[string]string{"tier": "one"}, Annotations: map[string]string{"note": "first"},
	}}
	b := &siteBed{TB: t, ctx: t.Context(), wire: w, key: client.ObjectKeyFromObject(site)}
	b.must(w.Create(b.ctx, site))
	for _, set := range status {
		b.forge(set)
	}
	return b
}

func allOwners(s *contracts.SiteStatus) {
	s.Phase, s.Count, s.Tag, s.LastBackup = "Planned", 3, "t-1", "monday"
	s.Plan, s.Backup = &contracts.SitePlan{ID: "p-1", Note: "n-1"}, &contracts.SiteBackup{}
	s.Conditions = []metav1.Condition{{Type: "Planned", Status: "True", Reason: "R", LastTransitionTime: metav1.Now()}, {Type: "BackupSafe", Status: "False", Reason: "R", LastTransitionTime: metav1.Now()}}
}

func (b *siteBed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *siteBed) live() *contracts.Site {
	b.Helper()
	site := &contracts.Site{}
	b.must(b.wire.Get(b.ctx, b.key, site))
	return site
}

func (b *siteBed) forge(set func(*contracts.SiteStatus)) {
	b.Helper()
	site := b.live()
	set(&site.Status)
	b.must(b.wire.Status().Update(b.ctx, site))
}

func (b *siteBed) mutate(set func(*contracts.Site)) {
	b.Helper()
	site := b.live()
	set(site)
	b.must(b.wire.Update(b.ctx, site))
}

func (b *siteBed) backup() (*contracts.Site, *v1status.SiteBackupStatusPatcher) {
	b.Helper()
	site, p, err := v1status.NewSiteBackupStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
	b.must(err)
	return site, p
}

func (b *siteBed) tagger() (*contracts.Site, *v1status.SiteTaggerStatusPatcher) {
	b.Helper()
	site, p, err := v1status.NewSiteTaggerStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
	b.must(err)
	return site, p
}

// flusher is a patcher of any owner.
type flusher interface {
	Flush(ctx context.Context) (patcher.Result, error)
}

func (b *siteBed) flush(p flusher, want patcher.Result) {
	b.Helper()
	if got, err := p.Flush(b.ctx); err != nil || got != want {
		b.Fatalf("Flush: %q, %v; want %q", got, err, want)
	}
}

func (b *siteBed) conflict(p flusher, part string) {
	b.Helper()
	before := b.live().ResourceVersion
	_, err := p.Flush(b.ctx)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), part) {
		b.Errorf("Flush: %v, want a conflict that names %q", err, part)
	}
	if after := b.live().ResourceVersion; after != before {
		b.Error("it was written")
	}
}

var sitePatches = realserver.Requests("patch", "sites/status")

func TestS95_AnOwnerWritesWhatItOwns(t *testing.T) {
	t.Run("rule: its fields and its conditions", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p := b.backup()
		site.Status.Backup.Done, site.Status.LastBackup = true, "tuesday"
		p.SetCondition(metav1.Condition{Type: "BackupSafe", Status: "True", Reason: "Done"})
		b.flush(p, patcher.ResultPatched)
		if live := b.live().Status; !live.Backup.Done || live.LastBackup != "tuesday" || !meta.IsStatusConditionTrue(live.Conditions, "BackupSafe") || live.Plan.ID != "p-1" {
			t.Errorf("the server has %+v", live)
		}
	})
	t.Run("rule: a first write into an empty status", func(t *testing.T) {
		b := newSite(t)
		site, p := b.backup()
		site.Status.LastBackup = "tuesday"
		p.SetCondition(metav1.Condition{Type: "BackupSafe", Status: "True", Reason: "Done"})
		b.flush(p, patcher.ResultPatched)
	})
	for path, edit := range map[string]func(*contracts.SiteStatus){
		"phase":               func(s *contracts.SiteStatus) { s.Phase = "Mine" },
		"count":               func(s *contracts.SiteStatus) { s.Count = 0 },
		"plan":                func(s *contracts.SiteStatus) { s.Plan = nil },
		"plan.id":             func(s *contracts.SiteStatus) { s.Plan.ID = "p-2" },
		"slots":               func(s *contracts.SiteStatus) { s.Slots = &contracts.Slots{S01: 1} },
		"conditions[Planned]": func(s *contracts.SiteStatus) { s.Conditions[0].Reason = "Mine" },
		"conditions[Other]": func(s *contracts.SiteStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: "Other", Status: "True", Reason: "R"})
		},
	} {
		t.Run("rule: nothing else, before any request: "+path, func(t *testing.T) {
			b := newSite(t, allOwners)
			site, p := b.backup()
			site.Status.LastBackup = "tuesday" // which is fine
			edit(&site.Status)
			for name, write := range map[string]func() error{
				"Flush": func() error { _, err := p.Flush(b.ctx); return err },
				"Flush of a StatusClient": func() error {
					_, err := v1status.NewSiteBackupStatusClient(b.wire, b.wire).Flush(b.ctx, site)
					return err
				},
				"Retry": func() error {
					_, err := v1status.NewSiteBackupStatusClient(b.wire, b.wire).Retry(b.ctx, b.key, func(s *contracts.Site) error { edit(&s.Status); return nil })
					return err
				},
			} {
				var err error
				sent := b.wire.during(func() { err = write() })
				var notOwned *patcher.NotOwnedError
				if !errors.As(err, &notOwned) || slices.ContainsFunc(sent, sitePatches) {
					t.Fatalf("%s: %v, sent %v", name, err, sent)
				}
				if want := (patcher.NotOwnedError{Kind: "Site", Key: b.key, Owner: "backup", Path: path}); *notOwned != want {
					t.Errorf("%s: got %+v, want %+v", name, *notOwned, want)
				}
			}
		})
	}
	t.Run("control: the kind's own client writes it", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p, err := v1status.NewSiteStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		site.Status.Phase = "Mine"
		b.flush(p, patcher.ResultPatched)
	})
}

func TestS96_AnOwnerIsRebased(t *testing.T) {
	foreign := map[string]func(b *siteBed){
		"another owner's field": func(b *siteBed) {
			b.forge(func(s *contracts.SiteStatus) { s.Phase, s.Count, s.Tag = "Later", 9, "t-2" })
		},
		"another owner's condition": func(b *siteBed) {
			b.forge(func(s *contracts.SiteStatus) {
				meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: "Other", Status: "True", Reason: "R"})
			})
		},
		"a part of an object it reads of":  func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Plan.Note = "n-2" }) },
		"a finalizer":                      func(b *siteBed) { b.mutate(func(s *contracts.Site) { s.Finalizers = []string{"example.com/f"} }) },
		"a blind patch of another field":   func(b *siteBed) { b.blind(`{"status":{"tag":"t-2"}}`) },
		"a required null that is replaced": func(b *siteBed) { b.blind(`{"status":{"holder":"somebody"}}`) },
	}
	for name, between := range foreign {
		t.Run("rule: over "+name, func(t *testing.T) {
			b := newSite(t, allOwners)
			site, p := b.backup()
			between(b)
			before := b.live()
			site.Status.LastBackup = "tuesday"
			p.SetCondition(metav1.Condition{Type: "BackupSafe", Status: "True", Reason: "Done"})
			b.flush(p, patcher.ResultRebased)
			live := b.live()
			want := before.Status.DeepCopy()
			want.LastBackup = "tuesday"
			meta.SetStatusCondition(&want.Conditions, *meta.FindStatusCondition(live.Status.Conditions, "BackupSafe"))
			requireSame(t, live.Status, *want)
			requireSame(t, site.Status, *want)
			if !slices.Equal(live.Finalizers, site.Finalizers) || live.ResourceVersion != site.ResourceVersion {
				t.Errorf("the object has %+v, the server %+v", site.ObjectMeta, live.ObjectMeta)
			}
			site.Status.LastBackup = "wednesday" // and on from there
			b.flush(p, patcher.ResultPatched)
		})
	}
	t.Run("rule: what is ignored stays as it was seen", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p := b.tagger()
		for i := range 2 {
			b.mutate(func(s *contracts.Site) {
				s.Labels["tier"] = fmt.Sprint("two-", i)
				s.Annotations["note"] = "x"
				s.Spec.Size++
			})
			site.Status.Tag = fmt.Sprint("mine-", i)
			b.flush(p, patcher.ResultRebased)
			if site.Labels["tier"] != "one" || site.Generation == b.live().Generation {
				t.Errorf("the object has %+v", site.ObjectMeta)
			}
		}
	})
	t.Run("rule: required nulls of others survive", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p := b.backup()
		b.blind(`{"status":{"tag":"t-2"}}`)
		site.Status.LastBackup = "tuesday"
		b.flush(p, patcher.ResultRebased)
		raw := newUnstructuredSite(b)
		b.must(b.wire.Get(b.ctx, b.key, raw))
		if status := raw.Object["status"].(map[string]any); !hasNullAt(status, "holder") || status["count"] != int64(3) {
			t.Errorf("the server has %v", status)
		}
	})
	t.Run("rule: a write that has landed already is not sent again", func(t *testing.T) {
		b := newSite(t, allOwners)
		w := &wire{}
		fault := realserver.NewFault(sitePatches, realserver.Timeout(), realserver.AfterCommit(), realserver.Times(1))
		w.WithWatch = server.Client(t, newScheme(t), fault.Wrap, w.recorder.Wrap)
		site, p, err := v1status.NewSiteBackupStatusClient(w, w).Fetch(b.ctx, b.key)
		b.must(err)
		site.Status.LastBackup = "tuesday"
		if _, err := p.Flush(b.ctx); !errors.Is(err, patcher.ErrUnknownOutcome) {
			t.Fatalf("Flush: %v", err)
		}
		b.flush(p, patcher.ResultUnchanged)
		site.Status.LastBackup = "wednesday"
		b.flush(p, patcher.ResultPatched)
	})
	t.Run("control: the refused bytes, sent again, erase another owner's fields", func(t *testing.T) {
		b := newSite(t, func(s *contracts.SiteStatus) { s.Holder = nil })
		site, _ := b.backup()
		base := site.DeepCopy()
		meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{Type: "BackupSafe", Status: "True", Reason: "R"})
		body, err := client.MergeFrom(base).Data(site)
		b.must(err)
		b.forge(func(s *contracts.SiteStatus) {
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: "Planned", Status: "True", Reason: "R"})
		})
		b.blind(string(body))
		if meta.FindStatusCondition(b.live().Status.Conditions, "Planned") != nil {
			t.Error("the foreign condition survived: the tests above prove nothing")
		}
	})
}

func TestS97_ADecisionThatHasChangedConflicts(t *testing.T) {
	for part, between := range map[string]func(b *siteBed){
		"status.plan.id":                        func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Plan.ID = "p-2" }) },
		"status.plan.id, gone":                  func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Plan = nil }) },
		"status.conditions[Planned]":            func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Conditions[0].Reason = "New" }) },
		"its own status.lastBackup":             func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.LastBackup = "sunday" }) },
		"its own status.backup":                 func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Backup = nil }) },
		"its own status.conditions[BackupSafe]": func(b *siteBed) { b.forge(func(s *contracts.SiteStatus) { s.Conditions = s.Conditions[:1] }) },
		"metadata.labels":                       func(b *siteBed) { b.mutate(func(s *contracts.Site) { s.Labels["tier"] = "two" }) },
		"metadata.annotations":                  func(b *siteBed) { b.mutate(func(s *contracts.Site) { s.Annotations["note"] = "two" }) },
		"the spec":                              func(b *siteBed) { b.mutate(func(s *contracts.Site) { s.Spec.Size++ }) },
		"metadata.deletionTimestamp": func(b *siteBed) {
			b.must(b.wire.Delete(b.ctx, b.live()))
		},
		"the UID": func(b *siteBed) {
			site := b.live()
			site.Finalizers = nil
			b.must(b.wire.Update(b.ctx, site))
			b.must(b.wire.Delete(b.ctx, site))
			site.UID, site.ResourceVersion = "", ""
			b.must(b.wire.Create(b.ctx, site))
			b.forge(allOwners)
		},
	} {
		t.Run("rule: "+part, func(t *testing.T) {
			b := newSite(t, allOwners)
			b.mutate(func(s *contracts.Site) { s.Finalizers = []string{"example.com/f"} })
			site, p := b.backup()
			between(b)
			site.Status.LastBackup = "tuesday"
			name, _, _ := strings.Cut(part, ", ")
			b.conflict(p, name)
			b.conflict(p, name) // and it is not sent again
			b.must(p.Refresh(b.ctx))
		})
	}
	t.Run("rule: metadata that is declared", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p := b.tagger()
		b.mutate(func(s *contracts.Site) { s.Finalizers = []string{"example.com/f"} })
		site.Status.Tag = "mine"
		b.conflict(p, "finalizers")
		site, p = b.tagger()
		b.mutate(func(s *contracts.Site) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: types.UID("u")}}
		})
		site.Status.Tag = "mine"
		b.conflict(p, "ownerReferences")
	})
	t.Run("rule: without reads, any change of the object", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p, err := v1status.NewSiteNoterStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		b.forge(func(s *contracts.SiteStatus) { s.Tag = "t-2" })
		site.Status.Plan.Note = "mine"
		b.conflict(p, "changed since it was read")
	})
	t.Run("control: what is declared by nobody is rebased", func(t *testing.T) {
		b := newSite(t, allOwners)
		site, p := b.backup()
		b.forge(func(s *contracts.SiteStatus) { s.Tag = "t-2" })
		site.Status.LastBackup = "tuesday"
		b.flush(p, patcher.ResultRebased)
	})
}

func (b *siteBed) blind(body string) {
	b.Helper()
	b.must(b.wire.Status().Patch(b.ctx, b.live(), client.RawPatch(types.MergePatchType, []byte(body))))
}

func requireSame(t testing.TB, got, want contracts.SiteStatus) {
	t.Helper()
	gotJSON, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("got\n%s, want\n%s", gotJSON, wantJSON)
	}
}

func newUnstructuredSite(b *siteBed) *unstructured.Unstructured {
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(contracts.GroupVersion.WithKind("Site"))
	raw.SetNamespace(b.key.Namespace)
	raw.SetName(b.key.Name)
	return raw
}

func hasNullAt(object map[string]any, name string) bool {
	value, there := object[name]
	return there && value == nil
}
