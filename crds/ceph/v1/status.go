package v1

import (
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// ClusterStatus is the observed state of a Ceph cluster.
type ClusterStatus struct {
	lifecyclev1.Status `json:",inline"`

	// Version that the cluster runs. It is not the target.
	// +optional
	Version *VersionStatus `json:"version,omitempty"`

	// Target is the version that the spec asks for, once it was detected.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Target string `json:"target,omitempty"`

	// Ceph is what Ceph reports.
	// +optional
	Ceph *CephStatus `json:"ceph,omitempty"`
}

// VersionStatus is a version of Ceph that runs.
type VersionStatus struct {
	// Image of the daemons that run the version.
	// +optional
	// +kubebuilder:validation:MaxLength=640
	Image string `json:"image,omitempty"`

	// Version is the oldest version that a daemon runs.
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`
}

// CephStatus is what Ceph reports.
type CephStatus struct {
	// Health is HEALTH_OK, HEALTH_WARN or HEALTH_ERR.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Health string `json:"health,omitempty"`

	// Checks are the health codes that are raised, sorted by code: at most 32 of them.
	// +optional
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MaxItems=32
	Checks []HealthCheck `json:"checks,omitempty"`

	// Components are the types of daemons with the versions that they run.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=5
	Components []ComponentStatus `json:"components,omitempty"`
}

// HealthCheck is a health code that is raised.
type HealthCheck struct {
	// Code such as OSD_DOWN.
	// +kubebuilder:validation:MaxLength=128
	Code string `json:"code"`

	// Severity is HEALTH_WARN or HEALTH_ERR.
	// +kubebuilder:validation:MaxLength=32
	Severity string `json:"severity"`

	// Muted is true if an administrator muted the code, so that it does not count in the health.
	// +optional
	Muted bool `json:"muted,omitempty"`
}

// ComponentStatus is a type of daemon.
type ComponentStatus struct {
	// Type of the daemons.
	Type Component `json:"type"`

	// Versions that they run, sorted.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Versions []string `json:"versions"`

	// Done is how many of them run the desired version.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Done int32 `json:"done"`

	// Total is how many there are.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Total int32 `json:"total"`
}
