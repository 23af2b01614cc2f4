package generator

import (
	"fmt"
	"go/token"
	"strings"
	"unicode"
)

// names are the identifiers of a package, those of its other files included.
type names struct{ taken map[string]bool }

// unexported claims an identifier that only generated code sees, with a number if it is taken.
func (n *names) unexported(want string) string {
	name := want
	for i := 2; n.taken[name]; i++ {
		name = fmt.Sprint(want, i)
	}
	n.taken[name] = true
	return name
}

// exported claims an identifier that users see: the first one that is free, or else the last one with a number.
func (n *names) exported(wanted ...string) string {
	for _, name := range wanted {
		if !n.taken[name] {
			n.taken[name] = true
			return name
		}
	}
	return n.unexported(wanted[len(wanted)-1])
}

// upperFirst makes the name of an unexported type fit behind another word.
func upperFirst(name string) string {
	runes := []rune(name)
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}

// lowerFirst makes an identifier of a kind's name: httpRoute of HTTPRoute.
func lowerFirst(name string) string {
	runes := []rune(name)
	for i := range runes {
		if i > 0 && (!unicode.IsUpper(runes[i]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// variable is what an object of a kind is called in a signature.
func variable(kind string, taken func(string) bool) string {
	name := lowerFirst(kind)
	if token.IsKeyword(name) || taken(name) {
		return "obj"
	}
	return name
}

// article is the indefinite one of a kind's name.
func article(name string) string {
	if name != "" && strings.ContainsRune("AEIO", unicode.ToUpper(rune(name[0]))) {
		return "an"
	}
	if len(name) > 1 && unicode.IsUpper(rune(name[1])) && strings.ContainsRune("FHLMNRSX", rune(name[0])) {
		return "an" // spelt out: an HTTPRoute
	}
	return "a"
}
