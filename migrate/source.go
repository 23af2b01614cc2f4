package migrate

import (
	"go/ast"
	"go/token"
	"os"

	"github.com/statuspatcher/statuspatcher/internal/engine/flow"
)

// sources gives the text of syntax as it stands in its file.
type sources struct {
	fset  *token.FileSet
	files map[string][]byte
}

func newSources(fset *token.FileSet) *sources {
	return &sources{fset: fset, files: map[string][]byte{}}
}

// file returns the content of a file, empty if it cannot be read.
func (s *sources) file(name string) []byte {
	if _, ok := s.files[name]; !ok {
		s.files[name], _ = os.ReadFile(name) // an empty text makes every edit of the file fail
	}
	return s.files[name]
}

// text returns the source of a node.
func (s *sources) text(n ast.Node) string {
	from, to := s.fset.Position(n.Pos()), s.fset.Position(n.End())
	src := s.file(from.Filename)
	if from.Offset > to.Offset || to.Offset > len(src) {
		return ""
	}
	return string(src[from.Offset:to.Offset])
}

// fileOf returns the syntax of the file that a position is in.
func fileOf(pkg *flow.Package, pos token.Pos) *ast.File {
	for _, f := range pkg.Files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}
