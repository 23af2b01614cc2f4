package generator

import (
	"go/ast"
	"go/token"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// A pruner keeps, of every package, the declarations that the statuses of the wanted kinds are made of. What is left is
// little to type-check, and an error in it is an error of these types: the rest of the module may be as broken as it likes.
type pruner struct {
	fset    *token.FileSet
	sources map[*loader.Package]*source
	// own are the modules whose comments may hold markers.
	own  map[string]bool
	todo []*decl
}

// source reads a package on first need.
func (p *pruner) source(pkg *loader.Package) *source {
	if p.sources[pkg] == nil {
		p.sources[pkg] = readSource(p.fset, pkg, pkg.Module != nil && p.own[pkg.Module.Path])
	}
	return p.sources[pkg]
}

// byPath finds a package that was read.
func (p *pruner) byPath(path string) *source {
	for pkg, s := range p.sources {
		if pkg.PkgPath == path {
			return s
		}
	}
	return nil
}

// keep wants a type or constant of a package, and all that it is made of.
func (p *pruner) keep(s *source, name string) bool {
	d := s.decls[name]
	if d != nil && d.whole != nil {
		d.spec.Type, d.whole = d.whole, nil
		p.todo = append(p.todo, d)
	}
	p.want(d)
	return d != nil
}

func (p *pruner) want(d *decl) {
	if d == nil || d.kept {
		return
	}
	d.kept = true
	if d.spec == nil {
		d.file.kept = append(d.file.kept, d.gen)
		for _, other := range d.file.pkg.decls {
			other.kept = other.kept || other.gen == d.gen
		}
	} else {
		d.file.kept = append(d.file.kept, &ast.GenDecl{TokPos: d.gen.TokPos, Tok: token.TYPE, Specs: []ast.Spec{d.spec}})
	}
	p.todo = append(p.todo, d)
	if d.spec != nil {
		p.want(d.again) // for the type checker to report
	}
}

// keepKind wants a kind: its status and what it embeds. The spec says nothing about the status, and may be broken. A kind that
// a status refers to is kept whole, since it is compared like any other struct.
func (p *pruner) keepKind(s *source, name string) {
	d := s.decls[name]
	if d != nil && d.spec != nil && !d.kept {
		if kind, ok := d.spec.Type.(*ast.StructType); ok {
			d.whole, d.spec.Type = kind, withoutSpec(kind)
		}
	}
	p.want(d)
}

func withoutSpec(kind *ast.StructType) *ast.StructType {
	out := *kind
	out.Fields = &ast.FieldList{Opening: kind.Fields.Opening, Closing: kind.Fields.Closing}
	for _, field := range kind.Fields.List {
		wanted := len(field.Names) == 0
		for _, name := range field.Names {
			wanted = wanted || name.Name == "Status"
		}
		if wanted {
			out.Fields.List = append(out.Fields.List, field)
		}
	}
	return &out
}

// finish follows every reference, and hands the pruned syntax to the loader.
func (p *pruner) finish() {
	for len(p.todo) > 0 {
		d := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		p.follow(d)
	}
	for pkg, s := range p.sources {
		pkg.Syntax = []*ast.File{}
		for _, file := range s.files {
			if len(file.kept) > 0 {
				pkg.Syntax = append(pkg.Syntax, file.pruned())
			}
		}
	}
}

func (p *pruner) follow(d *decl) {
	if d.spec == nil {
		p.references(d, d.gen)
		return
	}
	// Not the name of the type itself, which is no reference to it.
	if d.spec.TypeParams != nil {
		p.references(d, d.spec.TypeParams)
	}
	p.references(d, d.spec.Type)
}

// references keeps all that a part of a declaration refers to.
func (p *pruner) references(d *decl, node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			// The name of a field is no reference.
			ast.Inspect(n.Type, func(n ast.Node) bool { return p.reference(d.file, n) })
			return false
		default:
			return p.reference(d.file, n)
		}
	})
}

// reference keeps what an identifier or a qualified identifier refers to.
func (p *pruner) reference(file *sourceFile, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field:
		ast.Inspect(n.Type, func(n ast.Node) bool { return p.reference(file, n) })
		return false
	case *ast.Ident:
		if p.keep(file.pkg, n.Name) {
			return false
		}
		for spec, pkg := range file.dotImports() {
			if pkg != nil && p.keep(p.source(pkg), n.Name) {
				file.imports[spec] = true
			}
		}
		return false
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return true
		}
		spec, pkg := file.imported(x.Name)
		if spec != nil {
			file.imports[spec] = true
			if pkg != nil {
				p.keep(p.source(pkg), n.Sel.Name)
			}
		}
		return false
	}
	return true
}

func newPruner(fset *token.FileSet, own string) *pruner {
	return &pruner{fset: fset, sources: map[*loader.Package]*source{}, own: map[string]bool{own: true}}
}

// inOrder are the packages with their imports before them. The loader checks what it finds unchecked in parallel, and there,
// in its older versions, one package reads what another is writing.
func (p *pruner) inOrder() []*loader.Package {
	var out []*loader.Package
	done := map[*source]bool{}
	var visit func(s *source)
	visit = func(s *source) {
		if s == nil || done[s] {
			return
		}
		done[s] = true
		for _, imported := range s.imported() {
			visit(p.sources[imported])
		}
		out = append(out, s.pkg)
	}
	for _, s := range p.sources {
		visit(s)
	}
	return out
}
