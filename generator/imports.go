package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"
	gengo "k8s.io/gengo/v2/types"
)

// Packages that every generated file may import, under these names.
const (
	metaPath      = "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientPath    = "sigs.k8s.io/controller-runtime/pkg/client"
	reconcilePath = "sigs.k8s.io/controller-runtime/pkg/reconcile"
	patcherPath   = "github.com/statuspatcher/statuspatcher/patcher"
)

// fixedImports are the packages that the templates write by name.
var fixedImports = map[string]string{
	"context":     "context",
	clientPath:    "client",
	reconcilePath: "reconcile",
	patcherPath:   "patcher",
	metaPath:      "metav1",
}

// localNames are variables of the templates: an import of that name would be hidden where it is needed.
var localNames = strings.Fields("a b after base before c condition conditionType ctx dst err f in key live mint mutate obj opts out p result src status value")

// imports names the types of other packages in one generated file, and collects the imports that this takes.
type imports struct {
	tracker *namer.DefaultImportTracker
	namer   namer.Namer
	// names are the names of the packages by path.
	names map[string]string
	// api are the paths of the packages of the kinds: these keep their own name where others get a longer one.
	api map[string]bool
	// taken are names that no import may have.
	taken map[string]bool
}

// newImports prepares the imports of a file in the package of path local, whose other files declare the names taken.
func newImports(local string, api map[string]bool, taken map[string]bool) *imports {
	im := &imports{names: map[string]string{}, api: api, taken: map[string]bool{}}
	for name := range taken {
		im.taken[name] = true
	}
	for _, name := range localNames {
		im.taken[name] = true
	}
	tracker := namer.NewDefaultImportTracker(gengo.Name{Package: local})
	tracker.IsInvalidType = func(*gengo.Type) bool { return false }
	tracker.LocalName = func(name gengo.Name) string { return im.localName(name.Package) }
	tracker.PrintImport = printImport
	im.tracker = &tracker
	im.namer = namer.NewRawNamer(local, im.tracker)
	for path, name := range fixedImports {
		im.names[path] = name
	}
	return im
}

// use imports a package that the templates write by its fixed name.
func (im *imports) use(path string) { im.tracker.AddSymbol(gengo.Name{Package: path, Name: "X"}) }

// qualify is the types.Qualifier of the file.
func (im *imports) qualify(pkg *types.Package) string {
	im.names[pkg.Path()] = pkg.Name()
	im.use(pkg.Path())
	return im.tracker.LocalNameOf(pkg.Path())
}

// typeName spells a declared type.
func (im *imports) typeName(obj *types.TypeName) string {
	im.names[obj.Pkg().Path()] = obj.Pkg().Name()
	return im.namer.Name(&gengo.Type{Name: gengo.Name{Package: obj.Pkg().Path(), Name: obj.Name()}, Kind: gengo.Struct})
}

// spell spells any type.
func (im *imports) spell(t types.Type) string { return types.TypeString(t, im.qualify) }

var apiVersion = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// localName chooses the name of an import: the package's own, with its parent directory before a version (corev1), and
// with more of the path when that is taken.
func (im *imports) localName(importPath string) string {
	if name, fixed := fixedImports[importPath]; fixed {
		return name
	}
	name := im.names[importPath]
	dirs := strings.Split(path.Dir(importPath), "/")
	if apiVersion.MatchString(name) && !im.api[importPath] && len(dirs) > 0 {
		name = identifier(dirs[len(dirs)-1]) + name
		dirs = dirs[:len(dirs)-1]
	}
	for !im.free(name) && len(dirs) > 0 {
		name = identifier(dirs[len(dirs)-1]) + name
		dirs = dirs[:len(dirs)-1]
	}
	for n, stem := 2, name; !im.free(name); n++ {
		name = fmt.Sprint(stem, n)
	}
	return name
}

func (im *imports) free(name string) bool {
	_, imported := im.tracker.PathOf(name)
	for _, fixed := range fixedImports {
		imported = imported || fixed == name
	}
	return !imported && !im.taken[name] && token.IsIdentifier(name) && types.Universe.Lookup(name) == nil
}

// identifier keeps of a path element what may stand in a Go name.
func identifier(element string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, element)
}

func printImport(importPath, name string) string {
	if path.Base(importPath) == name && !apiVersion.MatchString(name) {
		return fmt.Sprintf("%q", importPath)
	}
	return fmt.Sprintf("%s %q", name, importPath)
}

// lines are the import specs: those of the standard library, then the others.
func (im *imports) lines() (standard, others []string) {
	for _, l := range im.tracker.ImportLines() {
		first, _, _ := strings.Cut(l[strings.IndexByte(l, '"')+1:], "/")
		if strings.Contains(first, ".") {
			others = append(others, l)
		} else {
			standard = append(standard, strings.TrimSuffix(l, "\n"))
		}
	}
	slices.Sort(standard)
	return standard, others
}
