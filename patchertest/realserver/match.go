package realserver

import (
	"slices"
	"strings"
)

// Match tells which requests are meant. Any function will do where those below are too coarse.
type Match func(Request) bool

// Requests matches a verb and a resource as RBAC writes them: ("patch", "databases/status"). A resource without a
// subresource is the object itself only; "*" stands for every verb, every resource, and in "databases/*" and
// "*/status" for that part.
func Requests(verb, resource string) Match {
	wantResource, wantSubresource, _ := strings.Cut(resource, "/")
	if resource == "*" {
		wantSubresource = "*"
	}
	return func(r Request) bool {
		return r.Resource != "" && (verb == "*" || verb == r.Verb) &&
			(wantResource == "*" || wantResource == r.Resource) &&
			(wantSubresource == "*" || wantSubresource == r.Subresource)
	}
}

// StatusWrites matches updates and patches of the status subresource: of the resources named, or of any.
func StatusWrites(resources ...string) Match {
	return func(r Request) bool {
		return r.Subresource == "status" && (r.Verb == "patch" || r.Verb == "update") &&
			(len(resources) == 0 || slices.Contains(resources, r.Resource))
	}
}
