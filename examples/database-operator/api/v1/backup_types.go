package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupSpec is what to back up.
type BackupSpec struct {
	// Database is the name of a Database in the Backup's namespace.
	// +kubebuilder:validation:MinLength=1
	Database string `json:"database"`
}

// BackupPhase is where a Backup is in its life.
// +kubebuilder:validation:Enum=Waiting;Running;Succeeded;Failed
type BackupPhase string

const (
	BackupWaiting   BackupPhase = "Waiting"
	BackupRunning   BackupPhase = "Running"
	BackupSucceeded BackupPhase = "Succeeded"
	BackupFailed    BackupPhase = "Failed"
)

// Finished reports whether nothing more will happen.
func (p BackupPhase) Finished() bool { return p == BackupSucceeded || p == BackupFailed }

// BackupStatus is how far the task is.
type BackupStatus struct {
	// +optional
	Phase BackupPhase `json:"phase,omitempty"`

	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Database is the one that this Backup has claimed. It is written after the Database's own status names the Backup.
	// +optional
	Database *TrackedObject `json:"database,omitempty"`

	// SnapshotID is what the storage system calls the snapshot that the data is copied from. Only the storage system can assign it.
	// +statuspatcher:writeOnce
	// +optional
	SnapshotID string `json:"snapshotID,omitempty"`

	// Job is what copies the data.
	// +optional
	Job *TrackedObject `json:"job,omitempty"`
}

// Backup copies a Database once. A Database has one Backup at a time.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec   `json:"spec,omitempty"`
	Status BackupStatus `json:"status,omitempty"`
}

// BackupList is a list of Backups.
//
// +kubebuilder:object:root=true
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backup `json:"items"`
}
