package generator

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
)

// parse parses a file for its declarations of types and constants. Unless its comments are read, which may be in functions too, the
// functions are left out: large packages are mostly functions, and to parse them took as long as everything else in this process.
func parse(fset *token.FileSet, name string, content []byte, mode parser.Mode) (*ast.File, error) {
	if mode&parser.ParseComments == 0 {
		if text, ok := withoutFunctions(content); ok {
			if file, err := parser.ParseFile(fset, name, text, mode); err == nil {
				return file, nil
			}
		}
	}
	return parser.ParseFile(fset, name, content, mode)
}

// withoutFunctions blanks the functions of a formatted file, so that every other byte keeps its place: from func at the start of a
// line to the brace at the start of a line. It gives up on what may be something else: in a function, as gofmt writes it, every line in
// between is indented, so a line that is not may be part of a string, of a comment, or of the next declaration.
func withoutFunctions(content []byte) (text []byte, ok bool) {
	text = bytes.Clone(content)
	inside := false
	at := 0
	for line := range bytes.Lines(content) {
		start := at
		at += len(line)
		code := bytes.TrimRight(line, " \t\r\n")
		switch {
		case !inside && !bytes.HasPrefix(code, []byte("func ")):
			continue
		case !inside:
			inside = !bytes.HasSuffix(code, []byte("}"))
		case len(code) == 0 || code[0] == ' ' || code[0] == '\t' || code[0] == ')':
		case code[0] == '}':
			inside = false
		default:
			return nil, false
		}
		for i := range code {
			text[start+i] = ' '
		}
	}
	return text, !inside
}

// declares tells whether a line starts with the keyword type or const, as in every file that declares one. A regular expression for
// this took half of the time of a run.
func declares(content []byte) bool {
	for _, keyword := range [][]byte{[]byte("type"), []byte("const")} {
		for rest, from := content, 0; ; {
			at := bytes.Index(rest, keyword)
			if at < 0 {
				break
			}
			at += from
			from = at + len(keyword)
			rest = content[from:]
			before := bytes.TrimRight(content[:at], " \t\f\r")
			if (len(before) == 0 || before[len(before)-1] == '\n') && (len(rest) == 0 || !isWord(rest[0])) {
				return true
			}
		}
	}
	return false
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
