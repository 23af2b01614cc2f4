package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statuspatcher/statuspatcher/patchertest/internal/sim"
)

func keyText(k sim.Key) string { return k.Kind.String() + "/" + k.Namespace + "/" + k.Name }

// Short names an object as reports do: kind/name.
func Short(k sim.Key) string { return strings.ToLower(k.Kind.Kind) + "/" + k.Name }

func keyOf(kind *sim.Kind, content map[string]any) sim.Key {
	u := unstructured.Unstructured{Object: content}
	return sim.Key{Kind: kind.GVK.GroupKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// version is an object's resourceVersion as reports show it: counted from 1.
func version(content map[string]any) string {
	if content == nil {
		return "rv ?"
	}
	text := (&unstructured.Unstructured{Object: content}).GetResourceVersion()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "rv " + text
	}
	return fmt.Sprintf("rv %d", n-versionBase)
}

// Version is an object's resourceVersion as reports show it.
func Version(content map[string]any) string { return version(content) }

func carriesVersion(body []byte) bool {
	var obj struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	return json.Unmarshal(body, &obj) == nil && obj.Metadata.ResourceVersion != ""
}

var (
	versionMark  = []byte(strconv.FormatInt(versionBase/100000, 10))
	versionField = []byte(`"resourceVersion":"`)
)

// checkVersionsRead finds resourceVersions that a reconciler stores as data: then the order of all writes matters.
func (w *World) checkVersionsRead(body []byte) {
	for at := 0; ; {
		i := bytes.Index(body[at:], versionMark)
		if i < 0 {
			return
		}
		at += i
		if !bytes.HasSuffix(body[:at], versionField) {
			w.OrderSeen = true
			return
		}
		at += len(versionMark)
	}
}

// describe fills in the record of a call.
func (w *World) describe(c *call, way string) {
	r := w.record
	r.Call = c.title()
	if c.outside != nil {
		r.System = c.outside.system()
	}
	if c.cached {
		r.Call += " (cache)"
	}
	switch {
	case way == crashBefore:
		r.Answer = "the process crashes before the call"
	case way == crashAfter:
		r.Answer = c.status() + "; the process crashes before it sees the answer"
	case way == lost && c.outside != nil:
		r.Answer = "timeout; the call had no effect"
	case way == landed && c.outside != nil:
		r.Answer = "timeout; the call took effect all the same"
	case way == lost:
		r.Answer = "timeout; nothing was written"
	case way == landed:
		r.Answer = "timeout; it was written all the same"
	case c.outside != nil:
		r.Answer = c.status()
	case c.cached && c.err != nil && apierrors.IsNotFound(c.err):
		r.Answer = "not found"
	case c.cached && c.verb == "list":
		r.Answer = fmt.Sprintf("%d objects", c.listed)
	case c.cached && c.content != nil:
		r.Saw, r.Answer = version(c.content), w.Summary(c.content)
	case c.answer != nil:
		r.Answer = c.status()
		if !c.writes() && c.answer.Err == nil && c.verb == "get" {
			r.Saw, r.Answer = version(c.answer.Object), w.Summary(c.answer.Object)
		}
	}
}

func (c *call) title() string {
	if c.outside != nil {
		return c.outside.name
	}
	verb := strings.ToUpper(c.verb[:1]) + c.verb[1:]
	title := verb + " " + Short(c.key)
	if c.r != nil && c.r.Subresource != "" {
		title += " " + c.r.Subresource
	}
	return title
}

func (c *call) status() string {
	if c.outside != nil {
		return c.outside.result
	}
	if c.answer == nil {
		return ""
	}
	if c.answer.Err != nil {
		return fmt.Sprintf("%d %s", c.answer.Code, c.answer.Err.ErrStatus.Reason)
	}
	if len(c.answer.Commits) == 0 && c.writes() {
		return fmt.Sprintf("%d, nothing changed", c.answer.Code)
	}
	return fmt.Sprintf("%d, %s", c.answer.Code, version(c.answer.Object))
}

// Summary shows the status of an object in a few words.
func (w *World) Summary(content map[string]any) string {
	status, _ := content["status"].(map[string]any)
	if len(status) == 0 {
		return "no status"
	}
	return summarise(status)
}

// ordinaryRefusal: a foreign writer may find its object gone, taken or changed.
func ordinaryRefusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsInvalid(err)
}

func callers() []uintptr {
	pcs := make([]uintptr, 96)
	return pcs[:runtime.Callers(3, pcs)]
}

// site is the caller's own line: the first frame that is neither a client's nor ours.
func site(pcs []uintptr) string {
	if len(pcs) == 0 {
		return ""
	}
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		if !foreignFrame(frame.Function) {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func foreignFrame(function string) bool {
	for _, prefix := range []string{
		"sigs.k8s.io/controller-runtime/", "k8s.io/client-go/", "k8s.io/apimachinery/", "net/http.", "runtime.",
		"github.com/statuspatcher/statuspatcher/patchertest/internal/world.", "github.com/statuspatcher/statuspatcher/patchertest/internal/sim.",
		"github.com/statuspatcher/statuspatcher/patcher.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
