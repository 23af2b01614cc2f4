package sim

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Key names an object for ever; who is behind it may change with delete and recreate.
type Key struct {
	Kind      schema.GroupKind
	Namespace string
	Name      string
}

// NamespacedName is the key without its kind.
func (k Key) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

// Commit is one change of the store. Before and After are immutable; After of a deletion is the last state.
type Commit struct {
	Type     watch.EventType
	Key      Key
	Version  int64
	Before   map[string]any
	After    map[string]any
	IsStatus bool // written through the status subresource
}

// Request is one API call, parsed.
type Request struct {
	Verb        string // get, list, create, update, patch, delete, deletecollection
	Kind        *Kind
	Namespace   string
	Name        string
	Subresource string
	Body        []byte
	PatchType   types.PatchType
	Query       url.Values
	Metadata    bool // the caller wants a PartialObjectMetadata
}

// Key is the object that the request names; its name is empty for a list.
func (r *Request) Key() Key {
	return Key{Kind: r.Kind.GVK.GroupKind(), Namespace: r.Namespace, Name: r.Name}
}

// Writes tells whether the request can change the store.
func (r *Request) Writes() bool { return r.Verb != "get" && r.Verb != "list" }

// Answer is what the server answers: an object, or a Status that is an error.
type Answer struct {
	Code    int
	Object  map[string]any
	Err     *apierrors.StatusError
	Commits []Commit
	// Unsupported says what the server cannot simulate. An exploration that meets it ends.
	Unsupported string
}

// Server is the store and its rules. It is safe for concurrent use.
type Server struct {
	Catalog *Catalog

	mu           sync.Mutex
	version      int64
	objects      map[Key]*stored
	incarnations map[Key]int
	log          []Commit
	now          func() time.Time
}

// stored is one object: what is on disk, and what a reader sees of it (defaults are set on read too).
type stored struct {
	disk    map[string]any
	visible map[string]any
	fields  fieldHistory
}

// New starts an empty server. The clock is asked at every write.
func New(catalog *Catalog, now func() time.Time) *Server {
	return &Server{Catalog: catalog, objects: map[Key]*stored{}, incarnations: map[Key]int{}, now: now}
}

// StartAt makes the next commit the one after the given resourceVersion.
func (s *Server) StartAt(version int64) { s.version = version }

// Version is the resourceVersion of the last commit.
func (s *Server) Version() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Log is every commit so far, oldest first.
func (s *Server) Log() []Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log[:len(s.log):len(s.log)]
}

// Get is the object as a reader sees it, or nil. It must not be changed.
func (s *Server) Get(key Key) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[key]; o != nil {
		return o.visible
	}
	return nil
}

// Keys is every object there is, sorted.
func (s *Server) Keys() []Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.objects), CompareKeys)
}

// Handle answers one request.
func (s *Server) Handle(r *Request) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.log)
	answer := s.dispatch(r)
	answer.Commits = s.log[before:len(s.log):len(s.log)]
	if answer.Err != nil {
		answer.Code = int(answer.Err.ErrStatus.Code)
	}
	return answer
}

func (s *Server) dispatch(r *Request) *Answer {
	if r.Subresource != "" && (r.Subresource != "status" || !r.Kind.HasStatus) {
		answer := refuse(apierrors.NewGenericServerResponse(404, r.Verb, r.Kind.groupResource(), r.Name, "", 0, true))
		answer.Unsupported = fmt.Sprintf("%s %s %s: the simulated API server does not have the subresource %q of %s; "+
			"keep the call out of the model, for example behind an interface with a fake", r.Verb, r.Kind.GVK.Kind, r.Name, r.Subresource, r.Kind.GVK.Kind)
		return answer
	}
	switch r.Verb {
	case "get":
		return s.get(r)
	case "list":
		return s.list(r)
	case "create":
		return s.create(r)
	case "update":
		return s.update(r)
	case "patch":
		return s.patch(r)
	case "delete":
		return s.delete(r)
	case "deletecollection":
		return s.deleteCollection(r)
	}
	return refuse(apierrors.NewMethodNotSupported(r.Kind.groupResource(), r.Verb))
}

func refuse(err *apierrors.StatusError) *Answer { return &Answer{Err: err} }

// Seed stores an object as it is, status and all, as if it had been there before the test.
func (s *Server) Seed(obj runtime.Object) error {
	kind, err := s.Catalog.KindFor(obj)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return fmt.Errorf("object of Model.Objects: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kind.GVK)
	u.SetResourceVersion("")
	if err := kind.decode(content); err != nil {
		return fmt.Errorf("%s %s of Model.Objects: %w", kind.GVK.Kind, u.GetName(), err)
	}
	key := Key{Kind: kind.GVK.GroupKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	s.incarnations[key]++
	if u.GetUID() == "" {
		u.SetUID(s.newUID(key))
	}
	if u.GetGeneration() == 0 && kind.countsGenerations() {
		u.SetGeneration(1)
	}
	if u.GetCreationTimestamp().Time.IsZero() {
		u.SetCreationTimestamp(metav1.NewTime(s.now()))
	}
	if errs := kind.validateCreate(content); len(errs) > 0 {
		return fmt.Errorf("%s %s of Model.Objects: expected an object that the CRD allows: %w", kind.GVK.Kind, u.GetName(), errs.ToAggregate())
	}
	s.commit(kind, key, nil, content, false, fieldWrite{manager: "seed", operation: "Update", incoming: content})
	return nil
}

// commit stores an object under a new resourceVersion. The object is the store's from now on.
func (s *Server) commit(kind *Kind, key Key, old *stored, obj map[string]any, isStatus bool, write fieldWrite) *stored {
	s.version++
	setVersion(obj, s.version)
	entry := &stored{disk: obj, visible: obj}
	if kind.crd != nil && (kind.crd.hasDefaults || write.applied != nil) {
		entry.visible = runtime.DeepCopyJSON(obj)
		if err := kind.read(entry.visible); err != nil || equalJSON(entry.visible, entry.disk) {
			entry.visible = entry.disk
		}
	}
	c := Commit{Type: watch.Added, Key: key, Version: s.version, After: entry.visible, IsStatus: isStatus}
	if old != nil {
		c.Type, c.Before = watch.Modified, old.visible
	}
	entry.fields = fieldsAfter(old, write)
	s.objects[key] = entry
	s.log = append(s.log, c)
	return entry
}

// remove deletes an object. In the watch event its last state carries the resourceVersion of the deletion.
func (s *Server) remove(key Key, old *stored, last map[string]any) {
	s.version++
	delete(s.objects, key)
	s.log = append(s.log, Commit{Type: watch.Deleted, Key: key, Version: s.version, Before: old.visible, After: withVersion(last, s.version)})
}

// newUID depends on the key and how often it was created, not on the order of creations: independent creations commute.
func (s *Server) newUID(key Key) types.UID {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%s#%d", key.Kind, key.Namespace, key.Name, s.incarnations[key])
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]))
}

func setVersion(obj map[string]any, version int64) {
	metadata, _ := obj["metadata"].(map[string]any)
	metadata["resourceVersion"] = strconv.FormatInt(version, 10)
}

// withVersion copies the two levels that it changes and shares the rest.
func withVersion(obj map[string]any, version int64) map[string]any {
	out := maps.Clone(obj)
	out["metadata"] = maps.Clone(obj["metadata"].(map[string]any))
	setVersion(out, version)
	return out
}

// CompareKeys orders keys by kind, namespace and name.
func CompareKeys(a, b Key) int {
	for _, pair := range [][2]string{{a.Kind.String(), b.Kind.String()}, {a.Namespace, b.Namespace}, {a.Name, b.Name}} {
		if pair[0] != pair[1] {
			if pair[0] < pair[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}
