package driver

import (
	"path/filepath"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
)

// GeneratorCommands are the commands that would make the patcher packages which the fixes of items lack: for kinds of the module
// itself by path, for others by name.
func (m *Module) GeneratorCommands(items []Item) []string {
	dirs := map[string]string{}
	for _, p := range m.Packages {
		if len(p.GoFiles) > 0 {
			dirs[p.PkgPath] = filepath.Dir(p.GoFiles[0])
		}
	}
	commands := map[string]bool{}
	for _, it := range items {
		n := kube.Named(it.Finding.Kind)
		if n == nil || n.Obj().Pkg() == nil || !kube.HasStatus(n) || !kube.IsObject(it.Finding.Kind) || safeFix(it.Finding) != nil {
			continue
		}
		api := n.Obj().Pkg().Path()
		if m.Patchers(api) != "" {
			continue
		}
		if dir, own := dirs[api]; own {
			commands["statuspatcher-gen paths=./"+audit.Relative(m.Dir, dir)] = true
		} else {
			commands["statuspatcher-gen types="+api+"."+n.Obj().Name()+" output:dir=internal/foreignstatus"] = true
		}
	}
	var out []string
	for c := range commands {
		out = append(out, c)
	}
	sort.Strings(out)
	return out
}
