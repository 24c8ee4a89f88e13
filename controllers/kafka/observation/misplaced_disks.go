package observation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// Misplaced describes the disks of the node that its pool no longer declares; nil if it declares all. A pod created from such a
// pool would start on other storage, without the node's data. If the record permits formatting, there is no data to keep.
func (v *Snapshot) Misplaced(n *Node) *transitions.Problem {
	pool := v.Pool(n.Pool)
	if pool == nil || !n.Recorded || n.Record.Format != record.FormatDone {
		return nil
	}
	var lost []string
	for _, id := range n.Record.Volumes {
		if v.mountsDeclared(n, id, &pool.Spec.Storage) {
			continue
		}
		declared, persistent := render.ClaimName(&pool.Spec.Storage, n.PodName, id)
		switch at := v.claimOf(n, id, declared); {
		case !persistent:
			lost = append(lost, fmt.Sprintf("volume %d", id))
		case at != declared:
			lost = append(lost, fmt.Sprintf("volume %d (on PersistentVolumeClaim %s, not on %s)", id, at, declared))
		}
	}
	lost = append(lost, v.mountedUndeclared(n, &pool.Spec.Storage)...)
	if len(lost) == 0 {
		return nil
	}
	return transitions.Problemf("StorageNotDeclared", "the data of %s lies on persistent %s, which KafkaNodePool %s does not declare", n.PodName, strings.Join(lost, " and "), n.Pool)
}

// mountedUndeclared returns the volumes that a running process of the node has, its record does not list yet, and the pool does not declare:
// they may have data. A pod that never ran put none on a volume.
func (v *Snapshot) mountedUndeclared(n *Node, declared *kafkav1beta2.Storage) (volumes []string) {
	pod := Named(v.Objects.Pods, n.PodName)
	if pod == nil || !n.Pod.Running {
		return nil
	}
	for i := range pod.Spec.Volumes {
		c := pod.Spec.Volumes[i].PersistentVolumeClaim
		if c == nil || render.DeclaresClaim(declared, n.PodName, c.ClaimName) {
			continue
		}
		if id, is := render.ClaimVolume(c.ClaimName, n.PodName); is && !slices.Contains(n.Record.Volumes, id) {
			volumes = append(volumes, fmt.Sprintf("volume %d", id))
		}
	}
	return volumes
}

// mountsDeclared reports whether the node's pod mounts the declared claim for the volume. Misplaced would come to the same result,
// and is called for every node of every reconcile.
func (v *Snapshot) mountsDeclared(n *Node, id int32, declared *kafkav1beta2.Storage) bool {
	claim := ""
	if pod := Named(v.Objects.Pods, n.PodName); pod != nil {
		claim = mountedClaim(pod, id)
	}
	return claim != "" && render.DeclaresClaim(declared, n.PodName, claim)
}

// mountedClaim returns the claim that the pod mounts for the volume; empty if there is none.
func mountedClaim(pod *corev1.Pod, id int32) string {
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if of, ok := render.ClaimVolume(c.ClaimName, pod.Name); ok && of == id {
				return c.ClaimName
			}
		}
	}
	return ""
}

// claimOf returns the claim of the node's volume: the one that its pod mounts, else the declared one if it exists, else an
// existing one of another declaration, else the declared one.
func (v *Snapshot) claimOf(n *Node, id int32, declared string) string {
	if pod := Named(v.Objects.Pods, n.PodName); pod != nil {
		if claim := mountedClaim(pod, id); claim != "" {
			return claim
		}
	}
	if Named(v.Objects.Claims, declared) != nil {
		return declared
	}
	for _, claim := range v.Objects.Claims {
		if of, ok := render.ClaimVolume(claim.Name, n.PodName); ok && of == id {
			return claim.Name
		}
	}
	return declared
}

// MisplacedDisks describes disks that their pools no longer declare: the first node in full, and the number of the others. It is
// nil if there are none.
func MisplacedDisks(v *Snapshot) *transitions.Problem {
	problem, more := every(v, v.Misplaced)
	if problem == nil {
		return nil
	}
	return transitions.Problemf(problem.Reason, "%s%s: declare the storage again as it was, or make another KafkaNodePool and move the data. Running nodes are not changed", problem.Message, more)
}

// every returns the problem of the first node that has one, and words for the number of the others.
func every(v *Snapshot, of func(*Node) *transitions.Problem) (first *transitions.Problem, more string) {
	count := 0
	for i := range v.Nodes {
		problem := of(&v.Nodes[i])
		if problem == nil {
			continue
		}
		count++
		if first == nil {
			first = problem
		}
	}
	if count > 1 {
		more = fmt.Sprintf(" (and so it is with %d more nodes)", count-1)
	}
	return first, more
}
