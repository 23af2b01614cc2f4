package patcher_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var ruleNumber = regexp.MustCompile(`(?m)^\| (S\d\d) \|`)

// A rule of docs/semantics.md without a test, or with tests none of which shows a guard that is broken, is not done.
func TestEveryRuleHasATestAndAControl(t *testing.T) {
	doc, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	tested, controlled := rulesTested(t)
	rules := ruleNumber.FindAllStringSubmatch(string(doc), -1)
	if len(rules) < 38 {
		t.Fatalf("docs/semantics.md has %d rules", len(rules))
	}
	for _, rule := range rules {
		if missing := missing(rule[1], tested, controlled); missing != "" {
			t.Error(missing)
		}
	}
	t.Run("control: a rule that nobody tests is found", func(t *testing.T) {
		if missing("S99", tested, controlled) == "" || missing("S01", tested, nil) == "" {
			t.Error("it is not")
		}
	})
}

func missing(rule string, tested, controlled []string) string {
	switch {
	case !slices.Contains(tested, rule):
		return fmt.Sprintf("%s: no Test%s_...", rule, rule)
	case !slices.Contains(controlled, rule):
		return fmt.Sprintf("%s: no subtest named control in Test%s_...", rule, rule)
	}
	return ""
}

// rulesTested reads the rules from the names of this package's tests, and which of them have a control.
func rulesTested(t *testing.T) (tested, controlled []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "TestS") {
				continue
			}
			rule, _, _ := strings.Cut(strings.TrimPrefix(f.Name.Name, "Test"), "_")
			tested = append(tested, rule)
			if mentionsControl(f) {
				controlled = append(controlled, rule)
			}
		}
	}
	return tested, controlled
}

func mentionsControl(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		found = found || ok && strings.HasPrefix(strings.Trim(text.Value, "`\""), "control")
		return true
	})
	return found
}
