package sim_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/cell"
	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

var (
	sequences = flag.Int("sequences", 150, "random operation sequences that TestDifferential runs on both servers")
	firstSeed = flag.Uint64("first-seed", 1, "seed of the first sequence")
)

const operations = 20

// TestDifferential runs the same random operations on a real kube-apiserver and on the simulated one, and compares
// every answer: code, reason, causes, the object, and whether resourceVersion and UID are those seen before.
func TestDifferential(t *testing.T) {
	catalog, err := sim.NewCatalog(cell.NewScheme(), cell.CRDs())
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(real.Config())
	if err != nil {
		t.Fatal(err)
	}
	const perNamespace = 25
	var group sync.WaitGroup
	gate := make(chan struct{}, 4)
	for at := 0; at < *sequences && !t.Failed(); at += perNamespace {
		namespace := real.Namespace(t)
		gate <- struct{}{}
		group.Go(func() {
			defer func() { <-gate }()
			for i := at; i < min(at+perNamespace, *sequences) && !t.Failed(); i++ {
				server := sim.New(catalog, time.Now)
				simulated := &http.Client{Transport: sim.NewTransport(catalog, func(_ *http.Request, r *sim.Request) (*sim.Answer, error) {
					return server.Handle(r), nil
				})}
				compare(t, *firstSeed+uint64(i), namespace,
					&side{name: "real", client: httpClient, host: strings.TrimSuffix(real.Config().Host, "/")},
					&side{name: "simulated", client: simulated, host: "http://simulated"})
			}
		})
	}
	group.Wait()
	t.Logf("%d sequences of %d operations", *sequences, operations)
}

func compare(t *testing.T, seed uint64, namespace string, sides ...*side) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var script []string
	for i := range operations {
		op := randomOperation(rng, namespace, fmt.Sprintf("s%d-", seed), i)
		script = append(script, op.text())
		want, err := sides[0].do(op)
		if err != nil {
			t.Errorf("sequence %d: real server: %v", seed, err)
			return
		}
		got, err := sides[1].do(op)
		if err != nil {
			t.Errorf("sequence %d: simulated server: %v", seed, err)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sequence %d: answers differ at operation %d (-real +simulated):\n%s\nmessages: %s | %s\noperations:\n%s", seed, i+1, diff,
				sides[0].message, sides[1].message, strings.Join(script, "\n"))
			return
		}
	}
}

// side is one of the two servers, and what it answered so far.
type side struct {
	name    string
	client  *http.Client
	host    string
	seen    []map[string]any
	names   map[string]string
	message string
}

// do sends an operation and returns its answer in a form that is the same on both sides.
func (s *side) do(op operation) (map[string]any, error) {
	body, err := s.body(op)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(op.method, s.host+op.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if op.contentType != "" {
		req.Header.Set("Content-Type", op.contentType)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s %s: expected JSON, found %q: %w", op.method, op.path, text, err)
	}
	if resp.StatusCode < 300 && answer["kind"] != "Status" && answer["items"] == nil {
		delete(answer["metadata"].(map[string]any), "managedFields")
		s.seen = append(s.seen, answer)
	} else {
		s.seen = append(s.seen, nil)
	}
	s.message, _ = answer["message"].(string)
	if answer["kind"] == "Status" {
		answer = s.errorClass(answer)
	}
	answer["code"] = resp.StatusCode
	return s.normal(answer).(map[string]any), nil
}

// errorClass keeps of a Status what a client can act on.
func (s *side) errorClass(status map[string]any) map[string]any {
	out := map[string]any{"status": status["status"], "reason": status["reason"]}
	details, _ := status["details"].(map[string]any)
	if details == nil {
		return out
	}
	out["name"], out["group"], out["kind"], out["uid"] = details["name"], details["group"], details["kind"], details["uid"]
	causes, _ := details["causes"].([]any)
	fields := []string{}
	for _, cause := range causes {
		c := cause.(map[string]any)
		fields = append(fields, fmt.Sprintf("%v %v", c["field"], c["reason"]))
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	out["causes"] = strings.Join(fields, "; ")
	return out
}

// normal replaces what must differ between the servers by the order of first sight, and times by their presence.
func (s *side) normal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) { // by name: first sight must not depend on the map
			child := v[name]
			if name == "metadata" && v["items"] != nil {
				continue // of a list: other sequences move its resourceVersion
			}
			switch name {
			case "managedFields", "selfLink":
			case "creationTimestamp", "deletionTimestamp":
				out[name] = "a time"
			case "resourceVersion", "uid":
				if text, ok := child.(string); ok {
					out[name] = s.canonical(name, text)
				}
			default:
				out[name] = s.normal(child)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.normal(v[i])
		}
		return out
	}
	return value
}

func (s *side) canonical(kind, value string) string {
	if value == "" {
		return ""
	}
	if s.names == nil {
		s.names = map[string]string{}
	}
	key := kind + value
	if s.names[key] == "" {
		s.names[key] = fmt.Sprintf("%s-%d", kind, len(s.names)+1)
	}
	return s.names[key]
}
