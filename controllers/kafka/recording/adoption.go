package recording

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Adoption is how to treat the records that an earlier resource of the same name has left.
type Adoption int

const (
	// Adopt: the records are valid and belong to this resource from now on. Also used if no record is of an earlier resource.
	Adopt Adoption = iota
	// Wait: objects of the earlier resource are still being deleted, so that nothing is decided and no node is created yet.
	Wait
	// StartOver: the storage was deleted with the earlier resource, and the records start over.
	StartOver
)

// AdoptionOf returns how to treat the records of an earlier resource. It judges by the observed objects only: an unobserved pod or claim may have lost its labels.
func AdoptionOf(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) Adoption {
	switch {
	case !slices.ContainsFunc(v.Nodes, func(n observation.Node) bool { return n.Recorded && n.Record.Resource != kafka.UID }):
		return Adopt
	case anotherIsLeaving(kafka, v):
		return Wait
	case len(v.Objects.Claims) == 0 && len(v.Objects.Pods) == 0:
		return StartOver
	}
	return Adopt
}

// anotherIsLeaving reports whether a pod or a claim terminates, or belongs to another resource and will be deleted with it.
func anotherIsLeaving(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) bool {
	kept := map[types.UID]bool{kafka.UID: true}
	for _, set := range v.Objects.PodSets {
		if owner := metav1.GetControllerOf(set); set.DeletionTimestamp == nil && (owner == nil || owner.UID == kafka.UID) {
			kept[set.UID] = true
		}
	}
	goes := func(o client.Object) bool {
		owner := metav1.GetControllerOf(o)
		return o.GetDeletionTimestamp() != nil || owner != nil && !kept[owner.UID]
	}
	return slices.ContainsFunc(v.Objects.Pods, func(pod *corev1.Pod) bool { return goes(pod) }) ||
		slices.ContainsFunc(v.Objects.Claims, func(claim *corev1.PersistentVolumeClaim) bool { return goes(claim) })
}

// newRecord returns the record of a node whose storage was deleted with an earlier resource.
func newRecord(n *observation.Node) record.Record {
	return record.Record{
		ID: n.ID, Pool: n.Pool, ClusterID: n.Record.ClusterID, Format: record.FormatAllowed, SnapshotInterval: record.DefaultSnapshotInterval,
	}
}
