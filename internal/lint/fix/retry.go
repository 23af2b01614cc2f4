package fix

import (
	"go/ast"
	"go/types"
	"path"
	"slices"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const retryMessage = "Retry with the generated patcher"

// retryBlocks rewrites RetryOnConflict around a read, a decision and a status write to the generated client's Retry, where
// the package's own set-up has a manager, and with it a reader past the cache.
func retryBlocks(findings []*class.Finding, s *safety, patchers Patchers) {
	if patchers == nil {
		return
	}
	for _, f := range findings {
		if f.Site == nil || !f.Site.Status || f.Fn.Lit == nil || f.Site.Object() == nil || hasSafe(f) {
			continue
		}
		m := &mover{fn: f.Fn, path: f.Fn.Path(f.Site.Object()), sites: []*class.Finding{f}, safety: s, patchers: patchers}
		b := &retryBlock{mover: m, site: f}
		if b.rewrite(findings) {
			f.Fixes = append(f.Fixes, class.FixEdit{Kind: class.Moved, Message: retryMessage, Safe: true, Edits: m.out})
		}
	}
}

// retryBlock is a literal that RetryOnConflict runs.
type retryBlock struct {
	*mover
	site *class.Finding
	call *ast.CallExpr // of RetryOnConflict
	get  ast.Stmt
	live string // the expression that reads past the cache
}

func (b *retryBlock) rewrite(findings []*class.Finding) bool {
	for _, step := range []func() bool{b.retried, b.local, b.object, b.read, b.alone, b.uses, b.skips, b.written, b.based, b.liveReader, b.called, b.imports} {
		if !step() {
			return false
		}
	}
	for _, f := range findings {
		if f != b.site && f.Fn == b.fn && f.Site != nil && f.Site.Status {
			return false // two writes in one block
		}
	}
	return true
}

// retried: the literal stands in the call of RetryOnConflict, has no parameters and returns an error.
func (b *retryBlock) retried() bool {
	switch b.site.Class {
	case class.BlindMerge, class.DeadRetry, class.Locked, class.Update, class.Refetch:
	default:
		return false
	}
	if b.site.Allowed != "" || b.site.Dropped || len(b.site.Site.Options()) > 0 || b.site.Site.Writer != kube.SubResource {
		return false
	}
	call, ok := b.fn.Parent(b.fn.Lit).(*ast.CallExpr)
	if !ok || !kube.IsRetry(b.fn.Pkg.Callee(call)) || len(call.Args) != 2 || b.fn.Outer == nil {
		return false
	}
	b.call = call
	sig := b.fn.Signature()
	return sig != nil && sig.Params().Len() == 0 && sig.Results().Len() == 1
}

// read drops the object's Get, and its declaration, if nothing else needs that.
func (b *retryBlock) read() bool {
	decl, get := b.declAndGet()
	if get == nil && b.outer {
		decl, get = b.outerDecl(), b.firstGet()
	}
	if get == nil || !b.returnsOnly(get) {
		return false
	}
	call, _, _ := getOf(b.fn, get)
	if c := clientOf(b.fn, call); c == "" || !b.sameClient(c) {
		return false
	}
	b.get = get
	if decl != nil {
		b.dropLine(decl)
	}
	b.dropLine(get)
	return true
}

// returnsOnly: `if err := c.Get(ctx, key, obj); err != nil { return err }`.
func (b *retryBlock) returnsOnly(get ast.Stmt) bool {
	call, errName, check := getOf(b.fn, get)
	if call == nil || check == nil || len(check.Body.List) != 1 || types.ExprString(check.Cond) != errName+" != nil" {
		return false
	}
	ret, ok := check.Body.List[0].(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1 && types.ExprString(ret.Results[0]) == errName
}

// alone: nothing else in the block can write the object.
func (b *retryBlock) alone() bool {
	sub := subject{path: b.path, kind: b.site.Kind, keys: keysOf(b.fn, b.path), ignore: map[*ast.CallExpr]bool{b.site.Call: true}}
	w := b.safety.writes(sub, b.fn)
	found := w.meanwhile(b.fn, b.site.Call)
	b.fn.Walk(b.fn.Entry(), func(p flow.Point) bool {
		if found == nil {
			found = w.at(b.fn, p.Node())
		}
		return found == nil
	})
	return found == nil
}

// skips: where the block returns without a write, the status is as it was read; Retry writes what it finds changed.
func (b *retryBlock) skips() bool {
	ok := true
	call, _, _ := getOf(b.fn, b.get)
	read, write := b.fn.At(call), b.fn.At(b.site.Call)
	if !read.Valid() || !write.Valid() {
		return false
	}
	b.fn.Walk(read, func(p flow.Point) bool {
		ret, isReturn := p.Node().(*ast.ReturnStmt)
		if !isReturn || p == write || types.ExprString(ret.Results[0]) != "nil" || b.fn.Reaches(write, p) {
			return ok
		}
		b.fn.Between(read, p, func(q flow.Point) { ok = ok && !edits(b.fn, b.path, ".Status", q.Node()) })
		return ok
	})
	return ok
}

// written drops the write, which must be the last thing that the block does: `return write`, or a check of its error with
// `return nil` behind it.
func (b *retryBlock) written() bool {
	list := b.fn.Body().List
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	if ast.Unparen(last.Results[0]) == ast.Expr(b.site.Call) {
		b.replace(b.site.Call.Pos(), b.site.Call.End(), "nil")
		return true
	}
	check := errorCheck(b.fn, b.site.Call)
	if check == nil || len(list) < 2 || list[len(list)-2] != ast.Stmt(check) || types.ExprString(last.Results[0]) != "nil" || len(check.Body.List) != 1 {
		return false
	}
	ret, ok := check.Body.List[0].(*ast.ReturnStmt)
	if !ok || check.Init == nil || types.ExprString(ret.Results[0]) != types.ExprString(check.Cond.(*ast.BinaryExpr).X) {
		return false
	}
	b.dropLine(check)
	return true
}

// based drops the base and the patch.
func (b *retryBlock) based() bool {
	held := map[*types.Var]bool{}
	return b.collect(b.site, held) && b.drop(held)
}

func (b *retryBlock) liveReader() bool {
	b.live = b.mover.liveReader()
	if b.live != noLiveReader {
		return true
	}
	recv := b.fn.Outermost().Param(-1)
	edits := handOver(b.fn.Pkg, recv)
	if edits == nil {
		return false
	}
	b.out = append(b.out, edits...)
	b.live = recv.Name() + "." + liveField
	return true
}

// called rewrites the call itself, and the statement that it stands in, since Retry has two results.
func (b *retryBlock) called() bool {
	get, _, _ := getOf(b.fn, b.get)
	statuses := b.freshIn(b.fn.Outermost(), statusesNames(b.kind)...)
	if statuses == "" {
		return false
	}
	room := len(b.out)
	stmt, ok := b.statement()
	if !ok {
		return false
	}
	roomEdits := slices.Clone(b.out[room:])
	b.out = b.out[:room]
	b.replace(stmt.Pos(), stmt.Pos(), statuses+" := "+path.Base(b.child)+".New"+b.kind.Obj().Name()+"StatusClient("+clientOf(b.fn, get)+", "+b.live+")\n")
	b.out = append(b.out, roomEdits...)
	b.replace(b.call.Pos(), b.fn.Lit.Body.Lbrace, statuses+".Retry("+types.ExprString(get.Args[0])+", "+b.key(get.Args[1])+", func("+b.obj.Name()+" *"+b.typeName()+") error ")
	b.replace(b.fn.Lit.End(), b.call.Rparen, ", patcher.AllowDeleting()")
	b.runtime = true
	return true
}

// statement is the one around the call, in a block; its edits make room for the second result.
func (b *retryBlock) statement() (ast.Stmt, bool) {
	outer := b.fn.Outer
	switch p := outer.Parent(b.call).(type) {
	case *ast.ReturnStmt:
		if ast.Unparen(p.Results[len(p.Results)-1]) != ast.Expr(b.call) || !inBlock(outer, p) {
			return nil, false
		}
		return p, b.returned(p)
	case *ast.AssignStmt:
		if len(p.Lhs) != 1 || len(p.Rhs) != 1 {
			return nil, false
		}
		b.replace(p.Lhs[0].Pos(), p.Lhs[0].Pos(), "_, ")
		if check, ok := outer.Parent(p).(*ast.IfStmt); ok && check.Init == ast.Stmt(p) {
			return check, inBlock(outer, check)
		}
		return p, inBlock(outer, p)
	}
	return nil, false
}

// returned: `return x, retry` becomes an assignment and a return.
func (b *retryBlock) returned(ret *ast.ReturnStmt) bool {
	others := ""
	for _, r := range ret.Results[:len(ret.Results)-1] {
		text, ok := plain(r)
		if !ok {
			return false
		}
		others += text + ", "
	}
	b.replace(ret.Pos(), b.call.Pos(), "_, err"+assignment(b.fn.Pkg, ret.Pos()))
	b.replace(ret.End(), ret.End(), "\nreturn "+others+"err")
	return true
}

// plain is the text of a result that has no effects.
func plain(e ast.Expr) (string, bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return types.ExprString(x), len(x.Elts) == 0 // ExprString shortens the others
	case *ast.Ident, *ast.BasicLit:
		return types.ExprString(x), true
	}
	return "", false
}

func inBlock(fn *flow.Func, stmt ast.Stmt) bool {
	switch fn.Parent(stmt).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}
