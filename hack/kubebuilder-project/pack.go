package kubebuilderproject

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	modules "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/statuspatcher/statuspatcher"

// published are the modules of this repository that users get, by their directories.
var published = []string{".", "patcher", "patchertest"}

// A module is one version as a module proxy has it.
type module struct {
	path, version string
	gomod, zip    []byte
}

// pack makes the published modules of the checkout, all with one version, as a release does. It tells what is in them: the go
// command relies on the files of a version never changing.
func pack(checkout string) (out []module, err error) {
	sum := sha256.New()
	for _, dir := range published {
		if _, err := packModule(sum, checkout, dir, "v0.0.0"); err != nil {
			return nil, err
		}
	}
	version := fmt.Sprintf("v0.0.0-checkout.h%x", sum.Sum(nil)[:8])
	for _, dir := range published {
		var buffer bytes.Buffer
		m, err := packModule(&buffer, checkout, dir, version)
		if err != nil {
			return nil, err
		}
		m.zip = buffer.Bytes()
		out = append(out, m)
	}
	return out, nil
}

// packModule writes the zip file of a module.
func packModule(out io.Writer, checkout, dir, version string) (module, error) {
	m := module{path: strings.TrimSuffix(modulePath+"/"+dir, "/."), version: version}
	root := filepath.Join(checkout, dir)
	var err error
	if m.gomod, err = releasedGoMod(root, version); err != nil {
		return m, err
	}
	files, err := filesOf(root, m.gomod)
	if err != nil {
		return m, err
	}
	return m, zip.Create(out, modules.Version{Path: m.path, Version: version}, files)
}

// releasedGoMod is a go.mod that requires the other modules of this repository in the version that is released.
func releasedGoMod(root, version string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return nil, err
	}
	for _, replace := range file.Replace {
		if err := file.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, require := range file.Require {
		if strings.HasPrefix(require.Mod.Path, modulePath) {
			if err := file.AddRequire(require.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	file.Cleanup()
	return file.Format()
}

// filesOf returns the files of a module; zip.Create leaves nested modules out.
func filesOf(root string, gomod []byte) (files []zip.File, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case name == ".git" || name == "bin": // not in the repository
			if entry.IsDir() {
				return fs.SkipDir
			}
		case name == "go.mod":
			files = append(files, file{path: path, name: name, content: gomod})
		case entry.Type().IsRegular():
			files = append(files, file{path: path, name: filepath.ToSlash(name)})
		}
		return nil
	})
	return files, err
}

// file is one of the checkout, with other content if that is not nil.
type file struct {
	path, name string
	content    []byte
}

// Path is zip.File's.
func (f file) Path() string { return f.name }

// Lstat is zip.File's.
func (f file) Lstat() (fs.FileInfo, error) { return os.Lstat(f.path) }

// Open is zip.File's.
func (f file) Open() (io.ReadCloser, error) {
	if f.content != nil {
		return io.NopCloser(bytes.NewReader(f.content)), nil
	}
	return os.Open(f.path)
}
