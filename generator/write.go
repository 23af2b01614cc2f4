package generator

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/statuspatcher/statuspatcher/internal/unified"
)

// A change is a file that is not as it should be.
type change struct {
	path string
	// old and new are the contents; nil for no file.
	old, new []byte
}

// changes compares what is on disk with what should be there.
func (g *generation) changes(want map[string][]byte) ([]change, error) {
	var out []change
	for _, path := range sortedKeys(want) {
		old, err := os.ReadFile(path)
		switch content := want[path]; {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			g.faults.add("%v", g.cannotWrite(path, err))
		case old != nil && !ours(old):
			g.faults.at(token.Position{Filename: path}, "this is the place of the generated file, but statuspatcher-gen did not write this one: rename it, or generate elsewhere with output:dir=")
		case (old == nil) != (content == nil) || !bytes.Equal(withoutCR(old), content):
			out = append(out, change{path: path, old: old, new: content})
		}
	}
	return out, g.faults.err()
}

// withoutCR undoes what git does to the ends of lines in a checkout on Windows: such a file is current.
func withoutCR(content []byte) []byte { return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")) }

// cause is an error of the file system without the path, which is said elsewhere.
func cause(err error) error {
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// unified is the change as a patch, with the path as it is displayed.
func (c change) unified(path string) string {
	from, to := path, path
	if c.old == nil {
		from = "/dev/null"
	}
	if c.new == nil {
		to = "/dev/null"
	}
	return unified.Diff(from, to, withoutCR(c.old), c.new)
}

// write makes all changes, or as good as none: every new content is on disk beside its place before the first one takes it.
func (g *generation) write(changes []change) (err error) {
	staged := map[string]string{}
	var made []string
	defer func() {
		for _, temp := range staged {
			err = errors.Join(err, os.Remove(temp))
		}
		if err != nil {
			for _, dir := range slices.Backward(made) {
				_ = os.Remove(dir) // it stays if something is in it
			}
		}
	}()
	for _, c := range changes {
		if c.new == nil {
			continue
		}
		temp, dirs, err := stageIn(c)
		made = append(made, dirs...)
		if err != nil {
			return g.cannotWrite(c.path, err)
		}
		staged[c.path] = temp
	}
	for _, c := range changes {
		if err := c.land(staged); err != nil {
			return fmt.Errorf("%s: cannot be replaced (%w): remove the cause and run statuspatcher-gen again, because other files may have been written", g.faults.display(c.path), cause(err))
		}
	}
	return nil
}

// cannotWrite is the error of a place that refuses the file.
func (g *generation) cannotWrite(path string, err error) error {
	advice := "make the directory writable, or generate elsewhere with output:dir="
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free some space, and run statuspatcher-gen again"
	case errors.Is(err, syscall.EROFS):
		advice = "generate elsewhere with output:dir="
	case errors.Is(err, syscall.EISDIR):
		advice = "a directory is in the place of the file: rename it, or generate elsewhere with output:dir="
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		advice = "a file is where a directory is needed: rename it, or generate elsewhere with output:dir="
	}
	return fmt.Errorf("%s: cannot be written (%w), and no file was changed: %s", g.faults.display(path), cause(err), advice)
}

// makeDirs makes a directory and those above it, and says which ones were not there.
func makeDirs(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeDirs(filepath.Dir(dir)); err != nil {
		return made, err
	}
	if err := os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrExist) {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return made, nil // another run made it at this moment
		}
		return made, err
	} else if err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// stageIn makes the directory of a change and stages its content there. Another run may remove the directory, which is empty, in
// between.
func stageIn(c change) (temp string, made []string, err error) {
	for range 10 {
		dirs, err := makeDirs(filepath.Dir(c.path))
		made = append(made, dirs...)
		if err != nil {
			return "", made, err
		}
		if temp, err = stage(c); !errors.Is(err, fs.ErrNotExist) {
			return temp, made, err
		}
	}
	return "", made, err
}

// stage writes the new content to a file beside its place.
func stage(c change) (string, error) {
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(c.path); err == nil {
		mode = info.Mode().Perm()
	}
	var temp *os.File
	var err error
	for n := 0; ; n++ {
		// Not os.CreateTemp: its files are for the owner alone, whatever the umask says.
		temp, err = os.OpenFile(stageName(c.path, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	_, err = temp.Write(c.new)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return temp.Name(), nil
}

func (c change) land(staged map[string]string) error {
	if c.new != nil {
		if err := os.Rename(staged[c.path], c.path); err != nil {
			return err
		}
		delete(staged, c.path)
		return nil
	}
	if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A child package that held nothing else goes with its file. It stays if another run has put something there.
	if entries, err := os.ReadDir(filepath.Dir(c.path)); err == nil && len(entries) == 0 {
		_ = os.Remove(filepath.Dir(c.path))
	}
	return nil
}
