package errflow

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
)

// calls are the states after a call; none if no way goes on.
func (w *walk) calls(c ssa.CallInstruction, s *state) []*state {
	if c == w.site {
		return w.write(s)
	}
	call := w.built.calls[c.Common().Pos()]
	if s.after && call != nil && w.again(call, s) {
		return nil
	}
	if _, plain := c.(*ssa.Call); !plain { // a deferred call, or a goroutine
		if carriesConflict(c, s) && (call == nil || !logs(w.f, call)) {
			w.kept()
			return nil
		}
		return []*state{s}
	}
	if neverReturns(calleeOf(c)) {
		return nil
	}
	var next []*state
	for _, facts := range w.outcomes(c, call, s) {
		n := s.clone()
		w.touched(c, n)
		results(c, facts, n)
		next = append(next, n)
	}
	return next
}

// write is the site itself. The second time it is a retry, or the next item of a loop whose end is walked, too.
func (w *walk) write(s *state) []*state {
	if s.after {
		return nil
	}
	s.after = true
	if _, plain := w.site.(*ssa.Call); !plain {
		w.lost(w.site.(ssa.Instruction).Pos())
		return nil
	}
	w.touched(w.site, s)
	results(w.site, errorResults(w.site, w.error), s)
	return []*state{s}
}

// errorResults gives the results that can hold an error the fact f.
func errorResults(c ssa.CallInstruction, f fact) []fact {
	res := c.Common().Signature().Results()
	facts := make([]fact, res.Len())
	found := false
	for i := range facts {
		if isErrorType(res.At(i).Type()) {
			facts[i], found = f, true
		}
	}
	for i := range facts {
		if !found && holdsError(res.At(i).Type()) {
			facts[i] = f
		}
	}
	return facts
}

// results notes what is known about the results of a call.
func results(c ssa.CallInstruction, facts []fact, s *state) {
	v := c.Value()
	if v == nil {
		return
	}
	s.redefine(v)
	if _, tuple := v.Type().(*types.Tuple); !tuple {
		if len(facts) == 1 {
			s.note(v, facts[0])
		}
		return
	}
	for _, ref := range *v.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok && x.Index < len(facts) {
			s.redefine(x)
			s.note(x, facts[x.Index])
		}
	}
}

// again: the call does the work again, or sees to it that it is done.
func (w *walk) again(call *ast.CallExpr, s *state) bool {
	fn := w.f.Pkg.Callee(call)
	if kube.IsReconcile(fn) || fn != nil && fn == w.f.Obj && w.site != nil && !handsOver(w.f.Pkg, call) {
		return true
	}
	if w.fo.queues.in(w.f, call) {
		w.kept()
		return true
	}
	return w.site != nil && w.error == conflict && w.fo.Rewrites != nil && w.fo.Rewrites(w.f, call)
}

// handsOver: a call of the function itself gets the object that was written, or another one: what was edited is lost.
func handsOver(pkg *flow.Package, call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if kube.IsObject(pkg.TypeOf(a)) {
			return true
		}
	}
	return false
}

func neverReturns(fn *types.Func) bool {
	if fn == nil {
		return false
	}
	switch path := kube.PkgPath(fn); fn.Name() {
	case "Exit":
		return path == "os"
	case "Goexit":
		return path == "runtime"
	case "Fatal", "Fatalf", "Fatalln":
		return path == "log" || path == "k8s.io/klog/v2" || path == "github.com/sirupsen/logrus"
	}
	return false
}

// touched forgets the variables that a call may change: those whose address it gets, and those that a literal which it
// runs assigns.
func (w *walk) touched(c ssa.CallInstruction, s *state) {
	carries := carriesConflict(c, s)
	for _, v := range append([]ssa.Value{c.Common().Value}, c.Common().Args...) {
		if v == nil {
			continue
		}
		if boxed, ok := v.(*ssa.MakeInterface); ok {
			v = boxed.X
		}
		if lit, ok := s.root(v).(*ssa.MakeClosure); ok {
			for _, b := range lit.Bindings {
				s.touch(b, false)
			}
		} else if cell := variable(v); cell != nil {
			s.touch(cell, carries)
		}
	}
}

// touch forgets what a variable holds, or notes that it may hold the conflict.
func (s *state) touch(cell ssa.Value, carries bool) {
	if carries || s.content(cell) == conflict {
		s.cells[cell] = content{fact: conflict}
		return
	}
	delete(s.cells, cell)
}

func carriesConflict(c ssa.CallInstruction, s *state) bool {
	if c.Common().IsInvoke() && s.of(c.Common().Value) == conflict {
		return true
	}
	for _, a := range c.Common().Args {
		if s.of(a) == conflict {
			return true
		}
	}
	return false
}

// outcomes are what is known about the results of a call, on each way through what it calls; none if the error does not
// come back.
func (w *walk) outcomes(c ssa.CallInstruction, call *ast.CallExpr, s *state) [][]fact {
	fn := calleeOf(c)
	if b, ok := c.Common().Value.(*ssa.Builtin); ok {
		return [][]fact{{builtin(b.Name(), c.Common().Args, s)}}
	}
	if f, ok := w.check(c, fn, call, s); ok {
		return [][]fact{{f}}
	}
	carries := carriesConflict(c, s)
	if call != nil && logs(w.f, call) {
		return [][]fact{nil}
	}
	if d, body := w.inSight(c, call, s); body != nil {
		if out, ok := w.fo.summary(d, body, w.facts(c, s), w.depth+1); ok {
			if carries && w.tested == 0 && call != nil && w.error == conflict && asksConflict(d) {
				w.tested = call.Pos()
			}
			if len(out.results) == 0 && out.kept {
				w.kept()
			}
			return out.results
		}
	}
	if carries && unused(c) {
		w.kept()
		return nil
	}
	return [][]fact{unseen(c, fn, carries, s)}
}

func unused(c ssa.CallInstruction) bool {
	refs := c.Value().Referrers()
	return c.Common().Signature().Results().Len() == 0 || refs == nil || len(*refs) == 0
}

// unseen is what code that cannot be seen makes of its arguments: with the conflict among them it wraps it; with another
// error it wraps that; without any it may make one.
func unseen(c ssa.CallInstruction, fn *types.Func, carries bool, s *state) []fact {
	if carries {
		return errorResults(c, conflict)
	}
	gotError, gotSet := false, false
	for _, a := range c.Common().Args {
		if isErrorType(a.Type()) {
			gotError = true
			gotSet = gotSet || s.of(a) == set
		} else if list := errorList(a); list != nil {
			gotError = true
			gotSet = gotSet || s.content(list) == set
		}
	}
	if fn != nil && !ignores(fn) && (gotSet || !gotError && makesErrors(fn)) {
		return errorResults(c, set)
	}
	return nil
}

// errorList is the array behind a list of errors that is written out; nil for anything else.
func errorList(v ssa.Value) ssa.Value {
	slice, ok := v.(*ssa.Slice)
	if !ok {
		return nil
	}
	array, ok := slice.X.(*ssa.Alloc)
	if of, isSlice := v.Type().Underlying().(*types.Slice); ok && isSlice && isErrorType(of.Elem()) {
		return array
	}
	return nil
}

// builtin is what append and len know; the others make no errors.
func builtin(name string, args []ssa.Value, s *state) fact {
	if name != "append" && name != "len" {
		return unknown
	}
	out := unknown
	for _, a := range args {
		switch f := s.of(a); {
		case f == conflict && name == "append":
			return conflict
		case f == conflict:
			return set
		case f == zero && name == "len":
			out = zero
		}
	}
	return out
}

// check is a call that asks what an error is: a conflict is a conflict and nothing else.
func (w *walk) check(c ssa.CallInstruction, fn *types.Func, call *ast.CallExpr, s *state) (fact, bool) {
	args := c.Common().Args
	conflicts := kube.IsConflictCheck(fn)
	if len(args) == 0 || !conflicts && !kube.IsOtherReasonCheck(fn) && !kube.IsFunc(fn, "errors", "Is", "As") {
		return unknown, false
	}
	switch s.of(args[0]) {
	case zero:
		return zero, true
	case conflict:
		if conflicts {
			if w.tested == 0 && call != nil {
				w.tested = call.Pos()
			}
			return set, true
		}
		if fn.Name() == "As" && pointsToAPIStatus(args[1]) {
			return unknown, true
		}
		return zero, true
	}
	return unknown, true
}

func pointsToAPIStatus(v ssa.Value) bool {
	if m, ok := v.(*ssa.MakeInterface); ok {
		v = m.X
	}
	p, ok := v.Type().Underlying().(*types.Pointer)
	return !ok || isAPIStatus(p.Elem())
}

// inSight is the one function of the program that a call runs, or the literal.
func (w *walk) inSight(c ssa.CallInstruction, call *ast.CallExpr, s *state) (*flow.Func, *ssa.Function) {
	if w.depth >= limits.ErrorCallees || call == nil {
		return nil, nil
	}
	var d *flow.Func
	if decls := w.f.Pkg.DeclsOf(call); len(decls) == 1 {
		d = decls[0]
	} else if lit, ok := s.root(c.Common().Value).(*ssa.MakeClosure); ok {
		d = w.f.Pkg.FuncAt(lit.Fn.(*ssa.Function).Syntax())
	} else if fn, ok := s.root(c.Common().Value).(*ssa.Function); ok && fn.Syntax() != nil {
		d = w.f.Pkg.FuncAt(fn.Syntax())
	}
	if d == nil {
		return nil, nil
	}
	return d, w.fo.bodies.of(d)
}

// facts are what is known about the arguments, the receiver first.
func (w *walk) facts(c ssa.CallInstruction, s *state) []fact {
	var out []fact
	for _, a := range c.Common().Args {
		f := s.of(a)
		if f != conflict && !isErrorType(a.Type()) {
			f = unknown // other arguments would only multiply the summaries
		}
		out = append(out, f)
	}
	return out
}

// summary is what a function does with what it gets.
type summary struct {
	results [][]fact // on each way out
	kept    bool     // on some way the conflict stays with it, or a requeue is asked for
}

// summaries remembers them.
type summaries map[string]*summary

func (fo *Follower) summary(d *flow.Func, fn *ssa.Function, args []fact, depth int) (summary, bool) {
	key := d.Pkg.Types.Path() + "." + strconv.Itoa(int(fn.Pos())) + "." + strconv.Itoa(depth)
	for _, a := range args {
		key += strconv.Itoa(int(a))
	}
	if sum, known := fo.summaries[key]; known {
		if sum == nil {
			return summary{}, false
		}
		return *sum, true
	}
	fo.summaries[key] = nil // while it is looked at
	sum := &summary{}
	seen := map[string]bool{}
	w := fo.walk(d, fn, conflict, depth)
	w.ends = func(ret *ssa.Return, s *state) {
		facts := make([]fact, len(ret.Results))
		text := strings.Builder{}
		for i, r := range ret.Results {
			facts[i] = s.of(r)
			text.WriteString(strconv.Itoa(int(facts[i])))
		}
		if !seen[text.String()] {
			seen[text.String()] = true
			sum.results = append(sum.results, facts)
		}
	}
	w.kept = func() { sum.kept = true }
	start := newState()
	start.after = true
	for i, p := range fn.Params {
		if i < len(args) {
			start.note(p, args[i])
		}
	}
	w.run(fn.Blocks[0], 0, start)
	if w.over {
		return summary{}, false
	}
	fo.summaries[key] = sum
	return *sum, true
}
