package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func trySample(t *testing.T, choose func([]*mutant) []*mutant) map[string]verdict {
	t.Helper()
	dir, err := filepath.Abs("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "sample.go"))
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := tryAll(dir, [][]string{{dir, "."}}, time.Now().Add(time.Minute), choose)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "sample.go")); err != nil || string(after) != string(source) {
		t.Errorf("the tree was touched: %v", err)
	}
	verdicts := map[string]verdict{}
	for _, m := range mutants {
		verdicts[m.position+" "+m.before+" -> "+m.after] = m.verdict
	}
	return verdicts
}

func TestMutants(t *testing.T) {
	got := trySample(t, func(all []*mutant) []*mutant { return all })
	for mutant, want := range map[string]verdict{
		"sample.go:10:5 a > b -> a >= b":                             survived, // equal numbers: nobody can tell
		"sample.go:10:5 a > b -> !(a > b)":                           killed,
		"sample.go:11:3 return a -> return zero values":              killed,
		"sample.go:13:2 return b -> return zero values":              killed,
		"sample.go:18:5 points >= 50 -> points > 50":                 survived,
		"sample.go:18:15 50 -> 50 + 1":                               survived,
		"sample.go:26:5 n < -1 -> n <= -1":                           survived,
		"sample.go:27:3 return n, errNegative -> return zero values": unreached,
		"sample.go:29:2 return n, nil -> return zero values":         killed,
		"sample.go:35:3 n-- -> (deleted)":                            timedOut,
		"sample.go:36:3 steps += 1 -> (deleted)":                     killed,
		"sample.go:42:41 ok && too -> ok || too":                     unreached,
	} {
		v, ok := got[mutant]
		if !ok || v != want {
			t.Errorf("%s: %v (found %v), want %v", mutant, v, ok, want)
		}
	}
	if t.Failed() {
		for mutant, v := range got {
			t.Logf("%v: %s", v, mutant)
		}
	}
}

func TestReport(t *testing.T) {
	text := report([]*mutant{
		{position: "a.go:1:2", before: "a < b", after: "a <= b", verdict: survived}, {verdict: killed}, {verdict: timedOut}, {verdict: untried},
	})
	for _, want := range []string{"a.go:1:2: survived: a < b -> a <= b", "4 mutants: killed 1, timed out 1, survived 1, not reached by any test 0, not tried 1", "score: 66.7 % of 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestSampleIsSpreadAndDeterministic(t *testing.T) {
	var all []*mutant
	for i := range 90 {
		all = append(all, &mutant{id: i, file: string(rune('a' + i%3))})
	}
	first, again, other := sample(all, "", 9, 1), sample(all, "", 9, 1), sample(all, "", 9, 2)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Error("the seed does not decide the sample")
	}
	files := map[string]int{}
	for _, m := range first {
		files[m.file]++
	}
	if len(files) != 3 || files["a"] != 3 {
		t.Errorf("spread over %v", files)
	}
	if got := sample(all, "b", 0, 1); len(got) != 30 {
		t.Errorf("%d mutants of one file", len(got))
	}
}
