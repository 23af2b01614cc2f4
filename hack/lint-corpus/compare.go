package main

import "fmt"

// A score is how an audit did against the truth.
type score struct {
	sites, found, right, extra, falseFix int
}

func (s *score) add(o score) {
	s.sites += o.sites
	s.found += o.found
	s.right += o.right
	s.extra += o.extra
	s.falseFix += o.falseFix
}

func (s score) bad() bool { return s.found < s.sites || s.right < s.found || s.extra > 0 }

func (s score) String() string {
	return fmt.Sprintf("%3d sites, recall %5.1f %%, class right %5.1f %%, %d not there, %d false fix",
		s.sites, percent(s.found, s.sites), percent(s.right, s.found), s.extra, s.falseFix)
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// fixes are the classes whose verdict is fix.
var fixes = map[string]bool{
	"transplant": true, "stale-base": true, "aliased-base": true, "dead-retry": true, "stale-retry": true, "blind-merge": true, "blind-json": true,
	"blind-update": true, "blind-apply": true, "swallowed-conflict": true, "unflushed": true, "behind-the-patcher": true,
}

type place struct {
	file string
	line int
}

// compare prints every difference.
func compare(name string, truth, found []site) score {
	s := score{sites: len(truth)}
	got := map[place]site{}
	for _, f := range found {
		if f.Verdict != "out-of-scope" {
			got[place{f.File, f.Line}] = f
		}
	}
	for _, want := range truth {
		at := place{want.File, want.Line}
		f, ok := got[at]
		delete(got, at)
		switch {
		case !ok:
			fmt.Printf("%s: missed %s:%d %s (%s)\n", name, want.File, want.Line, want.Function, want.Class)
			continue
		case f.Class == want.Class:
			s.right++
		default:
			fmt.Printf("%s: %s:%d %s is %s, the audit says %s\n", name, want.File, want.Line, want.Function, want.Class, f.Class)
			if fixes[f.Class] && !fixes[want.Class] {
				s.falseFix++
			}
		}
		s.found++
	}
	for at, f := range got {
		fmt.Printf("%s: %s:%d is no status write, the audit says %s\n", name, at.file, at.line, f.Class)
		s.extra++
		if fixes[f.Class] {
			s.falseFix++
		}
	}
	return s
}
