package v1beta2

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
)

// StrimziPodSet holds the complete definition of each pod of one KafkaNodePool.
// A missing pod is created from its entry. A running pod is never changed: an entry takes effect when its pod is restarted.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=strimzipodsets,scope=Namespaced,shortName=sps,categories=strimzi
// +kubebuilder:printcolumn:name="Pods",type=integer,JSONPath=`.status.pods`,description="Number of pods"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyPods`,description="Number of pods that are ready"
// +kubebuilder:printcolumn:name="Current",type=integer,JSONPath=`.status.currentPods`,description="Number of pods that match their entry"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the resource was created"
type StrimziPodSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state of the pods. Detent writes it.
	Spec StrimziPodSetSpec `json:"spec"`
	// Status is the observed state of the pods. Detent writes it.
	// +optional
	Status StrimziPodSetStatus `json:"status,omitzero"`
}

// StrimziPodSetList is a list of pod sets.
//
// +kubebuilder:object:root=true
type StrimziPodSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	// Items are the pod sets.
	Items []StrimziPodSet `json:"items"`
}

// StrimziPodSetSpec is the desired state of a pod set.
type StrimziPodSetSpec struct {
	// Selector selects the pods of the set by their labels. Only matchLabels is used.
	Selector metav1.LabelSelector `json:"selector"`

	// Pods of the set. Each entry is complete, with name, labels, annotations and spec.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Pods []PodEntry `json:"pods"`
}

// PodEntry is the complete definition of one pod, stored exactly as written.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type PodEntry struct {
	k8sruntime.RawExtension `json:",inline"`
}

// NewPodEntry encodes a pod as an entry, with apiVersion and kind and without status. Equal pods give equal bytes. Keys are
// sorted, so that an API server returns the same bytes.
func NewPodEntry(pod *corev1.Pod) (PodEntry, error) {
	spec, err := encoded(pod, &pod.Spec)
	if err != nil {
		return PodEntry{}, err
	}
	return newEntry(&sorter{}, pod, &pod.ObjectMeta, spec)
}

// NewStampedPodEntry is NewPodEntry of a pod with one more annotation. The value of the annotation is computed from the entry without it.
func NewStampedPodEntry(pod *corev1.Pod, annotation string, value func(bare PodEntry) string) (PodEntry, error) {
	spec, err := encoded(pod, &pod.Spec)
	if err != nil {
		return PodEntry{}, err
	}
	var s sorter
	bare, err := newEntry(&s, pod, &pod.ObjectMeta, spec)
	if err != nil {
		return PodEntry{}, err
	}
	stamped := pod.ObjectMeta
	stamped.Annotations = map[string]string{}
	maps.Copy(stamped.Annotations, pod.Annotations)
	stamped.Annotations[annotation] = value(bare)
	return newEntry(&s, pod, &stamped, spec)
}

// newEntry returns the entry with the metadata and the encoded spec.
func newEntry(s *sorter, pod *corev1.Pod, metadata *metav1.ObjectMeta, spec []byte) (PodEntry, error) {
	text, err := encoded(pod, metadata)
	if err != nil {
		return PodEntry{}, err
	}
	const begin, middle, end = `{"apiVersion":"v1","kind":"Pod","metadata":`, `,"spec":`, `}`
	raw := append(make([]byte, 0, len(begin)+len(text)+len(middle)+len(spec)+len(end)), begin...)
	raw = append(s.sorted(raw, text), middle...)
	raw = append(s.sorted(raw, spec), end...)
	return PodEntry{RawExtension: k8sruntime.RawExtension{Raw: raw}}, nil
}

func encoded(pod *corev1.Pod, part any) ([]byte, error) {
	text, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("writing pod %s as an entry: %w", pod.Name, err)
	}
	return text, nil
}

// Pod decodes the entry. It returns an error for an entry that is empty, is not a pod or has no name.
func (e PodEntry) Pod() (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(e.Raw, pod); err != nil {
		return nil, fmt.Errorf("reading an entry as a pod: %w", err)
	}
	if pod.Name == "" {
		return nil, errors.New("reading an entry as a pod: metadata.name is missing")
	}
	return pod, nil
}

// PodsMade is the condition of a StrimziPodSet that shows users why pods could not be created, a line for each. It is absent while every pod
// could be. Programs read RefusedPods.
const PodsMade = "PodsMade"

// RefusedPod is a pod of a set that could not be created.
type RefusedPod struct {
	// Name of the pod.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Message says why. It is empty if the status has no room for it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// StrimziPodSetStatus is the observed state of a pod set.
type StrimziPodSetStatus struct {
	// ObservedGeneration is the newest generation of the spec that has been reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the set, sorted by type, then reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// RefusedPods are the pods that could not be created, since the last transition of the condition PodsMade at the earliest.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	RefusedPods []RefusedPod `json:"refusedPods,omitempty"`

	// Pods is the number of pods that exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Pods int32 `json:"pods"`

	// ReadyPods is the number of pods that are ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ReadyPods int32 `json:"readyPods"`

	// CurrentPods is the number of pods that match their entry.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	CurrentPods int32 `json:"currentPods"`
}
