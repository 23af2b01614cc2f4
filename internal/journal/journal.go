// Package journal writes files so that an interruption leaves the tree as it was: before a file changes, its content is copied
// aside and the copy is recorded. Rollback puts everything back; a journal that was not ended is rolled back by the next run.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Name is the directory in which a journal is kept while it is open. The go command ignores it.
const Name = ".statuspatcher-migrate"

// A Journal records what changes below one directory.
type Journal struct {
	root    string
	entries []entry
	// step is called before each step that changes something on disk: a field for tests, which make it fail.
	step func(what string) error
}

// entry is a file as it was before.
type entry struct {
	Path    string
	Existed bool
	Mode    fs.FileMode
	Copy    string // name of the copy in the journal's directory
}

// Begin opens a journal. It fails if there is one that was not ended: call Recover first.
func Begin(root string) (*Journal, error) {
	j := &Journal{root: root, step: func(string) error { return nil }}
	if err := os.Mkdir(j.dir(), 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s is left over from a run that was interrupted: run again to put its files back", j.dir())
		}
		return nil, err
	}
	return j, j.save()
}

// Recover rolls back a journal that was not ended, and reports whether there was one.
func Recover(root string) (bool, error) {
	j := &Journal{root: root, step: func(string) error { return nil }}
	text, err := os.ReadFile(j.list())
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(j.dir()); err != nil {
			return false, nil
		}
		return true, os.RemoveAll(j.dir()) // interrupted before anything was recorded, and so before anything changed
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, &j.entries); err != nil {
		return false, fmt.Errorf("%s: %w: compare the files with your version control, and remove the directory", j.list(), err)
	}
	return true, j.Rollback()
}

func (j *Journal) dir() string  { return filepath.Join(j.root, Name) }
func (j *Journal) list() string { return filepath.Join(j.dir(), "files.json") }

// Track records a file before something else changes, makes or removes it.
func (j *Journal) Track(path string) error {
	for _, e := range j.entries {
		if e.Path == path {
			return nil
		}
	}
	e := entry{Path: path}
	info, err := os.Stat(path)
	switch {
	case err == nil:
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		e.Existed, e.Mode, e.Copy = true, info.Mode().Perm(), strconv.Itoa(len(j.entries))
		if err := j.step("copy " + path); err != nil {
			return err
		}
		if err := replace(filepath.Join(j.dir(), e.Copy), content, 0o600); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	j.entries = append(j.entries, e)
	return j.save()
}

// Write changes a file, which keeps its mode, or makes one.
func (j *Journal) Write(path string, content []byte) error {
	if err := j.Track(path); err != nil {
		return err
	}
	if err := j.step("write " + path); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return replace(path, content, mode)
}

// Commit ends the journal: what was written stays.
func (j *Journal) Commit() error {
	if err := j.step("commit"); err != nil {
		return err
	}
	// Without the list there is nothing to roll back, whatever else is still there.
	if err := os.Remove(j.list()); err != nil {
		return err
	}
	return os.RemoveAll(j.dir())
}

// Rollback puts every file back as it was, and ends the journal.
func (j *Journal) Rollback() error {
	for i := len(j.entries) - 1; i >= 0; i-- {
		if err := j.restore(j.entries[i]); err != nil {
			return err
		}
	}
	return os.RemoveAll(j.dir())
}

func (j *Journal) restore(e entry) error {
	if e.Existed {
		content, err := os.ReadFile(filepath.Join(j.dir(), e.Copy))
		if err != nil {
			return err
		}
		if now, err := os.ReadFile(e.Path); err == nil && string(now) == string(content) {
			return nil
		}
		return replace(e.Path, content, e.Mode)
	}
	if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The directories that were made for it go, if nothing else is in them.
	for dir := filepath.Dir(e.Path); dir != j.root && len(dir) > len(j.root); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break
		}
	}
	return nil
}

func (j *Journal) save() error {
	if err := j.step("record"); err != nil {
		return err
	}
	text, err := json.Marshal(j.entries)
	if err != nil {
		return err
	}
	return replace(j.list(), text, 0o600)
}

// replace writes a file in one step: a reader sees the old content or the new one.
func replace(path string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".statuspatcher-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // no-op after the rename
	if _, err := temp.Write(content); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Sync(); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), mode); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
