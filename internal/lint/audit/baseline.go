package audit

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Baseline is an earlier audit. A site is in it if it is in the same file and function, writes by the same call and
// has the same class: lines move, and so they do not count. Each row covers one site.
type Baseline struct {
	left map[baselineKey]int
}

type baselineKey struct{ file, function, call, kind, class string }

// ReadBaseline reads the JSON of an audit.
func ReadBaseline(name string) (*Baseline, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the baseline: %w; make one with -audit -format=json", err)
	}
	var records []Record
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("the baseline %s is not the JSON of an audit: %w; make one with -audit -format=json", name, err)
	}
	b := &Baseline{left: map[baselineKey]int{}}
	for _, r := range records {
		b.left[key(r)]++
	}
	return b, nil
}

func key(r Record) baselineKey {
	return baselineKey{r.File, r.Function, r.Call, r.Kind, string(r.Class)}
}

// Take reports whether the baseline covers r, and uses that row up.
func (b *Baseline) Take(r Record) bool {
	if b == nil || b.left[key(r)] == 0 {
		return false
	}
	b.left[key(r)]--
	return true
}
