package patcher_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// says is what an error tells of the write.
type says string

const (
	saysNothing    says = "no error"
	saysConflict   says = "not landed: conflict"
	saysNotWritten says = "not landed"
	saysUnknown    says = "unknown"
)

func read(err error) says {
	switch {
	case err == nil:
		return saysNothing
	case errors.Is(err, patcher.ErrUnknownOutcome):
		return saysUnknown
	case apierrors.IsConflict(err) && strings.Contains(err.Error(), "nothing was written"):
		return saysConflict
	case strings.Contains(err.Error(), "not written"), strings.Contains(err.Error(), "Refresh"), apierrors.IsNotFound(err):
		return saysNotWritten
	}
	return says("not told: " + err.Error())
}

// faulty is one way in which a request goes wrong.
type faulty struct {
	name   string
	answer func(cancel func()) realserver.Answer
	// write is what a write says of it when it is struck once and does not retry by itself.
	write says
	// transparent: client-go tries again by itself, and the fault is not seen.
	transparent bool
}

var faults = []faulty{
	{"409", always(realserver.Conflict()), saysConflict, false},
	{"429 with Retry-After", always(realserver.TooManyRequests(0)), saysNothing, true},
	{"500", always(realserver.InternalError()), saysUnknown, false},
	{"503", always(unavailable), saysUnknown, false},
	{"504", always(realserver.GatewayTimeout()), saysUnknown, false},
	{"connection reset", always(realserver.ConnectionReset()), saysUnknown, false},
	{"timeout", always(realserver.Timeout()), saysUnknown, false},
	{"context cancelled", func(cancel func()) realserver.Answer {
		return func(realserver.Request) (*http.Response, error) { cancel(); return nil, context.Canceled }
	}, saysUnknown, false},
}

func always(answer realserver.Answer) func(func()) realserver.Answer {
	return func(func()) realserver.Answer { return answer }
}

// unavailable is what a proxy answers that lost its connection to the server, before or after the request was passed on.
func unavailable(r realserver.Request) (*http.Response, error) {
	resp, err := realserver.InternalError()(r)
	resp.StatusCode, resp.Status = http.StatusServiceUnavailable, "503 Service Unavailable"
	resp.Header.Set("Content-Type", "text/plain")
	resp.Body = http.NoBody
	resp.ContentLength = 0
	return resp, err
}

// mine is the edit of every row: whoever finds it there does not make it again.
func mine(cell *v1.Cell) error {
	if !slices.Contains(cell.Status.Writers, "mine") {
		cell.Status.Writers = append(cell.Status.Writers, "mine")
	}
	return nil
}

// point is a request that the runtime makes: the nth that matches while act runs.
type point struct {
	name  string
	match realserver.Match
	nth   int
	opts  []patcher.Option
	// act makes the edit and calls the runtime.
	act func(ctx context.Context, b *bed, p *v1status.CellStatusPatcher) error
	// foreign counts the writes of others while act runs.
	foreign int
	// retries: a conflict here is not the end.
	retries bool
	// lost is what a read says that failed.
	lost says
}

var (
	statusPatches   = realserver.Requests("patch", "cells/status")
	metadataPatches = realserver.Requests("patch", "cells")
	reads           = realserver.Requests("get", "cells")
)

func flushMine(ctx context.Context, _ *bed, p *v1status.CellStatusPatcher) error {
	_ = mine(p.Object())
	_, err := p.Flush(ctx)
	return err
}

func retryMine(ctx context.Context, _ *bed, p *v1status.CellStatusPatcher) error {
	_, err := p.Retry(ctx, mine)
	return err
}

// retryAgainst has another writer get in between the read and the first write.
func retryAgainst(ctx context.Context, b *bed, p *v1status.CellStatusPatcher) error {
	_, err := p.Retry(ctx, once(func() { b.forge(phase("Foreign")) }, mine))
	return err
}

func patchMine(ctx context.Context, _ *bed, p *v1status.CellStatusPatcher) error {
	_, err := p.PatchMetadata(ctx, addFinalizer)
	return err
}

// rebaseMine has another controller add its finalizer first.
func rebaseMine(ctx context.Context, b *bed, p *v1status.CellStatusPatcher) error {
	b.mutate(func(c *v1.Cell) { c.Finalizers = append(c.Finalizers, "example.com/other") })
	return flushMine(ctx, b, p)
}

var rebasing = []patcher.Option{patcher.RebaseOnConflict()}

var writePoints = []point{
	{name: "Flush", match: statusPatches, nth: 1, act: flushMine},
	{name: "Retry, first patch", match: statusPatches, nth: 1, act: retryMine, retries: true},
	{name: "Retry, second patch", match: statusPatches, nth: 2, act: retryAgainst, foreign: 1, retries: true},
	{name: "PatchMetadata", match: metadataPatches, nth: 1, act: patchMine},
	{name: "rebase, resend", match: statusPatches, nth: 2, act: rebaseMine, foreign: 1, opts: rebasing},
}

var readPoints = []point{
	{name: "Retry, live read", match: reads, nth: 1, act: retryAgainst, foreign: 1, lost: saysNotWritten},
	{name: "StatusClient.Retry, live read", match: reads, nth: 1, lost: saysNotWritten,
		act: func(ctx context.Context, b *bed, p *v1status.CellStatusPatcher) error {
			_, err := b.statuses().Retry(ctx, b.key, mine)
			return err
		}},
	{name: "rebase, live read", match: reads, nth: 1, act: rebaseMine, foreign: 1, opts: rebasing, lost: saysConflict},
	{name: "Refresh", match: reads, nth: 1, lost: saysNotWritten,
		act: func(ctx context.Context, _ *bed, p *v1status.CellStatusPatcher) error { return p.Refresh(ctx) }},
}

// struck is a bed whose patcher's requests go wrong at one point.
type struck struct {
	*bed
	fault *realserver.Fault
	p     *v1status.CellStatusPatcher
	from  string
}

// strike arms the fault after the Fetch, and runs the point's act.
func strike(b *bed, at point, f faulty, opts ...realserver.FaultOption) (s struck, before *v1.Cell, observed *v1.CellStatus, err error) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	armed, seen := false, 0
	s.fault = realserver.NewFault(func(r realserver.Request) bool {
		if !armed || !at.match(r) {
			return false
		}
		seen++
		return seen == at.nth
	}, f.answer(cancel), opts...)
	// What others write goes through the bed's own client, past the fault.
	through := &bed{TB: b.TB, ctx: b.ctx, key: b.key, wire: &wire{WithWatch: server.Client(b, newScheme(b), s.fault.Wrap)}}
	cell, p := through.fetch(at.opts...)
	s.p, s.from, s.bed = p, cell.ResourceVersion, b
	before, observed, armed = cell.DeepCopy(), p.Observed(), true
	acting := &bed{TB: b.TB, ctx: b.ctx, key: b.key, wire: b.wire}
	if at.name == "StatusClient.Retry, live read" {
		acting = through
	}
	err = at.act(ctx, acting, p)
	armed = false
	return s, before, observed, err
}

func TestFaultsAtEveryWrite(t *testing.T) {
	rows, landed := 0, 0
	for _, at := range writePoints {
		for _, f := range faults {
			for when, opts := range map[string][]realserver.FaultOption{"before": nil, "after": {realserver.AfterCommit()}} {
				t.Run(fmt.Sprintf("%s: %s %s commit", at.name, f.name, when), func(t *testing.T) {
					b := newBed(t)
					s, before, observed, err := strike(b, at, f, opts...)
					if s.fault.Hits() != 1 {
						t.Fatalf("the fault struck %d times: the row proves nothing", s.fault.Hits())
					}
					want := expected(at, f, when == "after")
					if got := read(err); got != want {
						t.Errorf("the error tells %q, want %q: %v", got, want, err)
					}
					if err != nil {
						s.requireUnchanged(before, observed)
					}
					s.recover(at, err)
					s.requireOnce(at)
					rows++
					landed += 1 + at.foreign
				})
			}
		}
	}
	t.Logf("faults at writes survived: %d; updates landed: %d, each once; lost: 0", rows, landed)
}

// expected follows from what a fault says, and who tries again.
func expected(at point, f faulty, committed bool) says {
	want := f.write
	if f.transparent && committed {
		want = saysConflict // client-go sent it again, and it met its own write
	}
	if want == saysConflict && at.retries {
		want = saysNothing
	}
	return want
}

func (s struck) requireUnchanged(before *v1.Cell, observed *v1.CellStatus) {
	s.Helper()
	cell := s.p.Object().DeepCopy()
	before = before.DeepCopy()
	if slices.Contains(cell.Status.Writers, "mine") {
		_ = mine(before) // act made the edit in the caller's object, where it stays
	}
	if !reflect.DeepEqual(before, cell) {
		s.Errorf("the caller's object changed:\n%+v\n%+v", before, cell)
	}
	if !reflect.DeepEqual(observed, s.p.Observed()) {
		s.Error("the base changed")
	}
}

// recover does what an error asks for: after a conflict Refresh and decide again, else the same call again.
func (s struck) recover(at point, err error) {
	s.Helper()
	for range 3 {
		if err == nil {
			return
		}
		if apierrors.IsConflict(err) {
			s.must(s.p.Refresh(s.ctx))
		}
		if at.name == "PatchMetadata" {
			err = patchMine(s.ctx, s.bed, s.p)
		} else {
			err = flushMine(s.ctx, s.bed, s.p)
		}
	}
	s.Fatalf("the edit does not land: %v", err)
}

// requireOnce reads the object's history: every write is there once, and no other.
func (s struck) requireOnce(at point) {
	s.Helper()
	live := s.live()
	edits := 0
	for _, writer := range live.Status.Writers {
		if writer == "mine" {
			edits++
		}
	}
	if at.name == "PatchMetadata" {
		edits = 0
		if slices.Contains(live.Finalizers, finalizer) {
			edits = 1
		}
	}
	if edits != 1 {
		s.Errorf("the edit is there %d times: %+v", edits, live)
	}
	history := s.history(live.ResourceVersion)
	if len(history) != 1+at.foreign {
		s.Errorf("%d writes, want %d: %v", len(history), 1+at.foreign, history)
	}
}

// history is what was written since the Fetch, by anybody.
func (s struck) history(to string) (statuses []string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	w, err := s.wire.Watch(ctx, &v1.CellList{}, client.InNamespace(s.key.Namespace), fromVersion(s.from))
	s.must(err)
	defer w.Stop()
	for event := range w.ResultChan() {
		cell, ok := event.Object.(*v1.Cell)
		if !ok || event.Type != watch.Modified {
			s.Fatalf("the watch answered %s %v", event.Type, event.Object)
		}
		statuses = append(statuses, fmt.Sprintf("%s %v %v", cell.Status.Phase, cell.Status.Writers, cell.Finalizers))
		if cell.ResourceVersion == to {
			return statuses
		}
	}
	s.Fatalf("the watch ended before resourceVersion %s", to)
	return nil
}

func TestFaultsAtEveryRead(t *testing.T) {
	rows, landed := 0, 0
	for _, at := range readPoints {
		for _, f := range faults {
			t.Run(at.name+": "+f.name, func(t *testing.T) {
				b := newBed(t)
				s, before, observed, err := strike(b, at, f)
				if s.fault.Hits() != 1 {
					t.Fatalf("the fault struck %d times: the row proves nothing", s.fault.Hits())
				}
				want := at.lost
				if f.transparent || f.name == "connection reset" { // client-go reads again by itself
					want = saysNothing
				}
				if f.name == "409" {
					want = says409(at, err)
				}
				if got := read(err); got != want {
					t.Errorf("the error tells %q, want %q: %v", got, want, err)
				}
				if err != nil {
					s.requireUnchanged(before, observed)
					s.must(s.p.Refresh(b.ctx))
				}
				s.recover(at, flushMine(b.ctx, b, s.p))
				s.requireOnce(at)
				rows++
				landed += 1 + at.foreign
			})
		}
	}
	t.Logf("faults at reads survived: %d; updates landed: %d, each once; lost: 0", rows, landed)
}

// says409: no server answers a read like that, and a read that fails is not taken for a write that was refused.
func says409(at point, err error) says {
	var refused *patcher.ConflictError
	if at.lost == saysConflict || !errors.As(err, &refused) {
		return at.lost
	}
	return "a *ConflictError without a write"
}

// fromVersion starts a watch after that version.
type fromVersion string

func (v fromVersion) ApplyToList(opts *client.ListOptions) {
	opts.Raw = &metav1.ListOptions{ResourceVersion: string(v)}
}
