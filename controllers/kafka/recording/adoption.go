package recording

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
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
	case Leaving(kafka, v) != nil:
		return Wait
	case len(v.Objects.Claims) == 0 && len(v.Objects.Pods) == 0:
		return StartOver
	}
	return Adopt
}

// Leaving returns a pod or a claim that terminates, or belongs to an earlier Kafka or its StrimziPodSet and will be deleted with it; nil if
// there is none. An object with a controller of another kind, such as a claim that a DataVolume fills, stays.
func Leaving(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) client.Object {
	kept := map[types.UID]bool{kafka.UID: true}
	for _, set := range v.Objects.PodSets {
		if owner := metav1.GetControllerOf(set); set.DeletionTimestamp == nil && (owner == nil || owner.UID == kafka.UID) {
			kept[set.UID] = true
		}
	}
	goes := func(o client.Object) bool {
		owner := metav1.GetControllerOf(o)
		return o.GetDeletionTimestamp() != nil || owner != nil && ofKafka(owner) && !kept[owner.UID]
	}
	for _, pod := range v.Objects.Pods {
		if goes(pod) {
			return pod
		}
	}
	for _, claim := range v.Objects.Claims {
		if goes(claim) {
			return claim
		}
	}
	return nil
}

// ofKafka reports whether an owner is a Kafka or a StrimziPodSet.
func ofKafka(owner *metav1.OwnerReference) bool {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && (version.Group == kafkav1beta2.Group || version.Group == corev1beta2.Group)
}

// newRecord returns the record of a node whose storage was deleted with an earlier resource.
func newRecord(n *observation.Node) record.Record {
	return record.Record{
		ID: n.ID, Pool: n.Pool, ClusterID: n.Record.ClusterID, Format: record.FormatAllowed, SnapshotInterval: record.DefaultSnapshotInterval,
	}
}
