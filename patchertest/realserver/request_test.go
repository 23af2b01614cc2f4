package realserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// TestReadRequestAgreesWithTheServer holds our reading of a request against the code that the server reads it with.
func TestReadRequestAgreesWithTheServer(t *testing.T) {
	factory := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	paths := []string{
		"/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version", "/openapi/v3",
		"/api/v1/nodes", "/api/v1/nodes/n", "/api/v1/nodes/n/status", "/api/v1/pods", "/api/v1/nodes?watch=true",
		"/api/v1/namespaces", "/api/v1/namespaces/ns", "/api/v1/namespaces/ns/status", "/api/v1/namespaces/ns/finalize",
		"/api/v1/namespaces/ns/pods", "/api/v1/namespaces/ns/pods/p", "/api/v1/namespaces/ns/pods/p/status",
		"/api/v1/namespaces/ns/pods?watch=1", "/api/v1/namespaces/ns/pods?watch=false",
		"/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/ns/deployments", "/apis/apps/v1/namespaces/ns/deployments/d",
		"/apis/apps/v1/namespaces/ns/deployments/d/scale", "/apis/apps/v1/namespaces/ns/deployments/d/status",
	}
	for _, method := range methods {
		for _, path := range paths {
			req := httptest.NewRequest(method, path, nil)
			info, err := factory.NewRequestInfo(req)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := readRequest(req)
			if err != nil {
				t.Fatal(err)
			}
			want := Request{Verb: info.Verb, Namespace: info.Namespace, Name: info.Name}
			if info.IsResourceRequest {
				want.Group, want.Version = info.APIGroup, info.APIVersion
				want.Resource, want.Subresource = info.Resource, info.Subresource
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-server +got):\n%s", method, path, diff)
			}
		}
	}
}

func TestResourceVersionOfABody(t *testing.T) {
	for body, want := range map[string]string{
		`{"metadata":{"resourceVersion":"7"},"status":{}}`: "7",
		`{"status":{"a":1}}`: "",
		`[{"op":"test"}]`:    "",
		`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/status/a","value":null}]`: "7",
		`[{"op":"add","path":"/status/a","value":"7"}]`:                                                                  "",
		`[]`:                        "",
		"k8s\x00 protobuf, say":     "",
		`{"metadata":{"name":"a"}}`: "",
	} {
		if got := (Request{Body: []byte(body)}).ResourceVersion(); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	object := Request{Verb: "get", Resource: "cells"}
	patch := Request{Verb: "patch", Resource: "cells", Subresource: "status"}
	update := Request{Verb: "update", Resource: "cells", Subresource: "status"}
	scale := Request{Verb: "patch", Resource: "cells", Subresource: "scale"}
	discovery := Request{Verb: "get"}
	all := []Request{object, patch, update, scale, discovery}
	for _, row := range []struct {
		name  string
		match Match
		want  []Request
	}{
		{"one verb of one subresource", Requests("patch", "cells/status"), []Request{patch}},
		{"every verb of a subresource", Requests("*", "cells/status"), []Request{patch, update}},
		{"a subresource of anything", Requests("patch", "*/status"), []Request{patch}},
		{"the object itself", Requests("*", "cells"), []Request{object}},
		{"anything of a resource", Requests("patch", "cells/*"), []Request{patch, scale}},
		{"everything but discovery", Requests("*", "*"), []Request{object, patch, update, scale}},
		{"nothing", Requests("delete", "*"), nil},
		{"status writes", StatusWrites(), []Request{patch, update}},
		{"status writes of a resource", StatusWrites("cells"), []Request{patch, update}},
		{"status writes of another", StatusWrites("nodes"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []Request
			for _, r := range all {
				if row.match(r) {
					got = append(got, r)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
