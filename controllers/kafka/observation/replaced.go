package observation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
)

// Left is what exists of the pod and the claims of a node whose storage is being replaced.
type Left struct {
	// Undeleted is true if a claim or a pod is to be deleted and is not. Deleted is true if one is being deleted.
	Undeleted, Deleted bool
}

// Replaced returns what is left of what the node's record lists as replaced. A pod that was created later counts while a claim of the
// list is left, which it may use.
func (v *Snapshot) Replaced(n *Node) Left {
	var left Left
	add := func(deleted bool) {
		left.Deleted, left.Undeleted = left.Deleted || deleted, left.Undeleted || !deleted
	}
	for _, claim := range v.ClaimsOf(n) {
		if slices.Contains(n.Record.Replaced, claim.UID) {
			add(claim.DeletionTimestamp != nil)
		}
	}
	uses := left != (Left{}) || slices.Contains(n.Record.Replaced, n.Pod.UID)
	if n.Pod.Exists && uses {
		add(n.Pod.Terminating)
	}
	return left
}

// ClaimsOf returns the claims of the node's volumes.
func (v *Snapshot) ClaimsOf(n *Node) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, claim := range v.Objects.Claims {
		if _, is := render.ClaimVolume(claim.Name, n.PodName); is && claim.Annotations[labels.Released] != "true" {
			out = append(out, claim)
		}
	}
	return out
}

// TerminatingClaim returns a claim that is being deleted and that the node's pod keeps alive by using it; empty if there is none. A pod that
// terminates keeps nothing.
func (v *Snapshot) TerminatingClaim(n *Node) string {
	pod := Named(v.Objects.Pods, n.PodName)
	if pod == nil || n.Pod.Terminating {
		return ""
	}
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if claim := Named(v.Objects.Claims, c.ClaimName); claim != nil && claim.DeletionTimestamp != nil {
				return claim.Name
			}
		}
	}
	return ""
}

// UnknownClaim returns a claim that the node's pod uses and that is not among the cluster's claims; empty if there is none.
func (v *Snapshot) UnknownClaim(n *Node) string {
	pod := Named(v.Objects.Pods, n.PodName)
	if pod == nil {
		return ""
	}
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil && Named(v.Objects.Claims, c.ClaimName) == nil {
			return c.ClaimName
		}
	}
	return ""
}
