// Package fuzz attacks the equality and the diffs of generated patchers with random pairs of statuses. It is apart from the
// tests of patcher since each worker of a fuzz target would start the API server that those share.
package fuzz

import (
	"flag"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	databasev1 "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1"
	databasev1status "github.com/statuspatcher/statuspatcher/examples/database-operator/api/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher"
	v1 "github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1"
	"github.com/statuspatcher/statuspatcher/patcher/internal/testapi/v1/v1status"
	"github.com/statuspatcher/statuspatcher/patcher/test/foreignstatus"
	"github.com/statuspatcher/statuspatcher/patcher/test/statusfuzz"
)

var (
	fuzzPairs = flag.Int("fuzz.pairs", 2000, "how many random pairs of each kind TestS07_RandomPairs compares")
	fuzzSeed  = flag.Int64("fuzz.seed", 1, "the first seed of TestS07_RandomPairs")
)

var cellKind = statusfuzz.Kind[*v1.Cell, v1.CellStatus]{
	New:        func() *v1.Cell { return &v1.Cell{} },
	Status:     func(obj *v1.Cell) *v1.CellStatus { return &obj.Status },
	Conditions: func(s *v1.CellStatus) *[]metav1.Condition { return &s.Conditions },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*v1.Cell) (statusfuzz.Patcher[v1.CellStatus], error) {
		statuses := v1status.NewCellStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *v1.Cell) (statusfuzz.Patcher[v1.CellStatus], error) { return statuses.For(obj) }
	},
}

var gaugeKind = statusfuzz.Kind[*v1.Gauge, v1.GaugeStatus]{
	New:    func() *v1.Gauge { return &v1.Gauge{} },
	Status: func(obj *v1.Gauge) *v1.GaugeStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*v1.Gauge) (statusfuzz.Patcher[v1.GaugeStatus], error) {
		statuses := v1status.NewGaugeStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *v1.Gauge) (statusfuzz.Patcher[v1.GaugeStatus], error) { return statuses.For(obj) }
	},
}

var dialKind = statusfuzz.Kind[*v1.Dial, v1.DialStatus]{
	New:    func() *v1.Dial { return &v1.Dial{} },
	Status: func(obj *v1.Dial) *v1.DialStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*v1.Dial) (statusfuzz.Patcher[v1.DialStatus], error) {
		statuses := v1status.NewDialStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *v1.Dial) (statusfuzz.Patcher[v1.DialStatus], error) { return statuses.For(obj) }
	},
}

var databaseKind = statusfuzz.Kind[*databasev1.Database, databasev1.DatabaseStatus]{
	New:        func() *databasev1.Database { return &databasev1.Database{} },
	Status:     func(obj *databasev1.Database) *databasev1.DatabaseStatus { return &obj.Status },
	Conditions: func(s *databasev1.DatabaseStatus) *[]metav1.Condition { return &s.Conditions },
	Rewrites:   databasev1status.DatabaseKind.WriteOnceFields(),
	Patchers: func(c client.Client, opts ...patcher.Option) func(*databasev1.Database) (statusfuzz.Patcher[databasev1.DatabaseStatus], error) {
		statuses := databasev1status.NewDatabaseStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *databasev1.Database) (statusfuzz.Patcher[databasev1.DatabaseStatus], error) {
			return statuses.For(obj)
		}
	},
}

var podKind = statusfuzz.Kind[*corev1.Pod, corev1.PodStatus]{
	New:    func() *corev1.Pod { return &corev1.Pod{} },
	Status: func(obj *corev1.Pod) *corev1.PodStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*corev1.Pod) (statusfuzz.Patcher[corev1.PodStatus], error) {
		statuses := foreignstatus.NewPodStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *corev1.Pod) (statusfuzz.Patcher[corev1.PodStatus], error) { return statuses.For(obj) }
	},
}

var nodeKind = statusfuzz.Kind[*corev1.Node, corev1.NodeStatus]{
	New:    func() *corev1.Node { return &corev1.Node{} },
	Status: func(obj *corev1.Node) *corev1.NodeStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*corev1.Node) (statusfuzz.Patcher[corev1.NodeStatus], error) {
		statuses := foreignstatus.NewNodeStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *corev1.Node) (statusfuzz.Patcher[corev1.NodeStatus], error) { return statuses.For(obj) }
	},
}

var deploymentKind = statusfuzz.Kind[*appsv1.Deployment, appsv1.DeploymentStatus]{
	New:    func() *appsv1.Deployment { return &appsv1.Deployment{} },
	Status: func(obj *appsv1.Deployment) *appsv1.DeploymentStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*appsv1.Deployment) (statusfuzz.Patcher[appsv1.DeploymentStatus], error) {
		statuses := foreignstatus.NewDeploymentStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *appsv1.Deployment) (statusfuzz.Patcher[appsv1.DeploymentStatus], error) {
			return statuses.For(obj)
		}
	},
}

var knobKind = statusfuzz.Kind[*v1.Knob, v1.KnobStatus]{
	New:        func() *v1.Knob { return &v1.Knob{} },
	Status:     func(obj *v1.Knob) *v1.KnobStatus { return &obj.Status },
	Conditions: func(s *v1.KnobStatus) *[]metav1.Condition { return &s.Conditions },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*v1.Knob) (statusfuzz.Patcher[v1.KnobStatus], error) {
		statuses := v1status.NewKnobStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *v1.Knob) (statusfuzz.Patcher[v1.KnobStatus], error) { return statuses.For(obj) }
	},
}

// byEntry is the kind with lists that are written entry by entry.
func byEntry[T client.Object, S any](kind statusfuzz.Kind[T, S]) *statusfuzz.Kind[T, S] {
	kind.Options = []patcher.Option{patcher.PatchListEntries()}
	return &kind
}

func FuzzCell(f *testing.F)       { cellKind.Fuzz(f) }
func FuzzKnob(f *testing.F)       { knobKind.Fuzz(f) }
func FuzzGauge(f *testing.F)      { gaugeKind.Fuzz(f) }
func FuzzDial(f *testing.F)       { dialKind.Fuzz(f) }
func FuzzDatabase(f *testing.F)   { databaseKind.Fuzz(f) }
func FuzzPod(f *testing.F)        { podKind.Fuzz(f) }
func FuzzNode(f *testing.F)       { nodeKind.Fuzz(f) }
func FuzzDeployment(f *testing.F) { deploymentKind.Fuzz(f) }

// TestS07_RandomPairs is the part of the fuzzing that every run of the tests makes.
func TestS07_RandomPairs(t *testing.T) {
	statusfuzz.Run(t, *fuzzSeed, *fuzzPairs, map[string]statusfuzz.Random{
		"Cell":       cellKind.Random,
		"Gauge":      gaugeKind.Random,
		"Dial":       dialKind.Random,
		"Database":   databaseKind.Random,
		"Pod":        podKind.Random,
		"Node":       nodeKind.Random,
		"Deployment": deploymentKind.Random,
		"Knob":       knobKind.Random,

		"Cell by entry": byEntry(cellKind).Random,
		"Dial by entry": byEntry(dialKind).Random,
		"Knob by entry": byEntry(knobKind).Random,
		"Node by entry": byEntry(nodeKind).Random,
		"Pod by entry":  byEntry(podKind).Random,
	})
}

// A generated file that compared one field less, or cleared one field too many, would be found.
func TestS07_RandomPairsFindBrokenEquality(t *testing.T) {
	sound := func() *patcher.Kind[*v1.Cell, v1.CellStatus] {
		return &patcher.Kind[*v1.Cell, v1.CellStatus]{
			Name:         "Cell",
			New:          cellKind.New,
			Assign:       func(dst, src *v1.Cell) { *dst = *src },
			Status:       cellKind.Status,
			DeepCopyInto: (*v1.CellStatus).DeepCopyInto,
			Equal:        func(a, b *v1.CellStatus) bool { return reflect.DeepEqual(a, b) },
			Trim:         func(base, status *v1.CellStatus) {},
			Conditions:   cellKind.Conditions,
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*patcher.Kind[*v1.Cell, v1.CellStatus])
		found  bool
	}{
		{"rule: a sound kind passes", func(*patcher.Kind[*v1.Cell, v1.CellStatus]) {}, false},
		{"control: a field that nobody compares", func(k *patcher.Kind[*v1.Cell, v1.CellStatus]) {
			k.Equal = func(a, b *v1.CellStatus) bool {
				blind := *b
				blind.Counter = a.Counter
				return reflect.DeepEqual(a, &blind)
			}
		}, true},
		{"control: lists compared by their length", func(k *patcher.Kind[*v1.Cell, v1.CellStatus]) {
			k.Equal = func(a, b *v1.CellStatus) bool {
				blind := *b
				if len(a.Writers) == len(b.Writers) {
					blind.Writers = a.Writers
				}
				return reflect.DeepEqual(a, &blind)
			}
		}, true},
		{"control: a field trimmed though it differs", func(k *patcher.Kind[*v1.Cell, v1.CellStatus]) {
			k.Trim = func(base, status *v1.CellStatus) { patcher.Trim(&base.Tier, &status.Tier, true) }
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			damaged := sound()
			row.damage(damaged)
			kind := cellKind
			kind.Patchers = func(c client.Client, opts ...patcher.Option) func(*v1.Cell) (statusfuzz.Patcher[v1.CellStatus], error) {
				statuses := patcher.NewClient(damaged, c, patcher.NoLiveReader, opts...)
				return func(obj *v1.Cell) (statusfuzz.Patcher[v1.CellStatus], error) {
					p := &patcher.Patcher[*v1.Cell, v1.CellStatus]{}
					return p, statuses.For(obj, p)
				}
			}
			if _, err := kind.Random(1, 2000); (err != nil) != row.found {
				t.Errorf("found: %v", err)
			}
		})
	}
}
