package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Handler answers a parsed request of one client. It may wait, fail, or pass on to Server.Handle.
type Handler func(req *http.Request, r *Request) (*Answer, error)

// NewClient makes controller-runtime's own client speak to a handler, so that what arrives are the bytes that it sends
// to a real server. With a cache, reads of cached kinds go there.
func NewClient(catalog *Catalog, handle Handler, cache *client.CacheOptions) (client.Client, error) {
	return client.New(Config(catalog, handle), client.Options{
		HTTPClient: &http.Client{Transport: NewTransport(catalog, handle)},
		Scheme:     catalog.Scheme, Mapper: catalog.Mapper, Cache: cache,
	})
}

// Config is what client-go needs to reach a handler.
func Config(catalog *Catalog, handle Handler) *rest.Config {
	return &rest.Config{
		Host:           "http://patchertest.invalid",
		ContentConfig:  rest.ContentConfig{ContentType: "application/json"},
		QPS:            -1,
		WarningHandler: rest.NoWarnings{},
		Transport:      NewTransport(catalog, handle),
	}
}

// NewTransport makes an HTTP client speak to a handler.
func NewTransport(catalog *Catalog, handle Handler) http.RoundTripper {
	return &transport{catalog: catalog, handle: handle}
}

type transport struct {
	catalog *Catalog
	handle  Handler
}

// RoundTrip implements http.RoundTripper without a network.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	r, refused := t.catalog.parseRequest(req)
	if refused != nil {
		return response(req, r, &Answer{Code: int(refused.ErrStatus.Code), Err: refused})
	}
	answer, err := t.handle(req, r)
	if err != nil {
		return nil, err
	}
	return response(req, r, answer)
}

func (c *Catalog) parseRequest(req *http.Request) (*Request, *apierrors.StatusError) {
	r := &Request{Query: req.URL.Query(), Metadata: strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata")}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return r, apierrors.NewBadRequest(err.Error())
		}
		r.Body = body
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	gvr := schema.GroupVersionResource{}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		gvr.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		gvr.Group, gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return r, notServed(req)
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	gvr.Resource = parts[0]
	if r.Kind = c.byResource[gvr]; r.Kind == nil {
		return r, notServed(req)
	}
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = parts[2]
	}
	return r, r.setVerb(req)
}

func (r *Request) setVerb(req *http.Request) *apierrors.StatusError {
	switch req.Method {
	case http.MethodGet:
		r.Verb = "get"
		if r.Name == "" {
			r.Verb = "list"
		}
	case http.MethodPost:
		r.Verb = "create"
	case http.MethodPut:
		r.Verb = "update"
	case http.MethodPatch:
		r.Verb, r.PatchType = "patch", types.PatchType(req.Header.Get("Content-Type"))
	case http.MethodDelete:
		r.Verb = "delete"
		if r.Name == "" {
			r.Verb = "deletecollection"
		}
	default:
		return notServed(req)
	}
	return nil
}

func notServed(req *http.Request) *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, req.Method, schema.GroupResource{}, "",
		fmt.Sprintf("the simulated API server does not serve %s; is the kind in Model.Scheme or Model.CRDs?", req.URL.Path), 0, true)
}

func response(req *http.Request, r *Request, answer *Answer) (*http.Response, error) {
	var body any = answer.Object
	if answer.Err != nil {
		status := answer.Err.ErrStatus
		status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		body = status
	} else if r.Metadata {
		body = metadataOnly(answer.Object)
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: answer.Code, Status: http.StatusText(answer.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(content)),
		Body: io.NopCloser(bytes.NewReader(content)), Request: req,
	}, nil
}

func metadataOnly(obj map[string]any) map[string]any {
	items, isList := obj["items"].([]any)
	if !isList {
		return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
	}
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = metadataOnly(item.(map[string]any))
	}
	return map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"], "items": out}
}

// TimeoutError is what a client sees of a request whose answer never came.
type TimeoutError struct{ URL *url.URL }

func (e *TimeoutError) Error() string {
	return "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
}

// Timeout and Temporary make it a net.Error, so that apierrors and client-go classify it as one.
func (e *TimeoutError) Timeout() bool   { return true }
func (e *TimeoutError) Temporary() bool { return true }
