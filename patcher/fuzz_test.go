package patcher_test

import (
	"flag"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	databasev1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	databasev1status "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/internal/statusfuzz"
	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
)

var (
	fuzzPairs = flag.Int("fuzz.pairs", 2000, "how many random pairs of each kind TestS07_RandomPairs compares")
	fuzzSeed  = flag.Int64("fuzz.seed", 1, "the first seed of TestS07_RandomPairs")
)

var cellKind = statusfuzz.Kind[*v1.Cell, v1.CellStatus]{
	New:        func() *v1.Cell { return &v1.Cell{} },
	Status:     func(obj *v1.Cell) *v1.CellStatus { return &obj.Status },
	Conditions: func(s *v1.CellStatus) *[]metav1.Condition { return &s.Conditions },
	Patcher: func(c client.Client, obj *v1.Cell, opts ...patcher.Option) (statusfuzz.Patcher[v1.CellStatus], error) {
		return v1status.NewCellStatusClient(c, patcher.NoLiveReader, opts...).For(obj)
	},
}

var gaugeKind = statusfuzz.Kind[*v1.Gauge, v1.GaugeStatus]{
	New:    func() *v1.Gauge { return &v1.Gauge{} },
	Status: func(obj *v1.Gauge) *v1.GaugeStatus { return &obj.Status },
	Patcher: func(c client.Client, obj *v1.Gauge, opts ...patcher.Option) (statusfuzz.Patcher[v1.GaugeStatus], error) {
		return v1status.NewGaugeStatusClient(c, patcher.NoLiveReader, opts...).For(obj)
	},
}

var databaseKind = statusfuzz.Kind[*databasev1.Database, databasev1.DatabaseStatus]{
	New:        func() *databasev1.Database { return &databasev1.Database{} },
	Status:     func(obj *databasev1.Database) *databasev1.DatabaseStatus { return &obj.Status },
	Conditions: func(s *databasev1.DatabaseStatus) *[]metav1.Condition { return &s.Conditions },
	Patcher: func(c client.Client, obj *databasev1.Database, opts ...patcher.Option) (statusfuzz.Patcher[databasev1.DatabaseStatus], error) {
		return databasev1status.NewDatabaseStatusClient(c, patcher.NoLiveReader, opts...).For(obj)
	},
}

func FuzzCell(f *testing.F)     { cellKind.Fuzz(f) }
func FuzzGauge(f *testing.F)    { gaugeKind.Fuzz(f) }
func FuzzDatabase(f *testing.F) { databaseKind.Fuzz(f) }

// TestS07_RandomPairs is the part of the fuzzing that every run of the tests makes.
func TestS07_RandomPairs(t *testing.T) {
	for _, row := range []struct {
		name   string
		random func(seed int64, pairs int) (statusfuzz.Count, error)
	}{
		{"Cell", cellKind.Random},
		{"Gauge", gaugeKind.Random},
		{"Database", databaseKind.Random},
	} {
		t.Run(row.name, func(t *testing.T) {
			count, err := row.random(*fuzzSeed, *fuzzPairs)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pairs, a request was due for %d", count.Pairs, count.Changed)
			// With only equal pairs, or only different ones, the test would prove half of what it says.
			if count.Changed == 0 || count.Changed == count.Pairs {
				t.Errorf("a request was due for %d of %d pairs", count.Changed, count.Pairs)
			}
		})
	}
}

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
