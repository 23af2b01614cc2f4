// Package templates holds the text of generated code. What depends on a decision is decided in package generator.
package templates

import "embed"

// FS has file.go.tmpl, which is the whole file, and the parts that it is made of.
//
//go:embed *.tmpl
var FS embed.FS
