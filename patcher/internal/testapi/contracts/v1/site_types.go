package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SiteSpec is there for the generation.
type SiteSpec struct {
	// +optional
	Size int32 `json:"size,omitempty"`
}

// SiteStatus is shared by several controllers.
type SiteStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
	// Count is required.
	Count int32 `json:"count"`
	// Holder must be there, and is null when nobody holds the site.
	// +nullable
	Holder *string `json:"holder"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	Plan *SitePlan `json:"plan,omitempty"`
	// +optional
	Backup *SiteBackup `json:"backup,omitempty"`
	// +optional
	LastBackup string `json:"lastBackup,omitempty"`
	// +optional
	Tag string `json:"tag,omitempty"`
	// Parents has an entry for each parent and controller, and no keys that the API server knows.
	// +listType=atomic
	// +optional
	Parents []Parent `json:"parents,omitempty"`
	// +optional
	Slots *Slots `json:"slots,omitempty"`
}

// SitePlan belongs to two owners.
type SitePlan struct {
	ID string `json:"id"`
	// +optional
	Note string `json:"note,omitempty"`
}

// SiteBackup has an identity.
type SiteBackup struct {
	// +statuspatcher:writeOnce
	// +optional
	SnapshotID string `json:"snapshotID,omitempty"`
	Done       bool   `json:"done"`
}

// Parent is what one controller says of one parent.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Parent struct {
	ParentRef      ParentRef `json:"parentRef"`
	ControllerName string    `json:"controllerName"`
	// +optional
	Note string `json:"note,omitempty"`
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ParentRef is a key of two members.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ParentRef struct {
	Name string `json:"name"`
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// Slots are for many owners.
type Slots struct {
	// +optional
	S01 int64 `json:"s01,omitempty"`
	// +optional
	S02 int64 `json:"s02,omitempty"`
	// +optional
	S03 int64 `json:"s03,omitempty"`
	// +optional
	S04 int64 `json:"s04,omitempty"`
	// +optional
	S05 int64 `json:"s05,omitempty"`
	// +optional
	S06 int64 `json:"s06,omitempty"`
	// +optional
	S07 int64 `json:"s07,omitempty"`
	// +optional
	S08 int64 `json:"s08,omitempty"`
	// +optional
	S09 int64 `json:"s09,omitempty"`
	// +optional
	S10 int64 `json:"s10,omitempty"`
	// +optional
	S11 int64 `json:"s11,omitempty"`
	// +optional
	S12 int64 `json:"s12,omitempty"`
	// +optional
	S13 int64 `json:"s13,omitempty"`
	// +optional
	S14 int64 `json:"s14,omitempty"`
	// +optional
	S15 int64 `json:"s15,omitempty"`
	// +optional
	S16 int64 `json:"s16,omitempty"`
	// +optional
	S17 int64 `json:"s17,omitempty"`
	// +optional
	S18 int64 `json:"s18,omitempty"`
	// +optional
	S19 int64 `json:"s19,omitempty"`
	// +optional
	S20 int64 `json:"s20,omitempty"`
	// +optional
	S21 int64 `json:"s21,omitempty"`
	// +optional
	S22 int64 `json:"s22,omitempty"`
	// +optional
	S23 int64 `json:"s23,omitempty"`
	// +optional
	S24 int64 `json:"s24,omitempty"`
	// +optional
	S25 int64 `json:"s25,omitempty"`
	// +optional
	S26 int64 `json:"s26,omitempty"`
	// +optional
	S27 int64 `json:"s27,omitempty"`
	// +optional
	S28 int64 `json:"s28,omitempty"`
	// +optional
	S29 int64 `json:"s29,omitempty"`
	// +optional
	S30 int64 `json:"s30,omitempty"`
	// +optional
	S31 int64 `json:"s31,omitempty"`
	// +optional
	S32 int64 `json:"s32,omitempty"`
}

// Site is the kind with several owners.
//
// +statuspatcher:owner=planner,fields=plan.id;phase;count,conditions=Planned,reads=none
// +statuspatcher:owner=backup,fields=backup;lastBackup,conditions=BackupSafe,reads=status.plan.id;status.conditions[Planned]
// +statuspatcher:owner=tagger,fields=tag,reads=finalizers;ownerReferences,ignores=labels;annotations;spec
// +statuspatcher:owner=gateway,entries=parents[controllerName=example.com/gateway,parentRef],reads=none
// +statuspatcher:owner=noter,fields=plan.note
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of Sites.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}
