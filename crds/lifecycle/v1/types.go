package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is embedded inline in the status of a resource that Detent drives.
// Its only writer is Detent's runtime. All of it can be lost at any time:
// Detent then infers it again from observation. One owner of the whole status is recorded, not one per field.
//
// +structType=atomic
type Status struct {
	// ObservedGeneration is the newest generation of the spec that every lifecycle of this resource has evaluated.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are the public contract: Ready, Reconciling, Stalled and, as they apply, Paused, AwaitingApproval, one Warning per
	// reason, and those of the resource itself. Sorted by type, then reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Lifecycles holds one entry per lifecycle of this resource, and one per instance of a lifecycle with several. States are names
	// for users and tools, not an enumeration: new ones may appear. Of many entries each keeps less history and shorter texts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Lifecycles []Lifecycle `json:"lifecycles,omitempty"`

	// Summary is the first lifecycle that is not at rest, for the columns of kubectl get.
	// +optional
	Summary *Summary `json:"summary,omitempty"`
}

// Lifecycle is the persisted state of one machine for one resource. It is never a source of truth: it can be inferred from
// observation.
type Lifecycle struct {
	// Name of the lifecycle, such as version or roll. For one of several instances it is followed by / and the instance's name.
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name"`
	// Machine is the name and the digest of the graph that made the last transition of this entry, as name@sha256:digest.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Machine string `json:"machine,omitempty"`
	// State is the current state of the lifecycle.
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state"`
	// EnteredAt is when the state was entered.
	EnteredAt metav1.Time `json:"enteredAt"`
	// Attempt is the run towards one target that is in progress.
	// +optional
	Attempt *Attempt `json:"attempt,omitempty"`
	// Data is what the last transition chose, such as the node that is being restarted. Losing it costs time, never safety.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Data map[string]string `json:"data,omitempty"`
	// Progress of the attempt, written at most every 10 seconds.
	// +optional
	Progress *Progress `json:"progress,omitempty"`
	// WaitingFor names the guards that block the lifecycle, with what each expects and what it observed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	WaitingFor []WaitingFor `json:"waitingFor,omitempty"`
	// Deadline is when this wait becomes Stalled. Progress extends it.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// UnknownSince is the time since which a lifecycle at rest or on hold cannot decide, because a guard named in waitingFor
	// cannot be evaluated. Absent while everything that the state depends on can be read.
	// +optional
	UnknownSince *metav1.Time `json:"unknownSince,omitempty"`
	// TransitionsSinceProgress counts the transitions since the attempt last made progress. Above a limit the lifecycle is Stalled.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	TransitionsSinceProgress int32 `json:"transitionsSinceProgress,omitempty"`
	// Transitions counts all transitions of this entry. Requests to other systems are numbered with it.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	Transitions int32 `json:"transitions,omitempty"`
	// History holds the last transitions, with repetitions of a loop folded: a line of text each, with the time, the event, the
	// states, the attempt and how often. It is best effort: no decision reads it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	History History `json:"history,omitempty"`
}

// Attempt is one run towards one target.
type Attempt struct {
	// ID is a short hash of the resource's UID, the lifecycle, the target and the start.
	// +kubebuilder:validation:MaxLength=16
	ID string `json:"id"`
	// From is the start of the attempt, in the machine's own terms.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	From string `json:"from,omitempty"`
	// To is the target of the attempt, in the machine's own terms.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	To string `json:"to,omitempty"`
	// StartedAt is when the attempt began.
	StartedAt metav1.Time `json:"startedAt"`
}

// Progress counts what an attempt has done.
type Progress struct {
	// Done is the number of units that are done.
	// +kubebuilder:validation:Maximum=2147483647
	Done int32 `json:"done"`
	// Total is the number of units.
	// +kubebuilder:validation:Maximum=2147483647
	Total int32 `json:"total"`
	// Unit is what is counted, such as node.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`
	// Current is the unit that is being processed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Current string `json:"current,omitempty"`
}

// WaitingFor is one guard that is not satisfied.
type WaitingFor struct {
	// Guard is the name of the guard.
	// +kubebuilder:validation:MaxLength=64
	Guard string `json:"guard"`
	// Expected is what the guard expects.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Expected string `json:"expected,omitempty"`
	// Observed is what was observed instead, or why it cannot be observed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Observed string `json:"observed,omitempty"`
}

// Summary provides the columns STATE, FOR and PROGRESS.
type Summary struct {
	// Lifecycle that is summarized, with its instance.
	// +kubebuilder:validation:MaxLength=128
	Lifecycle string `json:"lifecycle"`
	// State of that lifecycle.
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state"`
	// Since is when that state was entered.
	Since metav1.Time `json:"since"`
	// Progress as done/total and the unit.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Progress string `json:"progress,omitempty"`
}
