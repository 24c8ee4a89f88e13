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
	Metadata   metav1.ObjectMeta `json:"metadata,omitzero"`
	Kubernetes KubernetesWorld   `json:"kubernetes,omitzero"`
	// Sections of the registered kinds, by the name of the kind.
	Sections map[string]Section `json:"-"`
}

// KubernetesWorld describes failures in Kubernetes.
type KubernetesWorld struct {
	// BadImages are images that cannot be pulled.
	BadImages []string `json:"badImages,omitempty"`
}
