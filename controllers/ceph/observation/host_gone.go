package observation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// hostsGone finds the monitors that wait for a host that does not exist. A host is read only for a pod that waits. One that cannot be read may
// exist: its monitor waits for it, as for a host that is down.
func (o *Collector) hostsGone(ctx context.Context, s *Snapshot) {
	if s.Record == nil {
		return
	}
	s.HostGone = map[ceph.Daemon]bool{}
	for _, m := range s.Record.Of(ceph.TypeMon) {
		node, pod := s.Record.Daemons[m.String()].Node, s.Pods[m]
		if node == "" || pod == nil || pod.DeletionTimestamp != nil || !slices.ContainsFunc(pod.Status.Conditions, unschedulable) {
			continue
		}
		s.HostGone[m] = lifecycle.ObjectMissing(o.Live.Get(ctx, types.NamespacedName{Name: node}, &corev1.Node{}))
	}
}
