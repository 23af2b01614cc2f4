package statusfuzz

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// source draws from the fuzz input as long as there is some, so that the fuzzer's changes of a byte change a choice, and
// then from a generator that the input seeds.
type source struct {
	data []byte
	rest rand.Source64
}

func newSource(data []byte) *source {
	h := fnv.New64a()
	_, _ = h.Write(data)
	return &source{data: data, rest: rand.NewSource(int64(h.Sum64())).(rand.Source64)}
}

func (s *source) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.rest.Uint64()
	}
	var word [8]byte
	n := copy(word[:], s.data[:min(2, len(s.data))])
	s.data = s.data[n:]
	// The low bits make most choices, the high ones the others.
	small := binary.LittleEndian.Uint64(word[:])
	return small<<48 | small<<31 | small
}

func (s *source) Int63() int64 { return int64(s.Uint64() >> 1) }

func (s *source) Seed(seed int64) { s.data = nil; s.rest.Seed(seed) }

func newFiller(r *rand.Rand) *randfill.Filler {
	return randfill.New().RandSource(r).NilChance(0.6).NumElements(0, 2).MaxDepth(20).Funcs(
		func(v *string, c randfill.Continue) { *v = randomString(c.Rand) },
		func(v *int64, c randfill.Continue) { *v = randomInt(c.Rand) },
		func(v *float64, c randfill.Continue) { *v = pick(c.Rand, floats) },
		func(v *float32, c randfill.Continue) { *v = float32(pick(c.Rand, floats[:4])) },
		func(v *metav1.Time, c randfill.Continue) { *v = randomTime(c.Rand) },
		func(v *metav1.MicroTime, c randfill.Continue) { *v = metav1.MicroTime(randomTime(c.Rand)) },
		func(v *resource.Quantity, c randfill.Continue) { *v = resource.MustParse(pick(c.Rand, quantities)) },
		func(v *runtime.RawExtension, c randfill.Continue) { v.Raw = []byte(randomJSON(c.Rand, 3)) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = pick(c.Rand, []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(8080), intstr.FromString("50%"), intstr.FromString("")})
		},
		func(v *metav1.Condition, c randfill.Continue) {
			c.FillNoCustom(v)
			v.Type = pick(c.Rand, conditionTypes)
			v.Status = pick(c.Rand, []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown})
		},
	)
}

var (
	words = []string{
		"", "a", "Ready", "grüße", "日本語", "\u2028<&>", "\U0001F600", "a\x00b", "e\u0301", "\u00e9", "bad \xff byte", "\"\\/",
		"null", "0", "-0", "1.0", "true", " ", "a/b~0~1", strings.Repeat("x", 300),
	}
	// longMessages are about the length at which a condition's message is cut.
	longMessages   = []string{strings.Repeat("ä", 32768), strings.Repeat("ä", 32769), strings.Repeat("m", 40000)}
	conditionTypes = []string{"Ready", "Available", "Degraded", "Progressing"}
	floats         = []float64{0, math.Copysign(0, -1), 1, 0.5, 0.1, -1e-9, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2}
	quantities     = []string{"0", "1", "100m", "0.1", "1Gi", "1024Mi", "1000", "1k", "1e3", "0.5", "500m"}
	zones          = []*time.Location{time.UTC, time.Local, time.FixedZone("east", 2*3600), time.FixedZone("odd", -12345)}
	ints           = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1, 1<<53 - 1, math.MaxInt32}
	numbers        = []string{"0", "-0", "1", "1.0", "1e2", "100", "9007199254740993", "9007199254740992", "12345678901234567890", "0.1", "1E-7"}
)

func pick[V any](r *rand.Rand, from []V) V { return from[r.Intn(len(from))] }

func randomString(r *rand.Rand) string { return pick(r, words) }

func randomInt(r *rand.Rand) int64 {
	if r.Intn(4) == 0 {
		return r.Int63()
	}
	return pick(r, ints)
}

func randomTime(r *rand.Rand) metav1.Time {
	switch r.Intn(8) {
	case 0:
		return metav1.Time{}
	case 1:
		return metav1.NewTime(time.Unix(1700000000, 0).In(pick(r, zones)))
	}
	return metav1.NewTime(time.Unix(1700000000+int64(r.Intn(4)), int64(r.Intn(3))*499_999_999).In(pick(r, zones)))
}

// randomJSON has nulls, odd numbers and nesting: what raw fields may hold.
func randomJSON(r *rand.Rand, depth int) string {
	choice := r.Intn(8)
	if depth == 0 {
		choice = r.Intn(4)
	}
	switch choice {
	case 0:
		return "null"
	case 1:
		return pick(r, numbers)
	case 2:
		return pick(r, []string{"true", "false", `""`, `"a"`, `"\u00e9"`, `"<&>"`})
	case 3:
		return pick(r, []string{"{}", "[]"})
	case 4:
		return "[" + randomJSON(r, depth-1) + "," + randomJSON(r, depth-1) + "]"
	}
	return `{"a":` + randomJSON(r, depth-1) + `,"b":` + randomJSON(r, depth-1) + "}"
}

// uniqueTypes keeps the first condition of each type: the server refuses the others.
func uniqueTypes(conditions []metav1.Condition) []metav1.Condition {
	seen := map[string]bool{}
	return slices.DeleteFunc(conditions, func(c metav1.Condition) bool {
		was := seen[c.Type]
		seen[c.Type] = true
		return was
	})
}
