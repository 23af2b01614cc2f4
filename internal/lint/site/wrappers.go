package site

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

// A Wrapper is a function that the user named as one whose calls count as status writes, by its full name:
// example.com/op/status.Write, (*example.com/op/status.Writer).Write.
type Wrapper struct {
	Full    string
	Package string
	Type    string // of a method
	Name    string
}

// ParseWrapper reads a full name.
func ParseWrapper(full string) (Wrapper, error) {
	w := Wrapper{Full: full}
	rest := full
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		recv, method, ok := strings.Cut(inner, ").")
		if !ok {
			return w, badWrapper(full)
		}
		w.Name, rest = method, strings.TrimPrefix(recv, "*")
	}
	dot := strings.LastIndex(rest, ".")
	if dot <= strings.LastIndex(rest, "/") {
		return w, badWrapper(full)
	}
	w.Package = rest[:dot]
	if w.Name == "" {
		w.Name = rest[dot+1:]
	} else {
		w.Type = rest[dot+1:]
	}
	if w.Package == "" || !token.IsIdentifier(w.Name) || w.Type != "" && !token.IsIdentifier(w.Type) {
		return w, badWrapper(full)
	}
	return w, nil
}

func badWrapper(full string) error {
	return fmt.Errorf("wrapper %q is not the full name of a function: expected example.com/op/status.Write or (*example.com/op/status.Writer).Write", full)
}

// In looks for the wrapper's package among pkg and what it imports: seen is false without it, and err says what the
// package does not have.
func (w Wrapper) In(pkg *types.Package) (seen bool, err error) {
	home := pkg
	if pkg.Path() != w.Package {
		home = nil
		for _, imp := range pkg.Imports() {
			if imp.Path() == w.Package {
				home = imp
			}
		}
	}
	if home == nil {
		return false, nil
	}
	var fn types.Object = home.Scope().Lookup(w.Name)
	if w.Type != "" {
		tn, ok := home.Scope().Lookup(w.Type).(*types.TypeName)
		if !ok {
			return true, fmt.Errorf("wrapper %q: package %s has no type %s", w.Full, w.Package, w.Type)
		}
		fn, _, _ = types.LookupFieldOrMethod(tn.Type(), true, home, w.Name)
	}
	found, ok := fn.(*types.Func)
	switch {
	case !ok && w.Type != "":
		return true, fmt.Errorf("wrapper %q: type %s.%s has no method %s", w.Full, w.Package, w.Type, w.Name)
	case !ok:
		return true, fmt.Errorf("wrapper %q: package %s has no function %s", w.Full, w.Package, w.Name)
	case found.FullName() != w.Full:
		return true, fmt.Errorf("wrapper %q: the function's full name is %s", w.Full, found.FullName())
	}
	return true, nil
}
