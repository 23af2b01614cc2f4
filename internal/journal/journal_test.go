package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// tree is the content of all files below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			files[rel] = "directory"
			return nil
		}
		text, err := os.ReadFile(path)
		info, _ := entry.Info()
		files[rel] = fmt.Sprintf("%s %s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func setUp(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"a.go": 0o644, "script.sh": 0o755} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("old "+name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// change is a run with three files: two that were there, and one that is made with its directory.
func change(j *Journal) error {
	for _, name := range []string{"a.go", "script.sh", "made/deep/new.go"} {
		if err := j.Write(filepath.Join(j.root, name), []byte("new "+name)); err != nil {
			return err
		}
	}
	return j.Commit()
}

func TestCommitKeepsWhatWasWritten(t *testing.T) {
	root := setUp(t)
	j, err := Begin(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := change(j); err != nil {
		t.Fatal(err)
	}
	after := tree(t, root)
	if after["a.go"] != "-rw-r--r-- new a.go" || after["script.sh"] != "-rwxr-xr-x new script.sh" || after["made/deep/new.go"] != "-rw-r--r-- new made/deep/new.go" || len(after) != 6 {
		t.Errorf("after a commit: %v", after)
	}
	if recovered, err := Recover(root); recovered || err != nil {
		t.Errorf("Recover after a commit: %v, %v", recovered, err)
	}
}

// An interruption at each step, as by a kill: nothing else runs, and the next run recovers.
func TestAnInterruptionAtEachStepLeavesTheTreeAsItWas(t *testing.T) {
	killed := errors.New("killed")
	interruptions := 0
	for at := 1; ; at++ {
		root := setUp(t)
		before := tree(t, root)
		j, err := Begin(root)
		if err != nil {
			t.Fatal(err)
		}
		steps, where := 0, ""
		j.step = func(what string) error {
			if steps++; steps == at {
				where = what
				return killed
			}
			return nil
		}
		if err := change(j); err == nil {
			break
		} else if !errors.Is(err, killed) {
			t.Fatal(err)
		}
		interruptions++
		if _, err := Begin(root); err == nil {
			t.Errorf("interrupted at %q: another run began", where)
		}
		if recovered, err := Recover(root); !recovered || err != nil {
			t.Errorf("interrupted at %q: Recover: %v, %v", where, recovered, err)
		}
		if after := tree(t, root); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("interrupted at %q: %v, expected %v", where, after, before)
		}
	}
	if interruptions < 8 {
		t.Errorf("%d interruptions: the test tries too little", interruptions)
	}
}

// Negative control: without the records, an interruption leaves half of the files changed.
func TestWithoutRecordsAnInterruptionShows(t *testing.T) {
	root := setUp(t)
	before := tree(t, root)
	j, err := Begin(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Write(filepath.Join(root, "a.go"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	j.entries = nil
	if err := j.Rollback(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(tree(t, root)) == fmt.Sprint(before) {
		t.Error("the tree is as it was: the test of interruptions proves nothing")
	}
}
