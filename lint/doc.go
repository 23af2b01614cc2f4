// Package lint is the analysis behind statuspatcher-lint.
package lint
