package patcher_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/patcher"
	contracts "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/contracts/v1/v1status"
)

const gatewayName = "example.com/gateway"

// Entries as others write them, with members that the Go type does not know.
const (
	mesh   = `{"controllerName":"example.com/mesh","newer":{"a":1},"parentRef":{"name":"one","newer":true}}`
	theirs = `{"controllerName":"example.com/other","note":"theirs","parentRef":{"name":"one"}}`
	own    = `{"controllerName":"example.com/gateway","newer":"kept","note":"mine","parentRef":{"name":"one"}}`
)

func (b *siteBed) setParents(entries ...string) {
	b.Helper()
	b.blind(`{"status":{"count":0,"holder":"h","parents":[` + strings.Join(entries, ",") + `]}}`)
}

// requireParents compares with what the server has, member by member and in order.
func (b *siteBed) requireParents(want ...string) {
	b.Helper()
	raw := newUnstructuredSite(b)
	b.must(b.wire.Get(b.ctx, b.key, raw))
	list, _ := raw.Object["status"].(map[string]any)["parents"].([]any)
	var got []string
	for _, entry := range list {
		text, err := json.Marshal(entry)
		b.must(err)
		got = append(got, string(text))
	}
	if !slices.Equal(got, want) {
		b.Errorf("the server has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (b *siteBed) gateway() (*contracts.Site, *v1status.SiteGatewayStatusPatcher) {
	b.Helper()
	site, p, err := v1status.NewSiteGatewayStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
	b.must(err)
	return site, p
}

// setNote changes the gateway's entry for a parent, or adds it.
func setNote(s *contracts.SiteStatus, parent, note string) {
	i := slices.IndexFunc(s.Parents, func(p contracts.Parent) bool { return p.ControllerName == gatewayName && p.ParentRef.Name == parent })
	if i < 0 {
		s.Parents = append(s.Parents, contracts.Parent{ControllerName: gatewayName, ParentRef: contracts.ParentRef{Name: parent}})
		i = len(s.Parents) - 1
	}
	s.Parents[i].Note = note
}

func TestS96_EntriesOfAListAreRebased(t *testing.T) {
	const (
		added   = `{"controllerName":"example.com/gateway","note":"new","parentRef":{"name":"two"}}`
		changed = `{"controllerName":"example.com/gateway","newer":"kept","note":"new","parentRef":{"name":"one"}}`
	)
	for _, row := range []struct {
		name           string
		before, during []string // what the list has when it is read, and when it is written; nil for the same
		edit           func(*contracts.SiteStatus)
		want           []string
	}{
		{"an entry is added to none", []string{}, nil, func(s *contracts.SiteStatus) { setNote(s, "two", "new") }, []string{added}},
		{"an entry is added", []string{mesh, theirs}, nil, func(s *contracts.SiteStatus) { setNote(s, "two", "new") }, []string{mesh, theirs, added}},
		{"an entry is changed", []string{mesh, own, theirs}, nil, func(s *contracts.SiteStatus) { setNote(s, "one", "new") }, []string{mesh, changed, theirs}},
		{"an entry is removed", []string{mesh, own, theirs}, nil, func(s *contracts.SiteStatus) { s.Parents = slices.Delete(s.Parents, 1, 2) }, []string{mesh, theirs}},
		{"added, while others come", []string{mesh}, []string{theirs, mesh}, func(s *contracts.SiteStatus) { setNote(s, "two", "new") }, []string{theirs, mesh, added}},
		{"changed, while others change places", []string{mesh, own, theirs}, []string{theirs, mesh, own}, func(s *contracts.SiteStatus) { setNote(s, "one", "new") }, []string{theirs, mesh, changed}},
		{"removed, while others go", []string{mesh, own, theirs}, []string{own, theirs}, func(s *contracts.SiteStatus) { s.Parents = slices.Delete(s.Parents, 1, 2) }, []string{theirs}},
		{"added, while all others go", []string{mesh}, []string{}, func(s *contracts.SiteStatus) { setNote(s, "two", "new") }, []string{added}},
	} {
		t.Run("rule: "+row.name, func(t *testing.T) {
			b := newSite(t)
			b.setParents(row.before...)
			site, p := b.gateway()
			result := patcher.ResultPatched
			if row.during != nil {
				b.setParents(row.during...)
				result = patcher.ResultRebased
			}
			row.edit(&site.Status)
			b.flush(p, result)
			b.requireParents(row.want...)
			b.flush(p, patcher.ResultUnchanged)
			if live := b.live(); !reflect.DeepEqual(live.Status.Parents, site.Status.Parents) {
				t.Errorf("the object has %+v, the server %+v", site.Status.Parents, live.Status.Parents)
			}
		})
	}
	t.Run("rule: an entry of another controller is not the owner's", func(t *testing.T) {
		b := newSite(t)
		b.setParents(mesh, own)
		site, p := b.gateway()
		site.Status.Parents[0].Note = "mine"
		_, err := p.Flush(b.ctx)
		var notOwned *patcher.NotOwnedError
		if !errors.As(err, &notOwned) || notOwned.Path != "parents" {
			t.Errorf("%v", err)
		}
	})
	t.Run("rule: of two entries with the same keys none is taken for the owner's", func(t *testing.T) {
		b := newSite(t)
		b.setParents(own, mesh, own)
		site, p := b.gateway()
		setNote(&site.Status, "one", "new")
		if _, err := p.Flush(b.ctx); err == nil || !strings.Contains(err.Error(), "two entries with the same keys") {
			t.Errorf("%v", err)
		}
		b.requireParents(own, mesh, own)
	})
	t.Run("rule: two entries of others with the same keys do no harm", func(t *testing.T) {
		b := newSite(t)
		b.setParents(mesh, own, mesh)
		site, p := b.gateway()
		setNote(&site.Status, "one", "new")
		b.flush(p, patcher.ResultPatched)
		b.requireParents(mesh, changed, mesh)
	})
	t.Run("control: the kind's own client drops what it does not know", func(t *testing.T) {
		b := newSite(t)
		b.setParents(mesh)
		site, p, err := v1status.NewSiteStatusClient(b.wire, b.wire).Fetch(b.ctx, b.key)
		b.must(err)
		setNote(&site.Status, "two", "new")
		b.flush(p, patcher.ResultPatched)
		b.requireParents(`{"controllerName":"example.com/mesh","parentRef":{"name":"one"}}`, added)
	})
}

func TestS97_AnOwnersEntryThatOthersWrite(t *testing.T) {
	edited := strings.Replace(own, "mine", "theirs", 1)
	for name, row := range map[string]struct{ before, during []string }{
		"edited":  {[]string{mesh, own}, []string{mesh, edited}},
		"removed": {[]string{mesh, own}, []string{mesh}},
		"added":   {[]string{mesh}, []string{mesh, own}},
	} {
		t.Run("rule: "+name, func(t *testing.T) {
			b := newSite(t)
			b.setParents(row.before...)
			site, p := b.gateway()
			b.setParents(row.during...)
			setNote(&site.Status, "one", "new")
			b.conflict(p, "its own entries of status.parents")
			b.requireParents(row.during...)
		})
	}
	t.Run("control: an entry of others", func(t *testing.T) {
		b := newSite(t)
		b.setParents(mesh, own)
		site, p := b.gateway()
		b.setParents(mesh, own, theirs)
		setNote(&site.Status, "one", "new")
		b.flush(p, patcher.ResultRebased)
	})
}
