package patcher

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lockedStatusPatch builds the request: controller-runtime's own merge patch under the optimistic lock, from two objects
// that carry the resourceVersion and a status and nothing else, so that no edit of spec or metadata can leak into it.
func lockedStatusPatch(resourceVersion string, base, status json.RawMessage) (client.Patch, error) {
	from := &statusCarrier{Metadata: carriedMetadata{ResourceVersion: resourceVersion}, Status: base}
	patch := client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{})
	data, err := patch.Data(&statusCarrier{Status: status})
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, data), nil
}

// statusCarrier is an object that has only what a status patch is made of. Of an object's methods, MergeFrom calls none
// but those below; a real ObjectMeta would be copied with each carrier.
type statusCarrier struct {
	metav1.TypeMeta `json:",inline"`
	metav1.Object   `json:"-"`

	Metadata carriedMetadata `json:"metadata"`
	Status   json.RawMessage `json:"status,omitempty"`
}

type carriedMetadata struct {
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

func (c *statusCarrier) GetResourceVersion() string { return c.Metadata.ResourceVersion }

func (c *statusCarrier) SetResourceVersion(version string) { c.Metadata.ResourceVersion = version }

// DeepCopyObject copies what the lock changes, the resourceVersion; the status is only read.
func (c *statusCarrier) DeepCopyObject() runtime.Object {
	out := *c
	return &out
}
