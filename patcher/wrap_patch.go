package patcher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patchContent is what a patch would send, as far as a lock is concerned.
type patchContent struct {
	data []byte
	// class says what kind of blind write it is without a lock; empty for what cannot be read.
	class BlindClass
	// locked: the API server checks a resourceVersion. empty: there is nothing to change. status: it writes something of the status.
	locked, empty, status bool
	// onlyMetadata: it writes nothing beside metadata and status.
	onlyMetadata bool
	// lock is that version, for a merge patch.
	lock string
}

func contentOf(patch client.Patch, obj client.Object) (patchContent, error) {
	data, err := patch.Data(obj)
	if err != nil {
		return patchContent{}, err
	}
	switch patch.Type() {
	case types.MergePatchType, types.StrategicMergePatchType:
		return mergeContent(data), nil
	case types.JSONPatchType:
		return jsonContent(data), nil
	}
	return patchContent{data: data}, nil
}

// mergeContent looks for metadata.resourceVersion, as the API server reads it: names are case-sensitive, and the last of two equal
// ones counts. MergeFrom itself puts it there if the base has another version than the object, which locks the patch to the
// object's.
func mergeContent(data []byte) patchContent {
	content := patchContent{data: data, class: BlindMerge}
	var body map[string]json.RawMessage
	if json.Unmarshal(data, &body) != nil {
		return patchContent{data: data} // the API server will refuse it
	}
	content.lock = versionIn(body["metadata"])
	content.locked = content.lock != ""
	content.empty = string(bytes.TrimSpace(data)) == "{}"
	_, content.status = body["status"]
	delete(body, "metadata")
	delete(body, "status")
	content.onlyMetadata = len(body) == 0
	return content
}

// ofAnotherBase reports whether a patch has the version of its object only because it was made against a base of another version, as
// client.MergeFrom does. A lock that the caller asked for is the version of the base.
func ofAnotherBase(patch client.Patch, obj client.Object) bool {
	probe := obj.DeepCopyObject().(client.Object)
	const noVersion = "statuspatcher-probe"
	probe.SetResourceVersion(noVersion)
	data, err := patch.Data(probe)
	return err == nil && patch.Type() == types.MergePatchType && mergeContent(data).lock == noVersion
}

// versionIn returns the resourceVersion in the JSON of an object's metadata, if that locks something.
func versionIn(metadata json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(metadata, &fields) != nil {
		return ""
	}
	return versionOf(fields["resourceVersion"])
}

// versionOf returns the version that a JSON value is, if that locks something.
func versionOf(value json.RawMessage) string {
	var version string
	if json.Unmarshal(value, &version) != nil || isNoVersion(version) {
		return ""
	}
	return version
}

// operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

const versionPath = "/metadata/resourceVersion"

// jsonContent finds out whether the API server checks a version: one that the patch tests before it changes it, or the one that the
// object has after the last operation.
func jsonContent(data []byte) patchContent {
	content := patchContent{data: data, class: BlindJSON}
	var operations []operation
	if json.Unmarshal(data, &operations) != nil {
		return patchContent{data: data} // the API server will refuse it
	}
	content.empty = len(operations) == 0
	content.status = slices.ContainsFunc(operations, operation.writesStatus)
	tested, touched, set := false, false, false
	for _, o := range operations {
		switch {
		case o.Op == "test" && o.Path == versionPath:
			tested = tested || !touched && versionOf(o.Value) != ""
		case o.Op == "test":
		case o.holdsVersion(o.Path):
			touched, set = true, o.setsVersion()
		case o.Op == "move" && o.holdsVersion(o.From):
			touched, set = true, false
		}
	}
	content.locked = tested || set
	return content
}

// writesStatus reports whether an operation changes the status, or what the status is in.
func (o operation) writesStatus() bool {
	return o.Op != "test" && (holdsStatus(o.Path) || o.Op == "move" && holdsStatus(o.From))
}

func holdsStatus(path string) bool {
	return path == "" || path == "/status" || strings.HasPrefix(path, "/status/")
}

// holdsVersion reports whether a path is the version's, or that of what it is in.
func (o operation) holdsVersion(path string) bool {
	return path == versionPath || path == "/metadata" || path == ""
}

// setsVersion reports whether an operation on such a path leaves a version that the API server checks. What a move or a copy brings
// is not known.
func (o operation) setsVersion() bool {
	if o.Op != "add" && o.Op != "replace" {
		return false
	}
	switch o.Path {
	case versionPath:
		return versionOf(o.Value) != ""
	case "/metadata":
		return versionIn(o.Value) != ""
	}
	var body map[string]json.RawMessage
	return json.Unmarshal(o.Value, &body) == nil && versionIn(body["metadata"]) != ""
}

// lockedTo returns the patch with a version that the API server checks.
func (p patchContent) lockedTo(resourceVersion string) ([]byte, error) {
	version, err := json.Marshal(resourceVersion)
	if err != nil {
		return nil, err
	}
	if p.class == BlindJSON {
		return lockedOperations(p.data, version)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(p.data, &body); err != nil {
		return nil, err
	}
	metadata := map[string]json.RawMessage{}
	if raw, ok := body["metadata"]; ok {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	if metadata == nil { // it was null
		metadata = map[string]json.RawMessage{}
	}
	metadata["resourceVersion"] = version
	if body["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// lockedOperations puts the lock behind the other operations, none of which can undo it there.
func lockedOperations(data, version []byte) ([]byte, error) {
	var operations []json.RawMessage
	if err := json.Unmarshal(data, &operations); err != nil {
		return nil, err
	}
	lock, err := json.Marshal(operation{Op: "add", Path: versionPath, Value: version})
	if err != nil {
		return nil, err
	}
	return json.Marshal(append(operations, lock))
}
