package observation

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// homeless finds the monitors that wait for a host that does not exist. A host is read only for a pod that waits.
func (o *Collector) homeless(ctx context.Context, s *Snapshot) error {
	if s.Record == nil {
		return nil
	}
	s.Homeless = map[ceph.Daemon]bool{}
	for _, m := range s.Record.Of(ceph.TypeMon) {
		node, pod := s.Record.Daemons[m.String()].Node, s.Pods[m]
		if node == "" || pod == nil || pod.DeletionTimestamp != nil || !slices.ContainsFunc(pod.Status.Conditions, unschedulable) {
			continue
		}
		err := o.Live.Get(ctx, types.NamespacedName{Name: node}, &corev1.Node{})
		if s.Homeless[m] = lifecycle.ObjectMissing(err); err != nil && !s.Homeless[m] {
			return fmt.Errorf("reading the host %s of %s: %w", node, m, err)
		}
	}
	return nil
}
