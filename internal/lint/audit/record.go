// Package audit is the table that a reviewer would write by hand: every site with its class, as text, markdown, JSON
// or SARIF.
package audit

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// A Record is one row. Its JSON is a contract.
type Record struct {
	File     string        `json:"file"` // relative to the module root, with slashes
	Line     int           `json:"line"`
	Column   int           `json:"column"`
	Function string        `json:"function"`
	Call     string        `json:"call"`
	Kind     string        `json:"kind,omitempty"` // the Go type written, if known
	Class    class.Class   `json:"class"`
	Verdict  class.Verdict `json:"verdict"`
	Reason   string        `json:"reason"`
	Fixable  bool          `json:"fixable"`
	Partial  bool          `json:"partial,omitempty"` // the package did not type-check: there may be more
}

// New is the row of a finding; root is the module's directory.
func New(fset *token.FileSet, root string, f *class.Finding) Record {
	pos := fset.Position(f.Pos)
	r := Record{
		File: Relative(root, pos.Filename), Line: pos.Line, Column: pos.Column,
		Function: functionName(f), Call: callText(f), Kind: kindName(f.Kind),
		Class: f.Class, Verdict: f.Verdict(), Reason: f.Reason,
	}
	if f.Allowed != "" {
		r.Reason = "allowed: " + f.Allowed
	}
	for _, fix := range f.Fixes {
		r.Fixable = r.Fixable || fix.Safe
	}
	return r
}

// Relative is name as seen from root, with slashes; name itself if it lies elsewhere.
func Relative(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	return filepath.ToSlash(name)
}

func functionName(f *class.Finding) string {
	fn := f.Fn.Outermost()
	if fn.Decl == nil {
		return variableOf(fn)
	}
	if fn.Decl.Recv == nil || len(fn.Decl.Recv.List) == 0 {
		return fn.Decl.Name.Name
	}
	recv := types.ExprString(fn.Decl.Recv.List[0].Type)
	return "(" + recv + ")." + fn.Decl.Name.Name
}

// variableOf is the package variable whose value holds a function literal.
func variableOf(fn *flow.Func) string {
	for n := fn.Parent(fn.Node()); n != nil; n = fn.Parent(n) {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) > 0 {
			return "var " + spec.Names[0].Name
		}
	}
	return "a function literal"
}

func callText(f *class.Finding) string {
	switch {
	case f.Call != nil:
		return strings.Join(strings.Fields(types.ExprString(f.Call.Fun)), " ")
	case f.Site != nil:
		if e, ok := f.Site.Node.(ast.Expr); ok {
			return types.ExprString(e)
		}
	}
	return ""
}

func kindName(t types.Type) string {
	if t == nil {
		return ""
	}
	return strings.TrimPrefix(types.TypeString(t, func(p *types.Package) string { return p.Name() }), "*")
}
