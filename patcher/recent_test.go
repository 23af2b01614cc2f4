package patcher

import (
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestRecent_KeepsTheLastAndForgetsTheFirst(t *testing.T) {
	r := recent[int, int]{limit: 100, age: time.Minute}
	now := time.Unix(0, 0)
	for i := range 1000 {
		r.put(now, i, i)
		if _, ok := r.get(max(0, i-99)); !ok || r.len() > 200 {
			t.Fatalf("at %d: the %dth is known: %v; %d entries", i, i-99, ok, r.len())
		}
	}
	if _, ok := r.get(0); ok {
		t.Error("the first of a thousand is still known")
	}
	t.Run("by age", func(t *testing.T) {
		for range 2 {
			now = now.Add(2 * time.Minute)
			r.put(now, int(now.Unix()), 0)
		}
		if _, ok := r.get(999); ok {
			t.Error("what is older than twice the age is still known")
		}
	})
	t.Run("put again and deleted", func(t *testing.T) {
		r.put(now, 5, 1)
		r.put(now, 5, 2)
		if v, _ := r.get(5); v != 2 {
			t.Errorf("got %d", v)
		}
		r.delete(5)
		if _, ok := r.get(5); ok {
			t.Error("still there")
		}
	})
}

func TestVersions(t *testing.T) {
	key, now := client.ObjectKey{Name: "a"}, time.Unix(0, 0)
	superseded := func(v *versions, version string) bool {
		is, _ := v.isSuperseded(key, version)
		return is
	}
	t.Run("all before the own write are superseded", func(t *testing.T) {
		v := newVersions()
		v.replaced(now, key, "20", "30")
		for version, want := range map[string]bool{"9": true, "20": true, "29": true} {
			if got := superseded(&v, version); got != want {
				t.Errorf("%s: %v", version, got)
			}
		}
		if superseded(&v, "30") || superseded(&v, "100") {
			t.Error("the own write, or what came after it, is superseded")
		}
		if v.known.len() != 0 {
			t.Error("the reader has caught up, and it is remembered still")
		}
	})
	t.Run("a conflict tells that there is a newer one", func(t *testing.T) {
		v := newVersions()
		v.outdated(now, key, "20")
		if !superseded(&v, "20") || superseded(&v, "21") {
			t.Error("want 20 superseded, and 21 not")
		}
	})
	t.Run("an earlier write does not hide a later one", func(t *testing.T) {
		v := newVersions()
		v.replaced(now, key, "20", "30")
		v.replaced(now, key, "10", "20")
		v.outdated(now, key, "10")
		if !superseded(&v, "29") {
			t.Error("29 is not superseded any more")
		}
	})
	t.Run("a live read is the truth, unless there was a write since", func(t *testing.T) {
		v := newVersions()
		v.outdated(now, key, "20")
		_, known := v.isSuperseded(key, "20")
		v.read(now, key, "20", known)
		if superseded(&v, "20") {
			t.Error("the version that was read live is superseded")
		}
		v.outdated(now, key, "20")
		_, known = v.isSuperseded(key, "20")
		v.replaced(now, key, "20", "30")
		v.read(now, key, "25", known)
		if !superseded(&v, "29") {
			t.Error("a live read that was overtaken has hidden the own write")
		}
	})
	t.Run("versions that are not numbers are compared as they are", func(t *testing.T) {
		v := newVersions()
		for i := range 4 {
			v.replaced(now, key, "v"+strconv.Itoa(i), "v"+strconv.Itoa(i+1))
		}
		if !superseded(&v, "v0") || !superseded(&v, "v3") || superseded(&v, "v4") {
			t.Error("want v0 to v3 superseded")
		}
		_, known := v.isSuperseded(key, "v3")
		v.read(now, key, "v3", known)
		if superseded(&v, "v3") {
			t.Error("the version that was read live is superseded")
		}
	})
}

func TestStreaks(t *testing.T) {
	key, now := client.ObjectKey{Name: "a"}, time.Unix(0, 0)
	s := newStreaks()
	if s.lengthen(now, key) != 1 || s.lengthen(now, key) != 2 {
		t.Error("a streak does not grow")
	}
	if got := s.lengthen(now.Add(2*forgiven), key); got != 1 {
		t.Errorf("long after the last conflict the next one is number %d", got)
	}
	s.end(key)
	if got := s.lengthen(now, key); got != 1 {
		t.Errorf("after a success the next conflict is number %d", got)
	}
}
