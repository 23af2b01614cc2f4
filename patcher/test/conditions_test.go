package patcher_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

var longAgo = metav1.NewTime(time.Unix(1500000000, 0))

func readySince(since metav1.Time) func(*v1.CellStatus) {
	return func(s *v1.CellStatus) {
		s.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Done", LastTransitionTime: since}}
	}
}

// rebuilt is the condition as code makes it that builds its list anew at each reconcile.
func rebuilt(status metav1.ConditionStatus) []metav1.Condition {
	return []metav1.Condition{{Type: "Ready", Status: status, Reason: "Done", LastTransitionTime: metav1.Now()}}
}

func TestS14_TransitionTimesMoveWithTheStatus(t *testing.T) {
	t.Run("rule: a rebuilt condition whose status did not change is no change", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell, p := b.fetch()
		cell.Status.Conditions = rebuilt("True")
		sent := b.wire.during(func() { b.flush(p, patcher.ResultUnchanged) })
		if at := b.live().Status.Conditions[0].LastTransitionTime; len(sent) != 0 || !at.Equal(&longAgo) {
			t.Errorf("sent %v, time %s", sent, at)
		}
	})
	t.Run("rule: another field that changed is sent with the old time, and the object has it too", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell, p := b.fetch()
		cell.Status.Conditions = rebuilt("True")
		cell.Status.Conditions[0].Message = "new"
		condition := &cell.Status.Conditions[0]
		b.flush(p, patcher.ResultPatched)
		for name, got := range map[string]metav1.Condition{"server": b.live().Status.Conditions[0], "object": *condition} {
			if got.Message != "new" || !got.LastTransitionTime.Equal(&longAgo) {
				t.Errorf("the %s has %+v", name, got)
			}
		}
	})
	t.Run("rule: a status that changed moves it", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell, p := b.fetch()
		cell.Status.Conditions = rebuilt("False")
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Conditions[0].LastTransitionTime; got.Equal(&longAgo) {
			t.Error("the transition has the old time")
		}
	})
	t.Run("rule: a zero time becomes now", func(t *testing.T) {
		b, clock := newBed(t), &stopwatch{}
		cell, p := b.fetch(patcher.WithClock(clock))
		readySince(metav1.Time{})(&cell.Status)
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Conditions[0].LastTransitionTime; !got.Time.Equal(clock.Now()) {
			t.Errorf("time %s, want %s", got, clock.Now())
		}
	})
	t.Run("rule: the option mirrors another object's times", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell, p := b.fetch(patcher.MirrorTransitionTimes())
		mirrored := metav1.NewTime(longAgo.Add(time.Hour))
		readySince(mirrored)(&cell.Status)
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Conditions[0].LastTransitionTime; !got.Equal(&mirrored) {
			t.Errorf("time %s, want %s", got, mirrored)
		}
	})
	t.Run("control: the plain idiom churns, and a zero time is refused", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell := b.live()
		base := cell.DeepCopy()
		cell.Status.Conditions = rebuilt("True")
		b.must(b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)))
		if b.live().Status.Conditions[0].LastTransitionTime.Equal(&longAgo) {
			t.Error("nothing churned: the tests above prove nothing")
		}
		base = cell.DeepCopy()
		readySince(metav1.Time{})(&cell.Status)
		if err := b.wire.Status().Patch(b.ctx, cell, lockedMerge(base)); !apierrors.IsInvalid(err) {
			t.Errorf("a zero time: %v, want a 422", err)
		}
	})
}

func TestS41_MessagesAreCutAtARune(t *testing.T) {
	const limit = 32768
	long := strings.Repeat("é", limit+10)
	for name, message := range map[string]string{"two bytes a rune": long, "a rune across the boundary": "a" + long} {
		t.Run("rule: "+name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch()
			cell.Status.Conditions = rebuilt("True")
			cell.Status.Conditions[0].Message = message
			b.flush(p, patcher.ResultPatched)
			stored := b.live().Status.Conditions[0].Message
			if utf8.RuneCountInString(stored) != limit || !strings.HasPrefix(message, stored) {
				t.Fatalf("%d runes stored", utf8.RuneCountInString(stored))
			}
			cell.Status.Conditions[0].Message = message
			b.flush(p, patcher.ResultUnchanged)
			again := metav1.Condition{Type: "Ready", Status: "True", Reason: "Done", Message: message}
			p.SetCondition(again)
			if p.SetCondition(again) {
				t.Error("SetCondition does not know the message that it cut")
			}
		})
	}
	t.Run("rule: as many runes as the server allows are left alone", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		cell.Status.Conditions = rebuilt("True")
		cell.Status.Conditions[0].Message = long[:2*limit]
		b.flush(p, patcher.ResultPatched)
		if got := b.live().Status.Conditions[0].Message; got != long[:2*limit] {
			t.Errorf("%d bytes stored, want %d", len(got), 2*limit)
		}
	})
	t.Run("control: the server refuses the long one, and stores another text for one cut inside a rune", func(t *testing.T) {
		b := newBed(t)
		send := func(message string) error {
			cell := b.live()
			base := cell.DeepCopy()
			cell.Status.Conditions = rebuilt("True")
			cell.Status.Conditions[0].Message = message
			return b.wire.Status().Patch(b.ctx, cell, lockedMerge(base))
		}
		if err := send(long); !apierrors.IsInvalid(err) {
			t.Errorf("the long message: %v, want a 422", err)
		}
		inside := ("a" + long)[:101]
		inside = inside[:len(inside)-1] + "\xc3"
		b.must(send(inside))
		if got := b.live().Status.Conditions[0].Message; got == inside {
			t.Error("the text came back the same: cutting at a rune is not needed")
		}
	})
}

func TestS42_TheGenerationIsThatOfTheRead(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: "True", Reason: "Done"}
	t.Run("rule: the fetch's", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		read := cell.Generation
		b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" })
		cell.Generation = b.live().Generation // as a re-read into the caller's object would leave it
		p.SetObservedGeneration()
		p.SetCondition(ready)
		if cell.Status.ObservedGeneration != read || p.Condition("Ready").ObservedGeneration != read {
			t.Errorf("stamped %d and %d, want %d", cell.Status.ObservedGeneration, p.Condition("Ready").ObservedGeneration, read)
		}
	})
	t.Run("rule: inside Retry that of the attempt", func(t *testing.T) {
		b := newBed(t)
		cell, p := b.fetch()
		read := cell.Generation
		_, err := p.Retry(b.ctx, once(func() { b.mutate(func(c *v1.Cell) { c.Spec.Image = "image:2" }) }, func(*v1.Cell) error {
			p.SetObservedGeneration()
			p.SetCondition(ready)
			return nil
		}), patcher.AllowNewerGeneration())
		b.must(err)
		live := b.live()
		if live.Status.ObservedGeneration != read+1 || live.Status.Conditions[0].ObservedGeneration != read+1 {
			t.Errorf("stamped %+v, want generation %d", live.Status, read+1)
		}
	})
	t.Run("rule: Condition is a copy", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		_, p := b.fetch()
		previous := p.Condition("Ready")
		p.SetCondition(metav1.Condition{Type: "Ready", Status: "False", Reason: "Failed"})
		if previous.Status != "True" || p.Condition("Ready").Status != "False" || p.Condition("None") != nil {
			t.Errorf("previous %+v", previous)
		}
		if !p.RemoveCondition("Ready") || p.RemoveCondition("Ready") {
			t.Error("RemoveCondition does not tell whether there was one")
		}
	})
	t.Run("control: a pointer into the live slice changes with it", func(t *testing.T) {
		b := newBed(t, readySince(longAgo))
		cell, p := b.fetch()
		previous := meta.FindStatusCondition(cell.Status.Conditions, "Ready")
		p.SetCondition(metav1.Condition{Type: "Ready", Status: "False", Reason: "Failed"})
		if previous.Status != "False" {
			t.Error("it did not change: Condition need not copy")
		}
	})
}

func TestS09_ConditionsStayInPlace(t *testing.T) {
	b := newBed(t, readySince(longAgo))
	cell, p := b.fetch()
	cell.Status.Conditions = rebuilt("False")
	first := &cell.Status.Conditions[0]
	b.flush(p, patcher.ResultPatched)
	if first != &cell.Status.Conditions[0] {
		t.Error("the list was replaced, though the server stored what was sent")
	}
}
