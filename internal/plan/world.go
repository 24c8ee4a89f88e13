package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIVersion and KindWorld identify a World document.
const (
	APIVersion = "detent.dev/v1alpha1"
	KindWorld  = "World"
)

// World describes what the systems behind the resources would answer. What it omits is healthy and consistent with the objects.
type World struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata may name the document; it is not used.
	Metadata   metav1.ObjectMeta       `json:"metadata,omitzero"`
	Kubernetes KubernetesWorld         `json:"kubernetes,omitzero"`
	Connect    map[string]ConnectWorld `json:"connect,omitempty"`
	// Sections of the registered kinds, by the name of the kind.
	Sections map[string]Section `json:"-"`
}

// KubernetesWorld describes failures in Kubernetes.
type KubernetesWorld struct {
	// BadImages are images that cannot be pulled.
	BadImages []string `json:"badImages,omitempty"`
}

// ConnectWorld describes the answers of one Connect cluster. It is not used yet.
type ConnectWorld struct {
	Connectors    map[string]ConnectorWorld  `json:"connectors,omitempty"`
	SilentWorkers map[string]metav1.Duration `json:"silentWorkers,omitempty"`
	Refuse        map[string]ConnectRefusal  `json:"refuse,omitempty"`
}

// ConnectorWorld is one connector as GET status and GET offsets report it.
type ConnectorWorld struct {
	State   string           `json:"state,omitempty"`
	Offsets []map[string]any `json:"offsets,omitempty"`
}

// ConnectRefusal is an answer of Connect's REST interface.
type ConnectRefusal struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

// check validates the sections that belong to no registered kind.
func (w *World) check(d *Document) {
	for _, name := range sorted(w.Connect) {
		for _, worker := range sorted(w.Connect[name].SilentWorkers) {
			if w.Connect[name].SilentWorkers[worker].Duration < 0 {
				d.Fail("connect."+name+".silentWorkers."+worker, "a time cannot be negative")
			}
		}
	}
}
