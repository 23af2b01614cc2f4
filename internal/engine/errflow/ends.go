package errflow

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// judge says of each way out of the function with the write what becomes of the conflict.
type judge struct {
	walk    *walk
	out     Outcome
	again   bool            // some way asks for another attempt
	told    bool            // some way says so by the result of a reconcile
	success map[string]bool // what the function returns if the write succeeds; nil until asked
}

// end is a way out.
func (j *judge) end(ret *ssa.Return, s *state) {
	if len(ret.Results) == 0 {
		if !j.otherError(s) {
			j.drop(j.walk.call.Pos())
		}
		return
	}
	if j.walk.f.Lit != nil && polled(j.walk.f) && len(ret.Results) == 2 && isFalse(ret.Results[0], s) {
		j.again = j.again || s.of(ret.Results[1]) != conflict // what it works through by then is for its own bookkeeping
	}
	for _, r := range ret.Results {
		if s.of(r) == conflict {
			j.out.Returned = true
			return
		}
	}
	if j.again || j.tells(ret, s) {
		return
	}
	at := ret.Pos()
	if !at.IsValid() {
		at = j.walk.call.Pos()
	}
	j.drop(at)
}

// drop notes a place where the conflict is dropped. The one that stands next behind the write explains most.
func (j *judge) drop(at token.Pos) {
	behind := func(at token.Pos) bool { return at >= j.walk.call.Pos() }
	if !j.out.Dropped || behind(at) && (!behind(j.out.At) || at < j.out.At) {
		j.out.Dropped, j.out.At = true, at
	}
}

// otherError: a deferred literal ends, and the function around it returns another error by a named result.
func (j *judge) otherError(s *state) bool {
	if !j.walk.f.Deferred() {
		return false
	}
	for cell := range s.cells {
		fv, ok := cell.(*ssa.FreeVar)
		if !ok || s.content(cell) != set {
			continue
		}
		if v := j.walk.named(fv); v != nil && kube.IsError(v.Type()) {
			return true
		}
	}
	return false
}

// tells: a result says that the work must be done again, or at least that something is different from success.
func (j *judge) tells(ret *ssa.Return, s *state) bool {
	others := false
	for _, r := range ret.Results {
		switch t := r.Type(); {
		case isErrorType(t):
			if s.of(r) == set || j.ignoredOther(r, s) {
				return true
			}
		case kube.IsResult(t):
			if s.of(r) != zero {
				j.told = true
				return true
			}
		default:
			others = true
		}
	}
	return others && !j.succeedsWith()[returned(ret, s)]
}

// ignoredOther: another error that is not nil is returned, unless it is of a kind that the caller need not know.
func (j *judge) ignoredOther(v ssa.Value, s *state) bool {
	c, ok := s.root(v).(*ssa.Call)
	return ok && len(c.Call.Args) == 1 && ignores(calleeOf(c)) && s.of(c.Call.Args[0]) == set
}

// returned names the results of a way out that are neither errors nor results of a reconcile.
func returned(ret *ssa.Return, s *state) string {
	text := ""
	for _, r := range ret.Results {
		if !isErrorType(r.Type()) && !kube.IsResult(r.Type()) {
			text += s.root(r).Name() + "=" + strconv.Itoa(int(s.of(r))) + ","
		}
	}
	return text
}

// succeedsWith is what the function returns if the write succeeds.
func (j *judge) succeedsWith() map[string]bool {
	if j.success == nil {
		j.success = map[string]bool{}
		w := j.walk
		probe := w.fo.walk(w.f, w.site.Parent(), zero, 0)
		probe.call, probe.site = w.call, w.site
		probe.ends = func(ret *ssa.Return, s *state) { j.success[returned(ret, s)] = true }
		probe.start()
	}
	return j.success
}

// polled: a literal is handed to one of apimachinery's polls, itself or by the variable that holds it.
func polled(f *flow.Func) bool {
	held, found := f.HeldBy(), false
	if sig := f.Signature(); sig.Results().Len() != 2 || !types.Identical(sig.Results().At(0).Type(), types.Typ[types.Bool]) {
		return false
	}
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || !kube.IsRepeater(f.Pkg.Callee(call)) {
			return !found
		}
		for _, a := range call.Args {
			found = found || ast.Unparen(a) == ast.Expr(f.Lit) || held != nil && f.Pkg.Var(a) == held
		}
		return !found
	})
	return found
}
