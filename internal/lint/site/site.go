// Package site finds the places where code writes to the API server, and says which of them write status.
package site

import (
	"go/ast"
	"go/types"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// A Site is one write.
type Site struct {
	Fn     *flow.Func
	Call   *ast.CallExpr
	Node   ast.Node // the call, or the method value that escapes
	Callee *types.Func
	Writer kube.Writer
	Verb   kube.Verb

	// Status is true for a write of the status subresource; else Subresource names another one, or is empty for the
	// main resource.
	Status      bool
	Subresource string

	Args            []ast.Expr // without a method expression's receiver
	body, patchType ast.Expr   // of a raw REST request

	// Wrapper is true for a call of a function that the user named as one that writes status.
	Wrapper bool
}

// Object is the object that is written; nil where the call names none.
func (s *Site) Object() ast.Expr {
	switch s.Writer {
	case kube.CreateOrPatch:
		return s.arg(2)
	case kube.RawREST:
		if s.Verb == kube.Update {
			return s.body
		}
		return nil
	case kube.ClientsetVerb, kube.ClientsetStatus:
		if s.Verb == kube.Patch {
			return nil
		}
		if s.Verb == kube.Apply {
			// The dynamic client names the object first.
			if t := s.Fn.Pkg.TypeOf(s.arg(1)); t != nil && types.Identical(t.Underlying(), types.Typ[types.String]) {
				return s.arg(2)
			}
		}
	}
	return s.arg(1)
}

// Patch is the client.Patch of a controller-runtime patch; nil otherwise.
func (s *Site) Patch() ast.Expr {
	if s.Verb == kube.Patch && (s.Writer == kube.SubResource || s.Writer == kube.Main) {
		return s.arg(2)
	}
	return nil
}

// Data is the type and the body of a clientset's patch; nil otherwise.
func (s *Site) Data() (patchType, body ast.Expr) {
	if s.Verb != kube.Patch {
		return nil, nil
	}
	switch s.Writer {
	case kube.ClientsetStatus:
		return nil, s.arg(2)
	case kube.RawREST:
		return s.patchType, s.body
	case kube.ClientsetVerb:
		for i, a := range s.Args {
			if kube.IsNamed(s.Fn.Pkg.TypeOf(a), "k8s.io/apimachinery/pkg/types", "PatchType") {
				return a, s.arg(i + 1)
			}
		}
	}
	return nil, nil
}

func (s *Site) arg(i int) ast.Expr {
	if i >= len(s.Args) {
		return nil
	}
	return s.Args[i]
}

// Options are the arguments after the fixed ones.
func (s *Site) Options() []ast.Expr {
	n := 2
	if s.Verb == kube.Patch {
		n = 3
	}
	if s.Writer == kube.SubResource && s.Verb == kube.Create {
		n = 3
	}
	if n > len(s.Args) {
		return nil
	}
	return s.Args[n:]
}

// Find returns the writes of a package, in the order of the source. wrappers are full names of functions whose calls
// count as status writes, too.
func Find(pkg *flow.Package, files []*ast.File, wrappers []string) []*Site {
	f := &finder{pkg: pkg, wrappers: map[string]bool{}}
	for _, w := range wrappers {
		f.wrappers[w] = true
	}
	for _, file := range files {
		f.file(file)
	}
	return f.sites
}

type finder struct {
	pkg      *flow.Package
	wrappers map[string]bool
	sites    []*Site
}

func (f *finder) file(file *ast.File) {
	var stack []*flow.Func
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		if fn := f.pkg.FuncAt(n); fn != nil && (len(stack) == 0 || stack[len(stack)-1] != fn) {
			if fn.Skipped() {
				return false
			}
			stack = append(stack, fn)
			ast.Inspect(n, visit)
			stack = stack[:len(stack)-1]
			return false
		}
		if len(stack) == 0 {
			return true
		}
		in := stack[len(stack)-1]
		switch n := n.(type) {
		case *ast.CallExpr:
			f.call(in, n)
		case *ast.SelectorExpr:
			f.methodValue(in, n)
		}
		return true
	}
	ast.Inspect(file, visit)
}

func (f *finder) call(in *flow.Func, call *ast.CallExpr) {
	fn := f.pkg.Callee(call)
	args := call.Args
	if fn == nil {
		// A call of a variable that holds a method value: update := c.Status().Update.
		if sel := f.heldMethod(in, call.Fun); sel != nil {
			f.add(&Site{Fn: in, Call: call, Node: call, Callee: f.pkg.FuncOf(sel), Args: args}, sel)
		}
		return
	}
	if f.wrappers[fn.FullName()] {
		f.sites = append(f.sites, &Site{Fn: in, Call: call, Node: call, Callee: fn, Args: args, Status: true, Wrapper: true})
		return
	}
	if kube.IsRESTDo(fn) {
		if r, ok := restRequest(in, call); ok && r.sub == "status" {
			f.sites = append(f.sites, &Site{Fn: in, Call: call, Node: call, Callee: fn, Args: args, Status: true,
				Writer: kube.RawREST, Verb: r.verb, body: r.body, patchType: r.patchType})
		}
		return
	}
	sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if sel != nil {
		if s := f.pkg.Info.Selections[sel]; s != nil && s.Kind() == types.MethodExpr && len(args) > 0 {
			f.addOn(&Site{Fn: in, Call: call, Node: call, Callee: fn, Args: args[1:]}, args[0])
			return
		}
	}
	f.add(&Site{Fn: in, Call: call, Node: call, Callee: fn, Args: args}, sel)
}

// heldMethod is the method value that a local variable holds.
func (f *finder) heldMethod(in *flow.Func, fun ast.Expr) *ast.SelectorExpr {
	v := f.pkg.Var(fun)
	if v == nil || f.pkg.Owner(v) == nil {
		return nil
	}
	for _, d := range f.pkg.Owner(v).AllDefs(v) {
		if d.Rhs == nil {
			continue
		}
		if sel, ok := ast.Unparen(d.Rhs).(*ast.SelectorExpr); ok && f.pkg.FuncOf(sel) != nil {
			return sel
		}
	}
	return nil
}

func (f *finder) add(s *Site, sel *ast.SelectorExpr) {
	var on ast.Expr
	if sel != nil {
		on = sel.X
	}
	f.addOn(s, on)
}

func (f *finder) addOn(s *Site, on ast.Expr) {
	s.Writer, s.Verb = kube.Kind(s.Callee)
	switch s.Writer {
	case kube.NoWriter:
		return
	case kube.SubResource:
		s.Status, s.Subresource = Addressed(on, s.Fn)
	case kube.Main:
		if s.Verb == kube.Create || s.Verb == kube.Delete {
			return
		}
	case kube.Generated:
		s.Status = true
		f.sites = append(f.sites, s)
		return
	case kube.ClientsetStatus:
		s.Status = true
	case kube.ClientsetVerb:
		if !f.clientsetVerb(s) {
			return
		}
	case kube.CreateOrPatch:
		s.Status = mutatesStatus(s)
	}
	if PassThrough(s) {
		return
	}
	f.sites = append(f.sites, s)
}

// clientsetVerb says which subresource the last strings of a clientset call name. A clientset's writes of the main
// resource are of interest only as patches.
func (f *finder) clientsetVerb(s *Site) bool {
	if !s.Callee.Signature().Variadic() {
		return s.Verb == kube.Patch || s.Verb == kube.Apply
	}
	fixed := s.Callee.Signature().Params().Len() - 1
	if s.Call != nil && s.Call.Ellipsis.IsValid() {
		if len(s.Args) == fixed+1 {
			s.Status, s.Subresource = namesStatusIn(s.Args[fixed], s.Fn)
		}
		return s.Status || s.Verb == kube.Patch
	}
	for _, a := range s.Args[min(fixed, len(s.Args)):] {
		name, known := Constant(a, s.Fn)
		if name == "status" || !known {
			s.Status = true
		}
		if s.Subresource == "" {
			s.Subresource = name
		}
	}
	if s.Status {
		s.Subresource = ""
	}
	return s.Status || s.Subresource != "" || s.Verb == kube.Patch || s.Verb == kube.Apply
}

// methodValue adds a writer's method that is handed on as a value instead of being called.
func (f *finder) methodValue(in *flow.Func, sel *ast.SelectorExpr) {
	fn := f.pkg.FuncOf(sel)
	if w, _ := kube.Kind(fn); w != kube.SubResource && w != kube.ClientsetStatus {
		return
	}
	if s := f.pkg.Info.Selections[sel]; s == nil || s.Kind() != types.MethodVal {
		return
	}
	switch p := in.Parent(sel).(type) {
	case *ast.CallExpr:
		// Reflection on a method's type calls nothing.
		if ast.Unparen(p.Fun) == ast.Expr(sel) || kube.PkgPath(f.pkg.FuncOf(p.Fun)) == "reflect" {
			return
		}
	case *ast.ParenExpr:
		return
	case *ast.AssignStmt:
		// Found where the variable is called, if it is a local one that is called at all.
		for i, rhs := range p.Rhs {
			if rhs == ast.Expr(sel) && i < len(p.Lhs) {
				if v := f.pkg.Var(p.Lhs[i]); v != nil && f.pkg.Owner(v) != nil && calledIn(in, v) {
					return
				}
			}
		}
	}
	s := &Site{Fn: in, Node: sel, Callee: fn}
	s.Writer, s.Verb = kube.Kind(fn)
	s.Status, s.Subresource = true, ""
	if s.Writer == kube.SubResource {
		s.Status, s.Subresource = Addressed(sel.X, in)
	}
	f.sites = append(f.sites, s)
}

func calledIn(in *flow.Func, v *types.Var) bool {
	called := false
	ast.Inspect(in.Outermost().Node(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && in.Pkg.Var(c.Fun) == v {
			called = true
		}
		return !called
	})
	return called
}
