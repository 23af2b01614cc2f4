package generator

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// An Error is something wrong in what the generator was given to read. Its text is FILE:LINE:COLUMN: Text, as compilers write it.
type Error struct {
	// Pos is where; its Filename is empty when the fault is in no file.
	Pos token.Position
	// Text says what is wrong and what to do.
	Text string
}

func (e Error) Error() string {
	if e.Pos.Filename == "" {
		return e.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Pos.Filename, max(e.Pos.Line, 1), max(e.Pos.Column, 1), e.Text)
}

// Errors are all that is wrong, in the order of the files: what Run returns for wrong input, for errors.As.
type Errors []Error

func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// A UsageError is a command line that makes no sense, for errors.As. Text says why.
type UsageError struct{ Text string }

func (e UsageError) Error() string { return e.Text }

// faults gathers errors, so that one run reports all of them.
type faults struct {
	// dir is what file names are printed relative to.
	dir  string
	list Errors
}

func (f *faults) at(pos token.Position, format string, args ...any) {
	f.list = append(f.list, Error{Pos: f.relative(pos), Text: fmt.Sprintf(format, args...)})
}

func (f *faults) add(format string, args ...any) { f.at(token.Position{}, format, args...) }

func (f *faults) relative(pos token.Position) token.Position {
	pos.Filename = f.display(pos.Filename)
	return pos
}

// display shortens a path below the directory that the command was started in, as compilers do.
func (f *faults) display(path string) string {
	if rel, err := filepath.Rel(f.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// err returns what was gathered, sorted and without repetition; nil when there is nothing.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortFunc(f.list, func(a, b Error) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Text, b.Text))
	})
	f.list = slices.Compact(f.list)
	return f.list
}
