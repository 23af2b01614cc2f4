package class

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/engine/limits"
	"github.com/statuspatcher/statuspatcher/internal/lint/site"
)

// data classifies a clientset's Patch of the status subresource.
func (c *Classifier) data(f *Finding) {
	patchType, body := f.Site.Data()
	if body == nil {
		f.unseen(hidden{"the patch's data cannot be found among the arguments", f.Pos,
			"the call spreads its arguments, or names none of them data; a []byte argument is seen"})
		return
	}
	c.raw(f, patchType, body, c.frame(f.Site.Fn))
	c.finish(f)
}

// raw is a patch whose bytes the code makes itself.
func (c *Classifier) raw(g *Finding, patchType, body ast.Expr, fr *flow.Frame) {
	kind := ""
	if patchType != nil {
		kind, _ = site.Constant(patchType, fr.Fn)
	}
	c.rawBytes(g, kind, body, fr)
}

// rawBytes are sent as a patch of that kind, which is empty if it is not known.
func (c *Classifier) rawBytes(g *Finding, kind string, body ast.Expr, fr *flow.Frame) {
	if c.rawDiff(g, body, fr) {
		return
	}
	slice := newSlice()
	slice.expr(body, fr, 0)
	g.empty = !slice.status && !slice.object && !slice.open.there()
	switch {
	case slice.version:
		g.set(Locked, "the patch carries a resourceVersion, or a test")
	case slice.object && !slice.diff:
		g.set(Locked, "the patch is a whole object that was read, its resourceVersion with it")
	case slice.open.there():
		g.unseen(slice.open)
	case strings.HasSuffix(kind, "apply-patch+yaml"):
		g.set(BlindApply, "the applied status carries no resourceVersion: field managers keep writers apart, but a decision made on an older read still lands")
	default:
		g.set(BlindJSON, "the patch carries neither a resourceVersion nor a test: it overwrites what another reconcile wrote meanwhile")
	}
}

// rawDiff: the bytes are what a MergeFrom computed, so that call decides.
func (c *Classifier) rawDiff(g *Finding, body ast.Expr, fr *flow.Frame) bool {
	for _, v := range flow.Trace(body, fr, nil) {
		call, ok := v.Expr.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Data" || len(call.Args) != 1 {
			return false
		}
		for _, m := range flow.Trace(sel.X, v.Frame, nil) {
			merge, ok := m.Expr.(*ast.CallExpr)
			if !ok {
				return false
			}
			if is, _ := kube.MergeFrom(m.Frame.Fn.Pkg.Callee(merge)); !is || len(merge.Args) == 0 {
				return false
			}
			part := &Finding{Site: g.Site, Fn: g.Fn}
			c.mergeFrom(part, merge, m)
			g.worse(part)
		}
	}
	return g.Class != ""
}

// rawMerge is client.Merge: the object itself is the patch.
func (c *Classifier) rawMerge(g *Finding) {
	o := c.origin(g.Site, g.Site.Object())
	switch {
	case o.blind != "":
		g.set(BlindJSON, "client.Merge sends an object without resourceVersion")
	case o.hidden.there():
		g.unseen(o.hidden)
	default:
		g.set(Locked, "client.Merge sends the object whole, its resourceVersion with it")
	}
}

// dataSlice is all that the bytes of a patch are made from.
type dataSlice struct {
	version bool       // a resourceVersion, or a test
	status  bool       // something of a status
	object  bool       // an API object that was read
	diff    bool       // a diff of two things, in which what is equal does not appear
	param   *types.Var // whose callers cannot be seen
	open    hidden     // why not all of it could be seen
	seen    map[ast.Node]bool
}

func newSlice() *dataSlice { return &dataSlice{seen: map[ast.Node]bool{}} }

var testOp = regexp.MustCompile(`"op"\s*:\s*"test"`)

// expr follows an expression and everything that it is made from.
func (d *dataSlice) expr(e ast.Expr, fr *flow.Frame, depth int) {
	if e == nil || depth > limits.Slice {
		return
	}
	for _, v := range flow.Trace(e, fr, isCopyAt) {
		switch v.Kind {
		case flow.Parameter:
			if depth == 0 {
				d.param = v.Var
			}
			if kube.IsObject(v.Var.Type()) {
				d.object = true
			} else if isBytes(v.Var.Type().Underlying().String()) {
				d.open = hidden{"the patch's data is the parameter " + v.Var.Name() + " of " + funcName(v.Frame.Fn) + ", whose callers cannot be seen", v.Var.Pos(),
					"the parameter is declared here; its callers are seen if statuspatcher-lint is run on the packages that call it"}
			}
			continue
		case flow.Field, flow.Element, flow.Global:
			if v.Expr != nil {
				d.value(v, depth)
			}
			continue
		case flow.Expression:
			d.value(v, depth)
		}
	}
}

func isBytes(t string) bool { return t == "[]byte" || t == "string" || t == "[]uint8" }

func (d *dataSlice) value(v flow.Value, depth int) {
	if v.Expr == nil || d.seen[v.Expr] {
		return
	}
	d.seen[v.Expr] = true
	pkg := v.Frame.Fn.Pkg
	d.mentions(pkg, v.Expr)
	switch x := v.Expr.(type) {
	case *ast.CallExpr:
		d.call(x, v.Frame, depth)
	case *ast.BinaryExpr:
		d.expr(x.X, v.Frame, depth+1)
		d.expr(x.Y, v.Frame, depth+1)
	case *ast.CompositeLit:
		for _, el := range x.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				el = kv.Value
			}
			d.part(el, v.Frame, depth)
		}
	default:
		if t := pkg.TypeOf(v.Expr); v.Kind != flow.Expression && kube.IsObject(t) {
			d.object = true
		}
	}
	d.later(v)
}

// part follows what a composite literal holds, but an object that only lends it a field is not the patch itself.
func (d *dataSlice) part(e ast.Expr, fr *flow.Frame, depth int) {
	before := d.object
	d.expr(e, fr, depth+1)
	d.object = before
}

func (d *dataSlice) call(call *ast.CallExpr, fr *flow.Frame, depth int) {
	pkg := fr.Fn.Pkg
	fn := pkg.Callee(call)
	if of, ok := isCopy(pkg, call); ok {
		d.expr(of, fr, depth+1)
		return
	}
	if fn != nil {
		name := fn.Name()
		if strings.Contains(name, "MergePatch") || strings.Contains(name, "CreatePatch") || strings.Contains(name, "TwoWay") || strings.Contains(name, "ThreeWay") || strings.Contains(name, "Diff") {
			d.diff = true
		}
		if _, returns := kube.IsGet(fn); returns {
			d.object = true
			return
		}
	}
	for _, a := range call.Args {
		d.expr(a, fr, depth+1)
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn != nil && fn.Signature().Recv() != nil {
		before := d.object
		d.expr(sel.X, fr, depth+1)
		if fn.Name() != "MarshalJSON" {
			d.object = before
		}
	}
}

// later are the things that are put into a variable after it was made: m["metadata"] = ..., conf.WithX(...).
func (d *dataSlice) later(v flow.Value) {
	f := v.Frame.Fn
	_, lit := v.Expr.(*ast.CompositeLit)
	held := heldPath(f, v.Expr)
	if held == "" {
		return
	}
	ast.Inspect(f.Outermost().Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if _, plain := lhs.(*ast.Ident); !plain && flow.Within(f.Path(lhs), held) {
					if i < len(n.Rhs) && !isEmptyString(f.Pkg, n.Rhs[i]) {
						d.mentions(f.Pkg, lhs)
						d.mentions(f.Pkg, n.Rhs[i])
					}
				}
			}
		case *ast.CallExpr:
			d.laterCall(f, n, held, lit)
		}
		return true
	})
}

// laterCall: a method of what is held, or, of a literal that nobody else made, any function that gets it.
func (d *dataSlice) laterCall(f *flow.Func, call *ast.CallExpr, held string, lit bool) {
	if p, value := setsVersion(f, call); p == held && !isEmptyString(f.Pkg, value) {
		d.version = true
	}
	if w, _ := kube.Kind(f.Pkg.Callee(call)); w != kube.NoWriter {
		return
	}
	var gets []ast.Expr
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		gets = append(gets, sel.X)
	}
	if lit {
		gets = append(gets, call.Args...)
	}
	for _, a := range gets {
		if flow.Within(f.Path(a), held) {
			d.mentions(f.Pkg, call)
		}
	}
}

// mentions looks for a resourceVersion or a test in an expression as it is written.
func (d *dataSlice) mentions(pkg *flow.Package, e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			if strings.Contains(n.Name, "Status") {
				d.status = true
			}
			switch n.Name {
			case "ResourceVersion", "GetResourceVersion", "WithResourceVersion":
				d.version = true
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && (id.Name == "Op" || id.Name == "Operation") {
				if tv := pkg.Info.Types[n.Value]; tv.Value != nil && tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == "test" {
					d.version = true
				}
			}
			// An ObjectMeta that is taken over whole brings its resourceVersion along.
			if id, ok := n.Key.(*ast.Ident); ok && id.Name == "ObjectMeta" {
				if _, lit := ast.Unparen(n.Value).(*ast.CompositeLit); !lit {
					d.version = true
				}
			}
		}
		if x, ok := n.(ast.Expr); ok {
			if tv := pkg.Info.Types[x]; tv.Value != nil && tv.Value.Kind() == constant.String {
				s := constant.StringVal(tv.Value)
				d.status = d.status || strings.Contains(s, "status")
				if strings.Contains(s, "resourceVersion") || testOp.MatchString(s) {
					d.version = true
				}
			}
		}
		return true
	})
}
