// Package directive reads //statuspatcher:allow CLASS -- REASON comments and applies them to findings.
package directive

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

const prefix = "//statuspatcher:"

// A Directive allows one class at one statement or in one function.
type Directive struct {
	Pos      token.Pos
	Class    class.Class
	Reason   string
	Problem  string // what is wrong with it; it suppresses nothing then
	Used     bool
	line     int
	beside   bool      // code stands on the same line
	from, to token.Pos // the function that it stands on; none for a statement
}

// Parse returns the directives of a file.
func Parse(fset *token.FileSet, file *ast.File) []*Directive {
	docs := map[*ast.CommentGroup]*ast.FuncDecl{}
	for _, d := range file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Doc != nil {
			docs[fd.Doc] = fd
		}
	}
	code := codeLines(fset, file)
	var out []*Directive
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, prefix) {
				continue
			}
			d := parse(c)
			d.line = fset.Position(c.Pos()).Line
			d.beside = code[d.line]
			if fd := docs[group]; fd != nil {
				d.from, d.to = fd.Pos(), fd.End()
			}
			out = append(out, d)
		}
	}
	return out
}

// codeLines are the lines on which code begins or ends.
func codeLines(fset *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File:
			return true
		case *ast.CommentGroup, *ast.Comment:
			return false
		}
		lines[fset.Position(n.End()).Line] = true
		if fd, ok := n.(*ast.FuncDecl); ok {
			n = fd.Type // a declaration starts at its comment
		}
		lines[fset.Position(n.Pos()).Line] = true
		return true
	})
	return lines
}

func parse(c *ast.Comment) *Directive {
	d := &Directive{Pos: c.Pos()}
	text := strings.TrimPrefix(c.Text, prefix)
	// In tests of the analysis the expectation follows in the same comment.
	text, _, _ = strings.Cut(text, "// want ")
	verb, rest, _ := strings.Cut(text, " ")
	if verb != "allow" {
		d.Problem = fmt.Sprintf("unknown directive %s%s: the only one is %sallow CLASS -- REASON", prefix, verb, prefix)
		return d
	}
	name, reason, found := strings.Cut(rest, "--")
	d.Class, d.Reason = class.Class(strings.TrimSpace(name)), strings.TrimSpace(reason)
	switch {
	case d.Class == "":
		d.Problem = "the directive names no class: write //statuspatcher:allow CLASS -- REASON"
	case !class.Known(d.Class):
		d.Problem = fmt.Sprintf("the directive allows %q, which is not a class", d.Class)
	case !found || d.Reason == "":
		d.Problem = fmt.Sprintf("the directive allows %s without a reason: write //statuspatcher:allow %s -- REASON", d.Class, d.Class)
	}
	return d
}

// Apply marks the findings that a directive allows, and the directives that allow something.
func Apply(fset *token.FileSet, ds []*Directive, fs []*class.Finding) {
	for _, f := range fs {
		first, last := lines(fset, f)
		for _, d := range ds {
			if d.Problem != "" || d.Class != f.Class || fset.File(d.Pos) != fset.File(f.Pos) {
				continue
			}
			onFunc := d.from.IsValid() && d.from <= f.Pos && f.Pos < d.to
			above := d.line == first-1 && !d.beside
			onStmt := !d.from.IsValid() && (above || first <= d.line && d.line <= last)
			if onFunc || onStmt {
				d.Used = true
				f.Allowed = d.Reason
			}
		}
	}
}

// lines are the first and the last line of the statement around a finding; of a compound statement, of its head.
func lines(fset *token.FileSet, f *class.Finding) (first, last int) {
	from, to := f.Pos, f.End
	var n ast.Node = f.Node()
	for p := f.Fn.Parent(n); p != nil; n, p = p, f.Fn.Parent(p) {
		if _, lit := p.(*ast.FuncLit); lit {
			break
		}
		stmt, ok := p.(ast.Stmt)
		if !ok {
			continue
		}
		if _, block := p.(*ast.BlockStmt); block {
			break
		}
		from, to = stmt.Pos(), headEnd(stmt)
	}
	return fset.Position(from).Line, fset.Position(to).Line
}

func headEnd(stmt ast.Stmt) token.Pos {
	switch s := stmt.(type) {
	case *ast.IfStmt:
		return s.Body.Lbrace
	case *ast.ForStmt:
		return s.Body.Lbrace
	case *ast.RangeStmt:
		return s.Body.Lbrace
	case *ast.SwitchStmt:
		return s.Body.Lbrace
	case *ast.CaseClause:
		return s.Colon
	}
	return stmt.End()
}
