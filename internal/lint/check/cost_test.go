package check_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
	"github.com/statuspatcher/statuspatcher/internal/lint/check"
)

// trap is syntax that cannot be walked.
type trap struct{ ast.BadDecl }

// A package that leads to no client is left before its syntax is walked; one that does is walked, so that this would be
// noticed.
func TestLeftAtOnce(t *testing.T) {
	for _, row := range []struct {
		imports string
		walked  bool
	}{
		{"example.com/nothing", false},
		{"k8s.io/apimachinery/pkg/types", false},
		{"sigs.k8s.io/controller-runtime/pkg/client", true},
		{"k8s.io/client-go/kubernetes", true},
	} {
		if got := walks(t, row.imports); got != row.walked {
			t.Errorf("a package that imports %s is walked: %v, expected %v", row.imports, got, row.walked)
		}
	}
}

func walks(t *testing.T, imports string) (walked bool) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p", 0)
	if err != nil {
		t.Fatal(err)
	}
	file.Decls = append(file.Decls, &trap{})
	pkg := types.NewPackage("example.com/p", "p")
	pkg.SetImports([]*types.Package{types.NewPackage(imports, "x")})
	defer func() { walked = recover() != nil }()
	_, err = check.Diagnose(&flow.Package{Fset: fset, Files: []*ast.File{file}, Types: pkg, Info: &types.Info{}}, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return false
}
