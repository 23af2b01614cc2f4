package docs

import (
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/generator"
	"github.com/statuspatcher/statuspatcher/internal/lint/class"
)

// TestReferencesAreComplete: all that users can meet is in the document that explains it, as code.
func TestReferencesAreComplete(t *testing.T) {
	c, all := newCompiler(t), documents(t)
	for _, row := range []struct {
		document string
		names    []string
	}{
		{"docs/errors.md", c.names(t, "patcher", func(obj types.Object) bool { return strings.HasPrefix(obj.Name(), "Err") && isError(obj.Type()) })},
		{"docs/testing.md", c.names(t, "patchertest", func(obj types.Object) bool { return returns(obj, "Invariant") })},
		{"docs/generator.md", options()},
		{"docs/lint.md", classes()},
	} {
		for _, name := range unexplained(named(t, all, row.document), row.names) {
			t.Errorf("%s does not explain %s", row.document, name)
		}
		if len(row.names) < 5 {
			t.Errorf("found %v for %s: the test looks in the wrong place", row.names, row.document)
		}
	}
	if got := unexplained(document{text: []byte("`patcher.ErrOne`, `two=DIR` and `three(path)`; `fourth`")}, []string{"ErrOne", "two", "three", "four"}); !slices.Equal(got, []string{"four"}) {
		t.Errorf("control: found %v, want four", got)
	}
}

// unexplained returns the names that are nowhere in a document as `name`, `package.name`, `name=...` or `name(...)`.
func unexplained(doc document, names []string) (missing []string) {
	text := strings.NewReplacer("(", "`", "=", "`", "patcher.", "").Replace(string(doc.text))
	for _, name := range names {
		if !strings.Contains(text, "`"+name+"`") {
			missing = append(missing, name)
		}
	}
	return missing
}

// names returns the exported names of one of our packages that are wanted.
func (c *compiler) names(t *testing.T, name string, wanted func(types.Object) bool) (names []string) {
	t.Helper()
	p, err := c.Import(path.Join(module, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.Scope().Names() {
		if obj := p.Scope().Lookup(name); obj.Exported() && wanted(obj) {
			names = append(names, name)
		}
	}
	return names
}

func isError(t types.Type) bool {
	return types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// returns tells whether obj is a function with a result of that type of its package.
func returns(obj types.Object, name string) bool {
	f, ok := obj.Type().(*types.Signature)
	return ok && f.Results().Len() == 1 && types.Identical(f.Results().At(0).Type(), obj.Pkg().Scope().Lookup(name).Type())
}

func options() (names []string) {
	for _, definition := range generator.OptionsRegistry().AllDefinitions() {
		names = append(names, definition.Name)
	}
	return names
}

func classes() (names []string) {
	for _, c := range class.All() {
		names = append(names, string(c))
	}
	return names
}
