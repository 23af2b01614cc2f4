package kubebuilderproject

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// pack makes the zip file of this module, as a module proxy has it. Its version tells what is in it: the go command relies on the
// files of a version never changing.
func pack(checkout string) (version string, zipped []byte, err error) {
	files, err := filesOf(checkout)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.New()
	if err := zip.Create(sum, module.Version{Path: modulePath, Version: "v0.0.0"}, files); err != nil {
		return "", nil, err
	}
	version = fmt.Sprintf("v0.0.0-checkout.h%x", sum.Sum(nil)[:8])
	var buffer bytes.Buffer
	err = zip.Create(&buffer, module.Version{Path: modulePath, Version: version}, files)
	return version, buffer.Bytes(), err
}

// filesOf returns the files of the checkout; zip.Create leaves nested modules out.
func filesOf(checkout string) (files []zip.File, err error) {
	err = filepath.WalkDir(checkout, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(checkout, path)
		switch {
		case err != nil:
			return err
		case name == ".git" || name == "bin": // not in the repository
			return fs.SkipDir
		case entry.Type().IsRegular():
			files = append(files, file{path: path, name: filepath.ToSlash(name)})
		}
		return nil
	})
	return files, err
}

// file is one of the checkout.
type file struct{ path, name string }

// Path is zip.File's.
func (f file) Path() string { return f.name }

// Lstat is zip.File's.
func (f file) Lstat() (fs.FileInfo, error) { return os.Lstat(f.path) }

// Open is zip.File's.
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.path) }
