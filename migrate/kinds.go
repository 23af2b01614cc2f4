package migrate

import (
	"go/types"
	"path"
	"sort"

	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
)

// An api is a Go package with kinds, and the package of their patchers.
type api struct {
	path     string // import path of the kinds
	name     string // its package name
	dir      string // of the kinds; empty if they are not part of this repository
	patchers string // import path of the patchers
	exists   bool   // the patchers have been generated
	// unmarkable: no comment declares a status subresource, so the kinds are named to the generator one by one.
	unmarkable   bool
	subresources map[string]bool // kinds whose comment declares the status subresource
	kinds        map[string]bool
}

// statusName is the package name of the patchers.
func (a *api) statusName() string { return path.Base(a.patchers) }

// Kinds lists the names of the kinds that are written, in order.
func (a *api) list() []string {
	var out []string
	for k := range a.kinds {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// kindVar finds whether a package of patchers has the Kind of a type.
func kindVar(patchers *types.Package, kind string) bool {
	v, ok := patchers.Scope().Lookup(kind + "Kind").(*types.Var)
	return ok && kube.IsNamed(v.Type(), kube.PatcherPath, "Kind")
}
