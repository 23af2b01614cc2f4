package main

import (
	"fmt"
	"net/http"
	"time"

	prettytable "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/statuspatcher/statuspatcher/patchertest/realserver"
)

// score is what became of one run, measured at the API server.
type score struct {
	plans      int // the IDs of plans that were ever stored
	erased     losses
	conflicts  int // requests that were answered 409
	requests   int // all that both replicas made, without watches
	reconciles int
	converged  bool
	took       time.Duration
	stuck      time.Duration
}

func (s *score) lost() int { return s.erased.total() }

func (s *stage) score(converged bool, took time.Duration) *score {
	requests := s.recorder.Requests(func(r realserver.Request) bool { return r.Verb != "watch" })
	result := &score{
		converged: converged, took: took, stuck: s.history.longestStuck(),
		requests: len(requests), reconciles: len(s.recorder.Reconciles()),
	}
	for _, r := range requests {
		if r.Code == http.StatusConflict {
			result.conflicts++
		}
	}
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	result.plans, result.erased = len(s.history.plans), s.history.erased
	return result
}

// table sets the runs side by side.
func table(before, wrapped, after *score) string {
	t := prettytable.NewWriter()
	t.SetStyle(prettytable.StyleRounded)
	t.Style().Format.Header = text.FormatDefault
	t.SetColumnConfigs([]prettytable.ColumnConfig{{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}})
	t.SetTitle("%d Databases, each planned twice and backed up twice,\nby %d replicas whose caches are %s behind", databases, replicas, behind)
	t.AppendHeader(prettytable.Row{"", "handwritten", "handwritten, wrapped", "generated"})
	row := func(name string, value func(*score) any) {
		t.AppendRow(prettytable.Row{name, value(before), value(wrapped), value(after)})
	}
	row(fmt.Sprintf("plans minted, where %d are wanted", 2*databases), func(s *score) any { return s.plans })
	row("updates lost", func(s *score) any { return s.lost() })
	row("  plans erased by another", func(s *score) any { return s.erased.plans })
	row("  claims erased by another", func(s *score) any { return s.erased.claims })
	row("  conditions, generations taken back", func(s *score) any { return s.erased.conditions + s.erased.generations })
	row("conflicts", func(s *score) any { return s.conflicts })
	row("requests", func(s *score) any { return s.requests })
	row("reconciles to converge", func(s *score) any {
		return unless(s.converged, fmt.Sprintf("never, in %d", s.reconciles), s.reconciles)
	})
	row("time to converge", func(s *score) any {
		return unless(s.converged, "never, in "+seconds(s.took), seconds(s.took))
	})
	row("time stuck: claimed by a Backup that is over", func(s *score) any { return seconds(s.stuck) })
	return t.Render()
}

func unless(ok bool, otherwise string, value any) any {
	if ok {
		return value
	}
	return otherwise
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
