package v1beta2

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// ConnectorState is the desired state of a connector.
//
// +kubebuilder:validation:Enum=running;paused;stopped
type ConnectorState string

const (
	// ConnectorRunning is the state of a connector that declares none.
	ConnectorRunning ConnectorState = "running"
	// ConnectorPaused has tasks that do nothing.
	ConnectorPaused ConnectorState = "paused"
	// ConnectorStopped has no tasks. Its offsets can be changed.
	ConnectorStopped ConnectorState = "stopped"
)

// MirrorMaker2Connector is one connector of a mirror.
type MirrorMaker2Connector struct {
	// TasksMax is how many tasks the connector may have. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	TasksMax *int32 `json:"tasksMax,omitempty"`

	// Version of the connector's plugin, or a range of versions such as [4.1,5.0), as connector.plugin.version of Connect. Connect 4.1 and
	// later select a plugin by it. Defaults to the latest one that is installed.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Version string `json:"version,omitempty"`

	// Config of the connector, by Connect's property names.
	// +optional
	// +kubebuilder:validation:MaxProperties=512
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// State of the connector: running, paused or stopped. Defaults to running.
	// +optional
	State ConnectorState `json:"state,omitempty"`

	// Pause is the former field for state: paused. State takes precedence.
	// +optional
	Pause *bool `json:"pause,omitempty"`

	// AutoRestart says whether a failed connector, and its failed tasks, are restarted.
	// +optional
	AutoRestart *AutoRestart `json:"autoRestart,omitempty"`

	// ListOffsets says where the offsets are written when the annotation strimzi.io/connector-offsets is list.
	// +optional
	ListOffsets *ListOffsets `json:"listOffsets,omitempty"`

	// AlterOffsets says where the offsets are read from when the annotation strimzi.io/connector-offsets is alter.
	// +optional
	AlterOffsets *AlterOffsets `json:"alterOffsets,omitempty"`
}

// Desired returns the state that the connector is to have.
func (c *MirrorMaker2Connector) Desired() ConnectorState {
	switch {
	case c.State != "":
		return c.State
	case c.Pause != nil && *c.Pause:
		return ConnectorPaused
	}
	return ConnectorRunning
}

// AutoRestart says whether what has failed is restarted.
type AutoRestart struct {
	// Enabled is true if it is restarted.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// MaxRestarts is how often it is restarted. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
}

// ListOffsets is where the offsets of a connector are written.
type ListOffsets struct {
	// ToConfigMap is the ConfigMap to write to, in the namespace of the resource. It is created if it does not exist.
	ToConfigMap ConfigMapName `json:"toConfigMap"`
}

// AlterOffsets is where the new offsets of a connector are read from.
type AlterOffsets struct {
	// FromConfigMap is the ConfigMap to read from, in the namespace of the resource.
	FromConfigMap ConfigMapName `json:"fromConfigMap"`
}

// ConfigMapName is the name of a ConfigMap.
type ConfigMapName struct {
	// Name of the ConfigMap.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
