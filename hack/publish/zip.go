package publish

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// filesOf returns the files below a module's directory that belong to the repository, apart from its module files. zip.Create
// leaves nested modules out.
func filesOf(dir string) (files []zip.File, err error) {
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", dir, err)
	}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		f := file{path: filepath.Join(dir, string(name)), name: string(name)}
		if f.name == "" || f.name == "go.mod" || f.name == "go.sum" {
			continue
		}
		if info, err := f.Lstat(); err == nil && info.Mode().IsRegular() { // a deleted one is still in the index
			files = append(files, f)
		}
	}
	return files, nil
}

// zipOf makes the zip file of a module and its hash.
func zipOf(m module.Version, files []zip.File) (zipped []byte, sum string, err error) {
	var buffer bytes.Buffer
	if err := zip.Create(&buffer, m, files); err != nil {
		return nil, "", err
	}
	temp, err := os.CreateTemp("", "module-*.zip")
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	if _, err := temp.Write(buffer.Bytes()); err != nil {
		return nil, "", err
	}
	sum, err = dirhash.HashZip(temp.Name(), dirhash.Hash1)
	return buffer.Bytes(), sum, err
}

// file is a file of the checkout.
type file struct{ path, name string }

// Path returns the name in the module.
func (f file) Path() string { return f.name }

// Lstat describes the file on disk.
func (f file) Lstat() (fs.FileInfo, error) { return os.Lstat(f.path) }

// Open opens the file on disk.
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// content is a file that is not on disk.
type content struct {
	name string
	data []byte
}

// Path returns the name in the module.
func (c content) Path() string { return c.name }

// Lstat describes a regular file.
func (c content) Lstat() (fs.FileInfo, error) { return contentInfo{c}, nil }

// Open reads the content.
func (c content) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.data)), nil }

func (c content) openNamed(string) (io.ReadCloser, error) { return c.Open() }

type contentInfo struct{ content }

// Name returns the base name.
func (i contentInfo) Name() string { return i.name }

// Size returns the length in bytes.
func (i contentInfo) Size() int64 { return int64(len(i.data)) }

// Mode returns that of a regular file.
func (i contentInfo) Mode() fs.FileMode { return 0o644 }

// ModTime returns the zero time, which zip files of modules do not record.
func (i contentInfo) ModTime() time.Time { return time.Time{} }

// IsDir returns false.
func (i contentInfo) IsDir() bool { return false }

// Sys returns nil.
func (i contentInfo) Sys() any { return nil }
