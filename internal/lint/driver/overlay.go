package driver

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/tools/go/packages"
)

// overlay makes the go command and the parser see the text of the overlay instead of what is in its files. The overlay of
// packages.Config would do the same, but loads every dependency, the standard library included, from source.
func (l Load) overlay(cfg *packages.Config) (remove func(), err error) {
	if len(l.Overlay) == 0 {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "statuspatcher-lint-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a leftover in the temporary directory harms nobody
	var replaced struct{ Replace map[string]string }
	replaced.Replace = map[string]string{}
	for name, text := range l.Overlay {
		copied := filepath.Join(dir, strconv.Itoa(len(replaced.Replace))+".go")
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			remove()
			return nil, err
		}
		replaced.Replace[name] = copied
	}
	list, err := json.Marshal(replaced)
	if err != nil {
		remove()
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		remove()
		return nil, err
	}
	cfg.BuildFlags = append(cfg.BuildFlags, "-overlay="+file)
	cfg.ParseFile = func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if text, ok := l.Overlay[name]; ok {
			src = text
		}
		return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments)
	}
	return remove, nil
}
