package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// A source is the parsed declarations of one package: those that types are made of, and no function.
type source struct {
	pkg   *loader.Package
	files []*sourceFile
	// decls are the package's types and constants by name.
	decls map[string]*decl
	// methods are the methods of types that the generator wants to know of.
	methods map[method]*funcText
	errors  []error
}

type sourceFile struct {
	*ast.File
	pkg *source
	// constraints are the file's build constraints.
	constraints []string
	// kept are the declarations that a wanted type needs.
	kept []ast.Decl
	// imports are the packages that kept needs.
	imports map[*ast.ImportSpec]bool
}

type decl struct {
	file *sourceFile
	gen  *ast.GenDecl
	spec *ast.TypeSpec // nil for a constant
	kept bool
	// again is a second declaration of the same name in the package.
	again *decl
	// whole is the struct of a kind that was kept without its spec.
	whole *ast.StructType
}

var promised = regexp.MustCompile(`\+(kubebuilder:object:generate|k8s:deepcopy-gen|(?:\w+:)?groupName)=`)

// readSource parses the files of a package that declare types or constants, and those with markers if they count. Our own
// files are left out: they may not compile any more, and they declare nothing that anyone needs.
func readSource(fset *token.FileSet, pkg *loader.Package, withMarkers bool) *source {
	s := &source{pkg: pkg, decls: map[string]*decl{}, methods: map[method]*funcText{}}
	mode := parser.SkipObjectResolution | parser.AllErrors
	if withMarkers {
		mode |= parser.ParseComments
	}
	for _, name := range pkg.CompiledGoFiles {
		content, err := os.ReadFile(name)
		if err != nil {
			s.errors = append(s.errors, err)
			continue
		}
		if ours(content) {
			continue
		}
		s.findMethods(name, content)
		if !declares(content) && !(withMarkers && (maybeMarked(content) || promised.Match(content))) {
			continue
		}
		file, err := parse(fset, name, content, mode)
		if err != nil {
			s.errors = append(s.errors, err)
		}
		if file != nil {
			s.index(file, fileConstraints(name, content))
		}
	}
	return s
}

func (s *source) index(file *ast.File, constraints []string) {
	f := &sourceFile{File: file, pkg: s, constraints: constraints, imports: map[*ast.ImportSpec]bool{}}
	s.files = append(s.files, f)
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.decls[spec.Name.Name] = &decl{file: f, gen: gen, spec: spec, again: s.decls[spec.Name.Name]}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if gen.Tok == token.CONST {
						s.decls[name.Name] = &decl{file: f, gen: gen}
					}
				}
			}
		}
	}
}

// imported finds the import that a file uses under a name.
func (f *sourceFile) imported(name string) (*ast.ImportSpec, *loader.Package) {
	for _, spec := range f.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		pkg := f.pkg.pkg.Imports()[importPath]
		switch {
		case spec.Name != nil:
			if spec.Name.Name == name {
				return spec, pkg
			}
		case pkg != nil && pkg.Name == name, (pkg == nil || pkg.Name == "") && path.Base(importPath) == name:
			return spec, pkg
		}
	}
	return nil, nil
}

// imported are the packages that the kept declarations need.
func (s *source) imported() []*loader.Package {
	var out []*loader.Package
	for _, file := range s.files {
		for spec := range file.imports {
			if importPath, err := strconv.Unquote(spec.Path.Value); err == nil {
				if pkg := s.pkg.Imports()[importPath]; pkg != nil {
					out = append(out, pkg)
				}
			}
		}
	}
	return out
}

// dotImports are the packages whose names a file uses without a qualifier.
func (f *sourceFile) dotImports() map[*ast.ImportSpec]*loader.Package {
	out := map[*ast.ImportSpec]*loader.Package{}
	for _, spec := range f.Imports {
		if importPath, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name != nil && spec.Name.Name == "." {
			out[spec] = f.pkg.pkg.Imports()[importPath]
		}
	}
	return out
}

// pruned is the file with nothing but what is kept.
func (f *sourceFile) pruned() *ast.File {
	out := *f.File
	out.Decls, out.Imports = nil, nil
	for _, spec := range f.Imports {
		if f.imports[spec] {
			out.Imports = append(out.Imports, spec)
			out.Decls = append(out.Decls, &ast.GenDecl{TokPos: spec.Pos(), Tok: token.IMPORT, Specs: []ast.Spec{spec}})
		}
	}
	slices.SortFunc(f.kept, func(a, b ast.Decl) int { return int(a.Pos()) - int(b.Pos()) })
	out.Decls = append(out.Decls, f.kept...)
	return &out
}

// lines are the markers of a type, other tools' included.
func (s *source) lines(name string) []line {
	d := s.decls[name]
	if d == nil || d.spec == nil {
		return nil
	}
	return lines(attach(d.file.File).byType[d.spec]...)
}

// promises tells whether a type has a method of deep copying, or a marker for the tool that will write it.
func (s *source) promises(m method) bool {
	name, marks := m.of, s.lines(m.of)
	if m.name == "DeepCopyObject" {
		return s.methods[m] != nil || has(marks, "kubebuilder:object:root=true", "k8s:deepcopy-gen:interfaces")
	}
	switch {
	case s.methods[m] != nil:
		return true
	case !ast.IsExported(name):
		return false // controller-gen leaves these out
	case has(marks, "kubebuilder:object:generate=false", "k8s:deepcopy-gen=false"):
		return false
	case has(marks, "kubebuilder:object:generate=true", "kubebuilder:object:root=true", "k8s:deepcopy-gen=true"):
		return true
	}
	for _, file := range s.files {
		if has(lines(packageGroups(file.File)...), "kubebuilder:object:generate=true", "k8s:deepcopy-gen=package", "k8s:deepcopy-gen=package,register") {
			return true
		}
	}
	return false
}

// suggest says which of the package's types is meant by a name that it has not.
func (s *source) suggest(name string) string {
	best, slips := "", 3
	for _, candidate := range sortedKeys(s.decls) {
		if d := distance(strings.ToLower(candidate), strings.ToLower(name)); s.decls[candidate].spec != nil && ast.IsExported(candidate) && d < slips {
			best, slips = candidate, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "correct the name"
}
