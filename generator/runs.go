package generator

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	kindVars    = regexp.MustCompile(`(?m)^var \w+ = &?patcher\.Kind\[\*(?:(\w+)\.)?(\w+), `)
	importSpecs = regexp.MustCompile(`(?m)^\t(?:(\w+) )?"([^"]+)"\r?$`)
)

// A patched is a kind that a generated file has a patcher for.
type patched struct{ pkg, name string }

func (p patched) String() string { return p.pkg + "." + p.name }

// kindsIn are the kinds of a generated file. The package is empty for those of the file's own package.
func kindsIn(content []byte) []patched {
	imports := map[string]string{}
	for _, match := range importSpecs.FindAllSubmatch(content, -1) {
		name, path := string(match[1]), string(match[2])
		if name == "" {
			name = path[strings.LastIndexByte(path, '/')+1:]
		}
		imports[name] = path
	}
	var out []patched
	for _, match := range kindVars.FindAllSubmatch(content, -1) {
		out = append(out, patched{pkg: imports[string(match[1])], name: string(match[2])})
	}
	return out
}

// gone tells whether a package was in one of the modules of this run, and is not there any more.
func (g *generation) gone(pkg string) bool {
	for _, m := range g.modules {
		rel, inside := strings.CutPrefix(pkg, m.path+"/")
		if !inside {
			continue
		}
		dir := filepath.Join(m.root, filepath.FromSlash(rel))
		files, _ := filepath.Glob(filepath.Join(escape(dir), "*.go"))
		if len(files) == 0 && !nested(dir) && findModule(existing(dir)).path == m.path {
			return true
		}
	}
	return false
}

// existing is the first directory above dir that is there, or dir.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// orphaned tells whether a generated file is for packages that are all gone, as after git mv api/v1alpha1 api/v1.
func (g *generation) orphaned(content []byte) bool {
	kinds := kindsIn(content)
	return len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k patched) bool { return k.pkg == "" || !g.gone(k.pkg) })
}

// ofPackages tells whether a generated file has a kind of one of the directories that this run reads.
func (g *generation) ofPackages(content []byte) bool {
	for _, k := range kindsIn(content) {
		for _, m := range g.modules {
			for _, d := range m.dirs {
				if k.pkg == d.importPath {
					return true
				}
			}
		}
	}
	return false
}

// foreignRun reports an output:dir whose file is another run's: with nothing in common, this run would undo that one.
func (g *generation) foreignRun(t *target) {
	if g.OutputDir == "" {
		return
	}
	path := filepath.Join(t.dir, OutputName)
	content, err := os.ReadFile(path)
	if err != nil || !ours(content) || g.orphaned(content) {
		return
	}
	others := kindsIn(content)
	for _, other := range others {
		for _, k := range t.kinds {
			if other.pkg == k.obj.Pkg().Path() && (len(g.Types) == 0 || other.name == k.obj.Name()) {
				return
			}
		}
	}
	if len(others) > 0 {
		g.faults.at(token.Position{Filename: path}, "this file holds the patcher of %s from another run, and none of the patchers of this run: give each run an output:dir= of its own; if the other run is no longer needed, delete the file", others[0])
	}
}
