package realserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Request is one HTTP request to the API server, in the terms of RBAC. A request that is not for a resource, such as
// discovery, has no Resource.
type Request struct {
	Verb        string // get, list, watch, create, update, patch, delete or deletecollection
	Group       string // empty for the core group
	Version     string // of the API group: v1
	Resource    string // plural: databases
	Subresource string // status, or empty
	Namespace   string // empty for kinds without one, and for all of them
	Name        string // empty for create, as it is in the body
	ContentType string // of the body; tells the kind of a patch
	Body        []byte // JSON for patches and custom resources; other writes of built-in kinds may be protobuf

	Code int   // HTTP status of the answer; 0 while there is none
	Err  error // why there is no answer
}

// String is the verb and the resource as RBAC writes them: "patch databases/status".
func (r Request) String() string { return r.Verb + " " + r.target() }

// target is the resource with its subresource.
func (r Request) target() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// ResourceVersion is the metadata.resourceVersion in a JSON body: what the server compares with the object's own and
// answers 409 if they differ. It is empty if there is none: a blind write.
func (r Request) ResourceVersion() string {
	var body struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return versionOfOperations(r.Body)
	}
	return body.Metadata.ResourceVersion
}

// versionOfOperations returns the version that a JSON patch starts with: such a patch is locked by an operation that tests or sets it.
func versionOfOperations(body []byte) (version string) {
	var operations []struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(body, &operations) != nil || len(operations) == 0 || operations[0].Path != "/metadata/resourceVersion" {
		return ""
	}
	if json.Unmarshal(operations[0].Value, &version) != nil {
		return ""
	}
	return version
}

// readRequest returns what the request asks for, and a request to send on in its place, since reading used up its body.
func readRequest(req *http.Request) (Request, *http.Request, error) {
	r := parseTarget(req.Method, req.URL.Path, isTrue(req.URL.Query().Get("watch")))
	r.ContentType = req.Header.Get("Content-Type")
	if req.Body == nil || req.Body == http.NoBody {
		return r, req, nil
	}
	body, err := io.ReadAll(req.Body)
	if closeErr := req.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return r, nil, err
	}
	r.Body = body
	again := req.Clone(req.Context())
	again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	again.Body, _ = again.GetBody()
	return r, again, nil
}

func isTrue(value string) bool { return value == "true" || value == "1" }

// parseTarget reads /api/VERSION/... and /apis/GROUP/VERSION/..., as RequestInfoFactory of k8s.io/apiserver does.
func parseTarget(method, path string, watch bool) Request {
	r := Request{}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case segments[0] == "api" && len(segments) > 2:
		r.Version, segments = segments[1], segments[2:]
	case segments[0] == "apis" && len(segments) > 3:
		r.Group, r.Version, segments = segments[1], segments[2], segments[3:]
	default:
		r.Verb = strings.ToLower(method)
		return r
	}
	if segments[0] == "namespaces" && len(segments) > 1 {
		r.Namespace = segments[1]
		if len(segments) > 2 && segments[2] != "status" && segments[2] != "finalize" { // else it is about the namespace itself
			segments = segments[2:]
		}
	}
	r.Resource = segments[0]
	if len(segments) > 1 {
		r.Name = segments[1]
	}
	if len(segments) > 2 {
		r.Subresource = segments[2]
	}
	r.Verb = verb(method, r.Name != "", watch)
	return r
}

func verb(method string, named, watch bool) string {
	switch {
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && !named:
		return "deletecollection"
	case method == http.MethodDelete:
		return "delete"
	case watch:
		return "watch"
	case !named:
		return "list"
	}
	return "get"
}
