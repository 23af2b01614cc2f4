// Package flow answers questions about how values and control move through Go code: where a value comes from, which
// statements lie between two others, who calls a function. It works on typed syntax of one package or of many, builds
// control-flow graphs only for the functions that it is asked about, and knows nothing about Kubernetes.
package flow

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Program is the code that can be seen: one package in a vet tool, a whole module in the standalone driver.
type Program struct {
	Packages []*Package

	decls   map[string]*Func
	callers map[string][]*Call
	values  map[string]bool // functions that are used other than by calling them

	holds      map[string]bool    // import paths of the packages
	abstract   map[string][]*Call // calls of interface methods that the program defines, by name
	implements map[implemented][]*Func
	concrete   []types.Type
}

// A Package is the typed syntax of one package.
type Package struct {
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
	// Skip are declarations that are no part of the program, such as test code: its types implement nothing, its functions are
	// nobody's callers. It must be set before the package becomes part of a program.
	Skip map[types.Object]bool
	// TypeErrors are what is wrong with the code, if anything is.
	TypeErrors []types.Error

	prog      *Program
	byNode    map[ast.Node]*Func
	owner     map[*types.Var]*Func
	switchOf  map[*types.Var]ast.Expr
	fieldDefs map[*types.Var][]FieldDef
}

// A Call is a static call of a function that the program declares.
type Call struct {
	Expr *ast.CallExpr
	In   *Func
}

// New makes a program of packages. Files that did not type-check are tolerated: what is unknown in them stays unknown.
func New(pkgs ...*Package) *Program {
	p := &Program{decls: map[string]*Func{}, callers: map[string][]*Call{}, values: map[string]bool{},
		holds: map[string]bool{}, abstract: map[string][]*Call{}, implements: map[implemented][]*Func{}}
	for _, pkg := range pkgs {
		pkg.prog = p
		p.holds[pkg.Types.Path()] = true
		p.Packages = append(p.Packages, pkg)
		pkg.index()
	}
	for _, pkg := range pkgs {
		pkg.indexCalls()
	}
	return p
}

// Decl is the declaration of fn, if the program holds it.
func (p *Program) Decl(fn *types.Func) *Func {
	if fn == nil {
		return nil
	}
	return p.decls[fn.Origin().FullName()]
}

// Callers are the calls that can run f: those that name it, and those of an interface method that it implements.
func (p *Program) Callers(f *Func) []*Call {
	if f.Obj == nil {
		return nil
	}
	calls := p.callers[f.Obj.FullName()]
	if f.Obj.Signature().Recv() != nil {
		calls = append(calls[:len(calls):len(calls)], p.callersThrough(f)...)
	}
	return calls
}

// Skipped reports whether f is in a declaration that is no part of the program.
func (f *Func) Skipped() bool {
	obj := f.Outermost().Obj
	return obj != nil && f.Pkg.Skip[obj]
}

func (pkg *Package) index() {
	pkg.byNode = map[ast.Node]*Func{}
	pkg.owner = map[*types.Var]*Func{}
	pkg.switchOf = map[*types.Var]ast.Expr{}
	for _, file := range pkg.Files {
		for _, decl := range file.Decls {
			pkg.indexDecl(decl)
		}
	}
}

func (pkg *Package) indexDecl(decl ast.Decl) {
	root := &root{node: decl}
	var stack []*Func
	if fd, ok := decl.(*ast.FuncDecl); ok {
		f := &Func{Pkg: pkg, Decl: fd, root: root}
		f.Obj, _ = pkg.Info.Defs[fd.Name].(*types.Func)
		pkg.byNode[fd] = f
		if f.Obj != nil {
			pkg.prog.decls[f.Obj.FullName()] = f
		}
		stack = append(stack, f)
	}
	pkg.indexIn(decl, stack, root)
}

// indexIn records the function literals below n and which function owns each variable.
func (pkg *Package) indexIn(n ast.Node, stack []*Func, root *root) {
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.FuncLit:
			if c == n {
				return true
			}
			lit := &Func{Pkg: pkg, Lit: c, root: root}
			if len(stack) > 0 {
				lit.Outer = stack[len(stack)-1]
			}
			pkg.byNode[c] = lit
			pkg.indexIn(c, append(stack[:len(stack):len(stack)], lit), root)
			return false
		case *ast.Ident:
			if v, ok := pkg.Info.Defs[c].(*types.Var); ok && len(stack) > 0 {
				pkg.owner[v] = stack[len(stack)-1]
			}
		case *ast.TypeSwitchStmt:
			pkg.indexSwitch(c, stack)
		}
		return true
	})
}

// indexSwitch remembers that the variable of each case is the value that is switched on.
func (pkg *Package) indexSwitch(s *ast.TypeSwitchStmt, stack []*Func) {
	assign, ok := s.Assign.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 || len(stack) == 0 {
		return
	}
	x := assign.Rhs[0].(*ast.TypeAssertExpr).X
	for _, clause := range s.Body.List {
		if v, ok := pkg.Info.Implicits[clause].(*types.Var); ok {
			pkg.switchOf[v] = x
			pkg.owner[v] = stack[len(stack)-1]
		}
	}
}

func (pkg *Package) indexCalls() {
	for _, file := range pkg.Files {
		var stack []*Func
		called := map[*ast.Ident]bool{}
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			if f := pkg.byNode[n]; f != nil && (len(stack) == 0 || stack[len(stack)-1] != f) {
				stack = append(stack, f)
				ast.Inspect(n, visit)
				stack = stack[:len(stack)-1]
				return false
			}
			switch n := n.(type) {
			case *ast.CallExpr:
				called[calledName(n.Fun)] = true
				if len(stack) > 0 {
					pkg.indexCall(n, stack[len(stack)-1])
				}
			case *ast.Ident:
				if fn, ok := pkg.Info.Uses[n].(*types.Func); ok && !called[n] && pkg.prog.decls[origin(fn).FullName()] != nil {
					pkg.prog.values[origin(fn).FullName()] = true
				}
			}
			return true
		}
		ast.Inspect(file, visit)
	}
}

func (pkg *Package) indexCall(call *ast.CallExpr, in *Func) {
	fn := pkg.Callee(call)
	if fn == nil || in.Skipped() {
		return
	}
	if name := fn.FullName(); pkg.prog.decls[name] != nil {
		pkg.prog.callers[name] = append(pkg.prog.callers[name], &Call{Expr: call, In: in})
	} else if pkg.calledInterface(call, fn) != nil {
		pkg.prog.abstract[fn.Name()] = append(pkg.prog.abstract[fn.Name()], &Call{Expr: call, In: in})
	}
}

// calledName is the identifier by which a call names its function.
func calledName(fun ast.Expr) *ast.Ident {
	switch x := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.IndexExpr:
		return calledName(x.X)
	case *ast.IndexListExpr:
		return calledName(x.X)
	}
	return nil
}

// Callee is the function or method that call calls by name; nil for a call of a value.
func (pkg *Package) Callee(call *ast.CallExpr) *types.Func {
	return pkg.FuncOf(call.Fun)
}

// FuncOf is the function or method that an expression names; nil for any other expression.
func (pkg *Package) FuncOf(e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		fn, _ := pkg.Info.Uses[e].(*types.Func)
		return origin(fn)
	case *ast.SelectorExpr:
		fn, _ := pkg.Info.Uses[e.Sel].(*types.Func)
		return origin(fn)
	case *ast.IndexExpr:
		return pkg.FuncOf(e.X)
	case *ast.IndexListExpr:
		return pkg.FuncOf(e.X)
	}
	return nil
}

func origin(fn *types.Func) *types.Func {
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// FuncAt is the function declaration or literal that n is.
func (pkg *Package) FuncAt(n ast.Node) *Func { return pkg.byNode[n] }

// Funcs are all functions and literals, in no order.
func (pkg *Package) Funcs() map[ast.Node]*Func { return pkg.byNode }

// TypeOf is the type of e; nil where the package did not type-check.
func (pkg *Package) TypeOf(e ast.Expr) types.Type {
	t := pkg.Info.TypeOf(e)
	if t == types.Typ[types.Invalid] {
		return nil
	}
	return t
}

// Var is the variable that an identifier stands for.
func (pkg *Package) Var(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := pkg.Info.ObjectOf(id).(*types.Var)
	return v
}

// Owner is the function that declares v, as a parameter or inside; nil for fields and package variables.
func (pkg *Package) Owner(v *types.Var) *Func { return pkg.owner[v] }

// DeclsOf is the declaration that a call is sure to run: the one that it names. For what it can run, see Callees.
func (pkg *Package) DeclsOf(call *ast.CallExpr) []*Func {
	if f := pkg.prog.Decl(pkg.Callee(call)); f != nil && f.Body() != nil {
		return []*Func{f}
	}
	return nil
}

// Program is the program that the package is part of.
func (pkg *Package) Program() *Program { return pkg.prog }
