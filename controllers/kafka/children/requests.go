package children

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

// request returns how the annotations of a StrimziPodSet change with a user's request to restart its pods; nil if they do not.
// First the pods that run are listed by their UIDs, in one write. So it is known after any crash which of them were not restarted
// yet. The request is removed when none of them is left and the pool is ready. A request that the user removes ends at once.
func (t *scope) request(pool string, set *corev1beta2.StrimziPodSet) func(*corev1beta2.StrimziPodSet) {
	requested, accepted := restarting.Requested(set), restarting.Accepted(set)
	switch {
	case requested && !accepted:
		pods := t.restartable(pool)
		return func(set *corev1beta2.StrimziPodSet) { restarting.Accept(set, pods) }
	case !requested && accepted, requested && t.restarted(pool):
		return restarting.End
	}
	return nil
}

// restartable returns the pods of the pool that a roll may restart.
func (t *scope) restartable(pool string) []types.UID {
	var pods []types.UID
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if n.Pool == pool && n.Pod.Exists && !n.Pod.Terminating && t.snapshot.WantedRevision(n) != "" {
			pods = append(pods, n.Pod.UID)
		}
	}
	return pods
}

// restarted reports whether every requested restart in the pool is complete: no node is due or selected by a lifecycle, and
// those that are desired are ready.
func (t *scope) restarted(pool string) bool {
	return !slices.ContainsFunc(t.snapshot.Nodes, func(n observation.Node) bool {
		return n.Pool == pool && (n.Pod.RestartDue || n.Wanted && !n.Pod.Ready ||
			selected(t.kafka, n.ID, roll.RestartingNode, roll.AwaitingReady, roll.AwaitingInSync))
	})
}
