package errflow

import (
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// fact is what is known about a value on one way through a function.
type fact int

const (
	unknown  fact = iota
	conflict      // the conflict of the write, something made of it, or something that holds it
	set           // another error, true, a result that asks for a requeue: not its type's zero value
	zero          // nil, false, an empty result
)

// state is what is known on one way through a function.
type state struct {
	after bool // the write has run
	fact  map[ssa.Value]fact
	is    map[ssa.Value]ssa.Value // loads and phis, which stand for other values
	cells map[ssa.Value]content   // variables that have an address
}

// content is what a variable holds: a value, or, where that is not at hand any more, what is known about it.
type content struct {
	value ssa.Value
	fact  fact
}

func newState() *state {
	return &state{fact: map[ssa.Value]fact{}, is: map[ssa.Value]ssa.Value{}, cells: map[ssa.Value]content{}}
}

func (s *state) clone() *state {
	c := &state{after: s.after, fact: make(map[ssa.Value]fact, len(s.fact)), is: make(map[ssa.Value]ssa.Value, len(s.is)),
		cells: make(map[ssa.Value]content, len(s.cells))}
	for v, f := range s.fact {
		c.fact[v] = f
	}
	for v, w := range s.is {
		c.is[v] = w
	}
	for v, w := range s.cells {
		c.cells[v] = w
	}
	return c
}

func (s *state) key() string {
	k := make([]string, 0, len(s.fact)+len(s.is)+len(s.cells))
	for v, f := range s.fact {
		k = append(k, v.Name()+"="+strconv.Itoa(int(f)))
	}
	for v, w := range s.is {
		k = append(k, v.Name()+":"+w.Name())
	}
	for v, c := range s.cells {
		at := "*" + v.Name() + "=" + strconv.Itoa(int(c.fact))
		if c.value != nil {
			at += c.value.Name()
		}
		k = append(k, at)
	}
	sort.Strings(k)
	return strconv.FormatBool(s.after) + strings.Join(k, ",")
}

// root is the value that v stands for.
func (s *state) root(v ssa.Value) ssa.Value {
	for {
		w, ok := s.is[v]
		if !ok {
			return v
		}
		v = w
	}
}

// redefine makes room for a new value of v, in a loop. What stood for the old one keeps what is known about it.
func (s *state) redefine(v ssa.Value) {
	old := s.of(v)
	for w, of := range s.is {
		if of == v {
			delete(s.is, w)
			s.note(w, old)
		}
	}
	for at, c := range s.cells {
		if c.value == v {
			s.cells[at] = content{fact: old}
		}
	}
	delete(s.is, v)
	delete(s.fact, v)
}

// note records a fact, if it is one.
func (s *state) note(v ssa.Value, f fact) {
	if f == unknown {
		delete(s.fact, v)
		return
	}
	s.fact[v] = f
}

// mean makes v stand for w.
func (s *state) mean(v, w ssa.Value) {
	if w = s.root(w); w != v {
		s.is[v] = w
	}
}

// content is what is known about what a variable holds.
func (s *state) content(cell ssa.Value) fact {
	c, ok := s.cells[cell]
	if ok && c.value != nil {
		return s.of(c.value)
	}
	return c.fact
}

// forget drops what no instruction from block b on can ask for.
func (s *state) forget(sh *shape, b *ssa.BasicBlock) {
	needed := map[ssa.Value]bool{}
	for v, w := range s.is {
		if !sh.used(v, b) {
			delete(s.is, v)
			continue
		}
		needed[w] = true
	}
	for at, c := range s.cells {
		if _, outer := at.(*ssa.FreeVar); !outer && !sh.used(at, b) {
			delete(s.cells, at)
			continue
		}
		needed[c.value] = true
	}
	for v := range s.fact {
		if !needed[v] && !sh.used(v, b) {
			delete(s.fact, v)
		}
	}
}

// shape says which blocks of a function can follow which.
type shape struct {
	follow []map[int]bool
}

func newShape(fn *ssa.Function) *shape {
	sh := &shape{}
	for _, b := range fn.Blocks {
		seen := map[int]bool{}
		var visit func(b *ssa.BasicBlock)
		visit = func(b *ssa.BasicBlock) {
			if !seen[b.Index] {
				seen[b.Index] = true
				for _, next := range b.Succs {
					visit(next)
				}
			}
		}
		visit(b)
		sh.follow = append(sh.follow, seen)
	}
	return sh
}

// used reports whether b, or a block that can follow it, uses v.
func (sh *shape) used(v ssa.Value, b *ssa.BasicBlock) bool {
	refs := v.Referrers()
	if refs == nil {
		return false
	}
	for _, in := range *refs {
		if sh.follow[b.Index][in.Block().Index] {
			return true
		}
	}
	return false
}
