package v1beta2

// Probe is how often the kubelet asks a container, and when it acts on the answers. A field that is absent has the operator's default.
type Probe struct {
	// InitialDelaySeconds is how long after its start the container is not asked.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// TimeoutSeconds is how long an answer may take.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// PeriodSeconds is the time between two questions.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// SuccessThreshold is after how many answers in a row a container that had failed counts as successful.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	SuccessThreshold *int32 `json:"successThreshold,omitempty"`

	// FailureThreshold is after how many failures in a row a container counts as failed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`
}
