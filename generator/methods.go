package generator

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// A method names one of the methods that the generator wants to know of.
type method struct{ of, name string }

// A funcText is the source of such a method. No function is parsed before somebody asks.
type funcText struct {
	file    string
	content []byte
	at      int // where in the content
}

var methodStart = regexp.MustCompile(`(?m)^func\s*\(\s*(?:\w+\s+)?\*?\s*(\w+)(?:\[[^]]*\])?\s*\)\s*(DeepCopyInto|DeepCopyObject|MarshalJSON)\s*\(`)

func (s *source) findMethods(file string, content []byte) {
	if !bytes.Contains(content, []byte("DeepCopy")) && !bytes.Contains(content, []byte("MarshalJSON")) {
		return
	}
	for _, at := range methodStart.FindAllSubmatchIndex(content, -1) {
		name := method{of: string(content[at[2]:at[3]]), name: string(content[at[4]:at[5]])}
		s.methods[name] = &funcText{file: file, content: content, at: at[0]}
	}
}

// parse returns the function; nil for one that does not parse.
func (f *funcText) parse() *ast.FuncDecl {
	text := f.content[f.at:]
	first := bytes.IndexByte(text, '\n')
	if first < 0 {
		first = len(text)
	}
	if end := bytes.Index(text, []byte("\n}")); end >= 0 && !bytes.HasSuffix(bytes.TrimSpace(text[:first]), []byte("}")) {
		text = text[:end+2]
	} else {
		text = text[:first]
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+string(text), parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return nil
	}
	decl, _ := file.Decls[0].(*ast.FuncDecl)
	return decl
}

func (f *funcText) pos() token.Position {
	return token.Position{Filename: f.file, Line: 1 + bytes.Count(f.content[:f.at], []byte("\n")), Column: 1}
}

// callable tells whether a method can be called as controller-gen declares it.
func (f *funcText) callable(m method) bool {
	decl := f.parse()
	if decl == nil {
		return true // the compiler reports it
	}
	params, results := decl.Type.Params.NumFields(), decl.Type.Results.NumFields()
	if m.name == "DeepCopyObject" {
		return params == 0 && results == 1
	}
	if params != 1 || results != 0 {
		return false
	}
	pointer, ok := decl.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := pointer.X.(*ast.Ident)
	return ok && of.Name == m.of
}
