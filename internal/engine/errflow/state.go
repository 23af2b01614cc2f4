package errflow

import (
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// state is what is known on one way through the function.
type state struct {
	tainted map[*types.Var]bool // holds the conflict, or something made of it
	nonNil  map[*types.Var]bool // is another error for sure
	no      map[*types.Var]bool // is false for sure
}

func newState() *state {
	return &state{tainted: map[*types.Var]bool{}, nonNil: map[*types.Var]bool{}, no: map[*types.Var]bool{}}
}

func (s *state) clone() *state {
	c := newState()
	for v := range s.tainted {
		c.tainted[v] = true
	}
	for v := range s.nonNil {
		c.nonNil[v] = true
	}
	for v := range s.no {
		c.no[v] = true
	}
	return c
}

func (s *state) key() string {
	var k []string
	for v := range s.tainted {
		k = append(k, "t"+strconv.Itoa(int(v.Pos())))
	}
	for v := range s.nonNil {
		k = append(k, "n"+strconv.Itoa(int(v.Pos())))
	}
	for v := range s.no {
		k = append(k, "f"+strconv.Itoa(int(v.Pos())))
	}
	sort.Strings(k)
	return strings.Join(k, ",")
}
