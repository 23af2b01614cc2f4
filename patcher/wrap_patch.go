package patcher

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patchContent is what a patch would send, as far as a lock is concerned.
type patchContent struct {
	data []byte
	// class says what kind of blind write it is without a lock; empty for a format that nobody here knows.
	class BlindClass
	// locked: the API server checks a resourceVersion. empty: there is nothing to change.
	locked, empty bool
}

func contentOf(patch client.Patch, obj client.Object) (patchContent, error) {
	data, err := patch.Data(obj)
	if err != nil {
		return patchContent{}, err
	}
	switch patch.Type() {
	case types.MergePatchType, types.StrategicMergePatchType:
		return mergeContent(data)
	case types.JSONPatchType:
		return jsonContent(data)
	}
	return patchContent{data: data}, nil
}

// mergeContent looks for metadata.resourceVersion. MergeFrom itself puts it there if the base has another version than the
// object, which locks the patch to the object's.
func mergeContent(data []byte) (patchContent, error) {
	content := patchContent{data: data, class: BlindMerge}
	var body struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return content, fmt.Errorf("the status patch is not a JSON object: %w", err)
	}
	content.locked = !isNoVersion(body.Metadata.ResourceVersion)
	content.empty = string(bytes.TrimSpace(data)) == "{}"
	return content, nil
}

// operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

const versionPath = "/metadata/resourceVersion"

// jsonContent looks for an operation that tests the version, or sets it, which the API server takes as a precondition.
func jsonContent(data []byte) (patchContent, error) {
	content := patchContent{data: data, class: BlindJSON}
	var operations []operation
	if err := json.Unmarshal(data, &operations); err != nil {
		return content, fmt.Errorf("the status patch is not a list of JSON patch operations: %w", err)
	}
	content.empty = len(operations) == 0
	for _, o := range operations {
		var version string
		if o.Path == versionPath && o.Op != "remove" && json.Unmarshal(o.Value, &version) == nil && !isNoVersion(version) {
			content.locked = true
		}
	}
	return content, nil
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

// lockedOperations puts the lock before the other operations, which stay as they are.
func lockedOperations(data, version []byte) ([]byte, error) {
	var operations []json.RawMessage
	if err := json.Unmarshal(data, &operations); err != nil {
		return nil, err
	}
	lock, err := json.Marshal(operation{Op: "replace", Path: versionPath, Value: version})
	if err != nil {
		return nil, err
	}
	return json.Marshal(append([]json.RawMessage{lock}, operations...))
}
