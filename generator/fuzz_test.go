package generator

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// FuzzMarker puts any text into comments at each place where a marker may stand: it is read, or it is an error; it is never a
// panic.
func FuzzMarker(f *testing.F) {
	for _, seed := range []string{
		"+statuspatcher:generate=true", "+statuspatcher:generate=false", "+statuspatcher:generate", "+statuspatcher:", "+statuspatcher",
		"+ statuspatcher:generate=true", "+statuspatcher:generate=`true", "+statuspatcher:generate={true}", "+kubebuilder:rbac:groups=a,verbs=",
		"+statuspatcher:generate=true\x00", "+statuspatcher:generate:=true", "+statuspatcher:a:b:c=1,d=\"", "statuspatcher:", "+kubebuilder:resource:path=\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n\r") || strings.Contains(text, "*/") {
			return // the text ends the comment
		}
		source := "// " + text + "\n\n/* " + text + " */\npackage v1\n\n// " + text + "\ntype A struct {\n\t// " + text + "\n\tB int // " + text + "\n}\n// " + text + "\n"
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "types.go", source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return // no Go source
		}
		m := &marked{fset: fset, faults: &faults{}, registry: MarkerRegistry(), requests: requests{types: map[string]request{}}}
		m.scanFile(file)
		if strings.HasPrefix(strings.TrimSpace(text), "+statuspatcher:") && len(m.faults.list) == 0 {
			t.Errorf("no error for %q on a field", text)
		}
		gr := &grants{used: map[string]bool{}, patchesMetadata: map[string]bool{}}
		gr.add([]byte(source))
		_ = rightsOf("A", "group", []line{{text: text}})
		_, _ = ParseOptions([]string{text})
	})
}

// FuzzSource generates for any source: an error of that source, or output that compiles. The packages are listed once, and read again each time.
func FuzzSource(f *testing.F) {
	for _, seed := range sourceSeeds(f) {
		f.Add(seed)
	}
	once := newFuzzModule(f)
	f.Fuzz(func(t *testing.T, source string) {
		once.generate(t, source)
	})
}

// sourceSeeds are the types of the output tests and of the error tests.
func sourceSeeds(f *testing.F) []string {
	var seeds []string
	for _, pattern := range []string{"internal/outputs/*/*/types.go", "internal/outputs/*/*/*/types.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, string(content))
		}
	}
	archives, err := filepath.Glob("../cmd/statuspatcher-gen/testdata/errors/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, "types.go") {
				seeds = append(seeds, string(file.Data))
			}
		}
	}
	return seeds
}

// A fuzzModule is a module of one package, whose one file changes.
type fuzzModule struct {
	dir  string
	fset *token.FileSet
	pkgs []*loader.Package
}

func newFuzzModule(f *testing.F) *fuzzModule {
	m := &fuzzModule{dir: copyOfModule(f, "internal/outputs/header")}
	m.write(f, `package v1

import (
	_ "encoding/json"
	_ "time"

	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/api/resource"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/apimachinery/pkg/types"
	_ "k8s.io/apimachinery/pkg/util/intstr"
)
`)
	// Not in the first run of the target: the fuzzer takes what is slow for hung.
	var err error
	m.fset = token.NewFileSet()
	if m.pkgs, err = load(m.fset, m.dir, "", []string{"./v1"}); err != nil {
		f.Fatal(err)
	}
	return m
}

func (m *fuzzModule) write(t testing.TB, source string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "v1", "types.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (m *fuzzModule) generate(t *testing.T, source string) {
	o := Options{Dir: m.dir, Paths: []string{"./..."}}
	g, err := newGeneration(o)
	if err != nil {
		t.Fatal(err)
	}
	g.load = m.load
	g.fset = m.fset
	m.write(t, source)
	want, err := g.plan()
	if faults := (Errors{}); err != nil && !errors.As(err, &faults) {
		t.Fatalf("not an error of the source: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "this is a bug in statuspatcher-gen") {
		t.Fatal(err)
	}
	for name, content := range want {
		if content == nil {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution); err != nil {
			t.Fatalf("the output does not parse: %v\n%s", err, content)
		}
	}
}

// load has the packages, which were listed once, forget what they had parsed.
func (m *fuzzModule) load(*token.FileSet, string, string, []string) ([]*loader.Package, error) {
	var files []*token.File
	m.fset.Iterate(func(file *token.File) bool {
		files = append(files, file)
		return true
	})
	for _, file := range files {
		m.fset.RemoveFile(file)
	}
	forget(m.pkgs, map[*loader.Package]bool{})
	return m.pkgs, nil
}

func forget(pkgs []*loader.Package, done map[*loader.Package]bool) {
	for _, pkg := range pkgs {
		if done[pkg] {
			continue
		}
		done[pkg] = true
		pkg.Syntax, pkg.Types, pkg.TypesInfo, pkg.IllTyped = nil, nil, nil, false
		pkg.Errors = withoutTypeErrors(pkg.Errors)
		var imports []*loader.Package
		for _, imported := range pkg.Imports() {
			imports = append(imports, imported)
		}
		forget(imports, done)
	}
}

func withoutTypeErrors(list []packages.Error) []packages.Error {
	var out []packages.Error
	for _, e := range list {
		if e.Kind == packages.ListError {
			out = append(out, e)
		}
	}
	return out
}
