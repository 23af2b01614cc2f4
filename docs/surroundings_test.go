package docs

import (
	"testing"

	"golang.org/x/tools/txtar"
)

// guide is the document that all others build on.
const guide = "docs/getting-started.md"

// surroundings are what a document takes for granted beyond the project that the guide leaves.
var surroundings = map[string]func(*testing.T, *shell){
	"docs/migrating.md": handwritten,
	"docs/testing.md":   cells,
}

// handwritten puts an operator that writes status by hand in the place of the guide's.
func handwritten(t *testing.T, s *shell) {
	if out, err := s.project.Run(".", "rm internal/controller/*.go"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.unpack(t, "testdata/handwritten.txtar")
}

// cells is a module beside the project's, with an operator of its own.
func cells(t *testing.T, s *shell) {
	s.dir = "cells"
	s.unpack(t, "testdata/cells.txtar")
	if out, err := s.project.Run(s.dir, "cp ../go.mod ../go.sum . && go mod edit -module=example.com/cells"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (s *shell) unpack(t *testing.T, name string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s.project.Unpack(t, s.dir, archive)
}
