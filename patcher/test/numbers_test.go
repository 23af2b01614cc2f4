package patcher_test

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
)

// TestS18_NumbersAreWhatTheServerMakesOfThem was found by FuzzCell: the server keeps an int64 or a float64, not the text.
func TestS18_NumbersAreWhatTheServerMakesOfThem(t *testing.T) {
	for _, row := range []struct{ name, written, stored string }{
		{"an integer", `{"n":9007199254740993}`, `{"n":9007199254740993}`},
		{"a fraction of zero", `{"n":1.0}`, `{"n":1}`},
		{"an exponent", `{"n":1e2}`, `{"n":100}`},
		{"minus zero", `{"n":-0}`, `{"n":0}`},
		{"beyond an int64", `{"n":12345678901234567890}`, `{"n":12345678901234567000}`},
		{"in a list", `{"n":[1.0]}`, `{"n":[1]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			cell, p := b.fetch()
			cell.Status.Free = &runtime.RawExtension{Raw: []byte(row.written)}
			b.flush(p, patcher.ResultPatched)
			if got := string(b.live().Status.Free.Raw); got != row.stored {
				t.Fatalf("the server has %s, want %s", got, row.stored)
			}
			// The next reconcile decides the same.
			cell, p = b.fetch()
			cell.Status.Free = &runtime.RawExtension{Raw: []byte(row.written)}
			b.flush(p, patcher.ResultUnchanged)
		})
	}
}

// TestS18_BytesThatAreNoUTF8 was found by FuzzCell: the server answers with U+FFFD, which is no new change.
func TestS18_BytesThatAreNoUTF8(t *testing.T) {
	cut := "gr\xc3" // cut inside a rune
	b := newBed(t)
	for _, want := range []patcher.Result{patcher.ResultPatched, patcher.ResultUnchanged} {
		cell, p := b.fetch()
		cell.Status.Phase, cell.Status.Writers = cut, []string{cut}
		b.flush(p, want)
	}
	if got := b.live().Status.Phase; got == cut || got != "gr\ufffd" {
		t.Errorf("control: the server has %q", got)
	}
}

func TestS07_WhatDeepEqualCallsAChange(t *testing.T) {
	b := newBed(t, func(s *v1.CellStatus) { s.LastSync = &metav1.Time{Time: time.Unix(1700000000, 0)} })
	cell, p := b.fetch()
	cell.Status.LastSync = &metav1.Time{Time: time.Unix(1700000000, 5).UTC()}
	cell.Status.Writers = []string{}
	t.Run("rule: is none where the server would store the same", func(t *testing.T) {
		if p.Changed() {
			t.Error("Changed")
		}
	})
	t.Run("control: DeepEqual and the semantic DeepEqual of apimachinery disagree", func(t *testing.T) {
		if reflect.DeepEqual(p.Observed(), &cell.Status) || equality.Semantic.DeepEqual(p.Observed(), &cell.Status) {
			t.Error("equal: the rule proves nothing")
		}
	})
}
