package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A kind is a type that looks like one: a struct that embeds TypeMeta and ObjectMeta.
type kind struct {
	file, pkg, name string
	// refused is why the generator would not have it.
	refused string
}

func (k kind) String() string { return k.pkg + "." + k.name }

// mark finds the kinds of a module and puts the marker above each.
func (s source) mark(dir string) ([]kind, error) {
	var kinds []kind
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := s.module
		if rel != "." {
			pkg += "/" + filepath.ToSlash(rel)
		}
		found, err := markFile(path, pkg, !s.named)
		for _, k := range found {
			if len(s.only) == 0 || slices.Contains(s.only, k.name) {
				kinds = append(kinds, k)
			}
		}
		return err
	})
	if s.named {
		kinds = slices.DeleteFunc(kinds, func(k kind) bool { return !s.within(dir, k.file) })
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds, err
}

// within tells whether a file is below the directories of the source's API packages.
func (s source) within(root, file string) bool {
	return slices.ContainsFunc(s.dirs, func(dir string) bool {
		return strings.HasPrefix(file, filepath.Join(root, dir)+string(filepath.Separator))
	})
}

func markFile(path, pkg string, write bool) ([]kind, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, content, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var kinds []kind
	out := string(content)
	for _, d := range slices.Backward(file.Decls) {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE || gen.Lparen.IsValid() {
			continue
		}
		spec := gen.Specs[0].(*ast.TypeSpec)
		structure, ok := spec.Type.(*ast.StructType)
		if !ok || !embeds(structure, "TypeMeta") || !embeds(structure, "ObjectMeta") || !hasField(structure, "Status") {
			continue
		}
		kinds = append(kinds, kind{file: path, pkg: pkg, name: spec.Name.Name})
		at := fset.Position(gen.Pos()).Offset
		out = out[:at] + markers(gen, file) + out[at:]
	}
	if !write || len(kinds) == 0 {
		return kinds, nil
	}
	return kinds, os.WriteFile(path, []byte(out), 0o666)
}

// markers are the lines to put above a kind. APIs that are not kubebuilder's say by genclient that a status is written by
// UpdateStatus; they get the marker of the subresource too.
func markers(gen *ast.GenDecl, file *ast.File) string {
	lines := "// +statuspatcher:generate=true\n"
	var text strings.Builder
	for _, group := range file.Comments {
		// The doc comment, and the one before it.
		if group.End() < gen.Pos() && (gen.Doc == nil || group.End() >= gen.Doc.Pos()-2 || group == gen.Doc) {
			for _, c := range group.List {
				fmt.Fprintln(&text, c.Text)
			}
		}
	}
	if strings.Contains(text.String(), "+genclient\n") && !strings.Contains(text.String(), "noStatus") && !strings.Contains(text.String(), "+kubebuilder:subresource:status") {
		lines += "// +kubebuilder:subresource:status\n"
	}
	return lines
}

func embeds(s *ast.StructType, name string) bool {
	return slices.ContainsFunc(s.Fields.List, func(field *ast.Field) bool {
		if len(field.Names) > 0 {
			return false
		}
		switch t := field.Type.(type) {
		case *ast.SelectorExpr:
			return t.Sel.Name == name
		case *ast.Ident:
			return t.Name == name
		}
		return false
	})
}

func hasField(s *ast.StructType, name string) bool {
	return slices.ContainsFunc(s.Fields.List, func(field *ast.Field) bool {
		return slices.ContainsFunc(field.Names, func(n *ast.Ident) bool { return n.Name == name })
	})
}

// unmark takes the marker of a refused kind out again.
func (k kind) unmark() error {
	content, err := os.ReadFile(k.file)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(content), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "type "+k.name+" struct") {
			continue
		}
		for j := i - 1; j >= 0 && strings.HasPrefix(lines[j], "//"); j-- {
			if strings.HasPrefix(lines[j], "// +statuspatcher:") {
				lines[j] = ""
				return os.WriteFile(k.file, []byte(strings.Join(lines, "")), 0o666)
			}
		}
	}
	return fmt.Errorf("%s has no marker to take out", k)
}
