package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// ReasonVolumesNotExpanded is the reason of Ready while a volume is smaller than the spec declares it.
const ReasonVolumesNotExpanded = "VolumesNotExpanded"

// Reasons of claims that keep what their pool does not declare.
const (
	reasonLarger     transitions.Reason = "LargerThanDeclared"
	reasonOtherClass transitions.Reason = "OtherStorageClass"
)

// volumesExpanded sets Ready to false while the volume of a desired node is smaller than declared. The size of a volume is the capacity
// that its claim reports: a claim that was only written says nothing about it.
func volumesExpanded(v *observation.Snapshot) metav1.Condition {
	var small []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Wanted {
			continue
		}
		for want, have := range claims(v, n) {
			if p := expansion(want, have); p != nil {
				small = append(small, p.Message)
			}
		}
	}
	if len(small) == 0 {
		return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "VolumesExpanded"}
	}
	return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: ReasonVolumesNotExpanded, Message: roll.Names(small)}
}

// claims iterates over the claims of a node that exist and are declared: as rendered, and as observed.
func claims(v *observation.Snapshot, n *observation.Node) func(func(want, have *corev1.PersistentVolumeClaim) bool) {
	return func(yield func(want, have *corev1.PersistentVolumeClaim) bool) {
		if v.Rendered == nil || v.Pool(n.Pool) == nil {
			return
		}
		rendered, err := v.Rendered.Claims(n.ID)
		if err != nil {
			return // Apply reports it
		}
		for _, want := range rendered {
			if have := observation.Named(v.Objects.Claims, want.Name); have != nil && have.DeletionTimestamp == nil && !yield(want, have) {
				return
			}
		}
	}
}

// expansion describes what a volume that is smaller than declared waits for; nil if it is large enough. A claim without a capacity is
// not bound yet, and its pod is not ready.
func expansion(want, have *corev1.PersistentVolumeClaim) *transitions.Problem {
	size, declared := have.Status.Capacity[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.IsZero() || size.Cmp(declared) >= 0 {
		return nil
	}
	return transitions.Problemf(ReasonVolumesNotExpanded, "PersistentVolumeClaim %s has %s of %s: %s", have.Name, size.String(), declared.String(), expanding(have))
}

// expanding returns what Kubernetes reports of the expansion of a claim.
func expanding(claim *corev1.PersistentVolumeClaim) string {
	var parts []string
	if state := claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]; state != "" {
		parts = append(parts, string(state))
	}
	pending := false
	for i := range claim.Status.Conditions {
		c := &claim.Status.Conditions[i]
		switch c.Type {
		case corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
			corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError:
		default:
			continue
		}
		if c.Status != corev1.ConditionTrue {
			continue
		}
		pending = pending || c.Type == corev1.PersistentVolumeClaimFileSystemResizePending
		text := string(c.Type)
		if c.Message != "" {
			text += ": " + strings.TrimSuffix(c.Message, ".")
		}
		parts = append(parts, text)
	}
	switch {
	case len(parts) == 0:
		return "nothing reports that it is being expanded. If its storage class does not expand volumes, set the size back"
	case pending:
		parts = append(parts, "if it lasts, restart the pod with the annotation strimzi.io/manual-rolling-update=true")
	}
	return strings.Join(parts, ", ")
}

// keptStorage returns what the storage of a pool declares and its existing claims do not get: a smaller size, or another class. It is
// nil if there is nothing.
func keptStorage(v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool) *transitions.Problem {
	var larger, classes []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Pool != pool.Name || !n.Wanted {
			continue
		}
		for want, have := range claims(v, n) {
			if p := shrinks(want, have); p != nil {
				larger = append(larger, p.Message)
			}
			if p := changesClass(want, have); p != nil {
				classes = append(classes, p.Message)
			}
		}
	}
	var parts []string
	if len(larger) > 0 {
		parts = append(parts, "a smaller size than these have: "+roll.Names(larger))
	}
	if len(classes) > 0 {
		parts = append(parts, "another storage class than these have: "+roll.Names(classes))
	}
	if len(parts) == 0 {
		return nil
	}
	return transitions.Problemf(ReasonStorage, "KafkaNodePool %s declares %s. PersistentVolumeClaims that exist stay as they are. Set it back, or make another pool with it, move the replicas there and scale this one down",
		pool.Name, strings.Join(parts, ", and "))
}

// shrinks names a claim that is larger than declared; nil for another one. A claim that asks for more than it has, because its expansion failed, counts with
// what it has: its user may have set the size back.
func shrinks(want, have *corev1.PersistentVolumeClaim) *transitions.Problem {
	size, declared := have.Spec.Resources.Requests[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if bound := have.Status.Capacity[corev1.ResourceStorage]; !bound.IsZero() && bound.Cmp(size) < 0 {
		size = bound
	}
	if size.Cmp(declared) <= 0 {
		return nil
	}
	return transitions.Problemf(reasonLarger, "%s (%s, declared %s)", have.Name, size.String(), declared.String())
}

// changesClass names a claim that has another class than is declared, and was not asked for with that one; nil for another one. Without a declared class a claim
// has that of the cluster from when it was created.
func changesClass(want, have *corev1.PersistentVolumeClaim) *transitions.Problem {
	declared, class := want.Spec.StorageClassName, have.Spec.StorageClassName
	switch {
	case render.HasDeclaredClass(want, have):
		return nil
	case class == nil:
		return transitions.Problemf(reasonOtherClass, "%s (none, declared %s)", have.Name, *declared)
	}
	return transitions.Problemf(reasonOtherClass, "%s (%s, declared %s)", have.Name, *class, *declared)
}

// keptStorageOf returns a problem for each pool with such storage.
func keptStorageOf(v *observation.Snapshot) []*transitions.Problem {
	var out []*transitions.Problem
	for _, pool := range v.Objects.Pools {
		if p := keptStorage(v, pool); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// terminatingClaims returns a text for each claim that is being deleted while a pod uses it, unless the replacement of the storage of its node
// has begun. The deletion cannot be taken back.
func terminatingClaims(v *observation.Snapshot) []string {
	var out []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		claim := v.TerminatingClaim(n)
		if claim == "" || n.Recorded && n.Record.Replacing() || n.Pod.ReplacementDue {
			continue
		}
		out = append(out, fmt.Sprintf("PersistentVolumeClaim %s is being deleted, and its data is lost when pod %s ends, which therefore is not restarted. Copy its data or move its replicas while the pod runs, then annotate the pod with %s=true: it starts with empty storage",
			claim, n.PodName, labels.DeletePodAndPVC))
	}
	return out
}
