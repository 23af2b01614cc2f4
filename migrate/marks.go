package migrate

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// marker is the line that asks for patchers.
const marker = "// +statuspatcher:generate=true"

// declarations are the files of a package of kinds, as far as they parse.
func declarations(dir string) (*token.FileSet, []*ast.File) {
	fset := token.NewFileSet()
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	sort.Strings(names)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			files = append(files, f)
		}
	}
	return fset, files
}

// subresources are the kinds of a package whose comment declares the status subresource.
func subresources(dir string) map[string]bool {
	kinds := map[string]bool{}
	_, files := declarations(dir)
	for _, f := range files {
		for _, group := range f.Comments {
			if !strings.Contains(commentText(group), "+kubebuilder:subresource:status") {
				continue
			}
			if name := typeAfter(f, group); name != "" {
				kinds[name] = true
			}
		}
	}
	return kinds
}

// typeAfter is the type whose declaration follows a comment.
func typeAfter(f *ast.File, group *ast.CommentGroup) string {
	for _, d := range f.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.TYPE && gen.End() > group.End() {
			for _, s := range gen.Specs {
				if ts := s.(*ast.TypeSpec); ts.End() > group.End() {
					return ts.Name.Name
				}
			}
		}
	}
	return ""
}

// markPackage adds the marker to a package of kinds: behind the other markers of the package, or in front of a package clause. It
// returns the file and its new text; an empty name if the package is marked already.
func markPackage(dir string) (name string, text []byte, err error) {
	fset, files := declarations(dir)
	var best *ast.File
	var after *ast.Comment
	for _, f := range files {
		for _, group := range f.Comments {
			if strings.Contains(commentText(group), "+statuspatcher:generate") {
				return "", nil, nil
			}
			if group.Pos() > f.Package {
				break
			}
			for _, c := range group.List {
				if strings.Contains(c.Text, "+kubebuilder:object:generate=true") || strings.Contains(c.Text, "+groupName=") || strings.Contains(c.Text, "+k8s:deepcopy-gen=package") {
					best, after = f, c
				}
			}
		}
	}
	if best == nil {
		for _, f := range files {
			base := filepath.Base(fset.Position(f.Package).Filename)
			if best == nil || base == "doc.go" {
				best = f
			}
		}
	}
	if best == nil {
		return "", nil, os.ErrNotExist
	}
	name = fset.Position(best.Package).Filename
	src, err := os.ReadFile(name)
	if err != nil {
		return "", nil, err
	}
	at := fset.Position(best.Package).Offset
	if after != nil {
		at = fset.Position(after.End()).Offset + 1
	}
	return name, bytes.Join([][]byte{src[:at], []byte(marker + "\n"), src[at:]}, nil), nil
}
