package publish

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// Root is the path of the module in the root of this repository.
const Root = "github.com/statuspatcher/statuspatcher"

// Dirs are the directories of the published modules, each after the modules that it requires.
var Dirs = []string{"", "patcher", "patchertest"}

// A Module is a published module at one version.
type Module struct {
	module.Version
	// Dir is its directory in the repository, with slashes; empty for the root.
	Dir string
	// GoMod and GoSum are its module files, in which the other published modules are required at the same version.
	GoMod, GoSum []byte
	// Zip is what a module proxy serves, and Sum its hash in a go.sum file.
	Zip []byte
	Sum string
}

// Tag returns the name of the git tag that publishes the module.
func (m *Module) Tag() string { return path.Join(m.Dir, m.Version.Version) }

// Modules packs the published modules of a checkout at a version, in the order of Dirs.
func Modules(checkout, version string) ([]*Module, error) {
	var packed []*Module
	for _, dir := range Dirs {
		m, err := pack(checkout, dir, version, packed)
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", path.Join(Root, dir), err)
		}
		packed = append(packed, m)
	}
	return packed, nil
}

// pack packs the module in dir, which may require those that are packed already.
func pack(checkout, dir, version string, packed []*Module) (*Module, error) {
	m := &Module{Version: module.Version{Path: path.Join(Root, dir), Version: version}, Dir: dir}
	if err := m.requireReleased(filepath.Join(checkout, dir), packed); err != nil {
		return nil, err
	}
	files, err := filesOf(filepath.Join(checkout, dir))
	if err != nil {
		return nil, err
	}
	files = append(files, content{"go.mod", m.GoMod}, content{"go.sum", m.GoSum})
	m.Zip, m.Sum, err = zipOf(m.Version, files)
	return m, err
}

// requireReleased sets the module files: every other published module is required at its released version, and is not replaced.
func (m *Module) requireReleased(dir string, released []*Module) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	if m.GoSum, err = os.ReadFile(filepath.Join(dir, "go.sum")); err != nil {
		return err
	}
	for _, other := range released {
		if !requires(file, other.Path) {
			continue
		}
		if err := file.AddRequire(other.Path, other.Version.Version); err != nil {
			return err
		}
		if err := file.DropReplace(other.Path, ""); err != nil {
			return err
		}
		if m.GoSum, err = withSums(m.GoSum, other); err != nil {
			return err
		}
	}
	file.Cleanup()
	if len(file.Replace) > 0 {
		return fmt.Errorf("go.mod replaces %s: whoever requires a published module does not see its replace directives; require a released version",
			file.Replace[0].Old.Path)
	}
	m.GoMod, err = file.Format()
	return err
}

func requires(file *modfile.File, path string) bool {
	return slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
}

// withSums adds the hashes of a released module to a go.sum file, in its order.
func withSums(goSum []byte, released *Module) ([]byte, error) {
	goModSum, err := dirhash.Hash1([]string{"go.mod"}, content{"go.mod", released.GoMod}.openNamed)
	if err != nil {
		return nil, err
	}
	lines := slices.DeleteFunc(slices.Collect(bytes.Lines(goSum)), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte(released.Path+" "))
	})
	lines = append(lines,
		fmt.Appendf(nil, "%s %s %s\n", released.Path, released.Version.Version, released.Sum),
		fmt.Appendf(nil, "%s %s/go.mod %s\n", released.Path, released.Version.Version, goModSum))
	slices.SortFunc(lines, bytes.Compare)
	return bytes.Join(lines, nil), nil
}
