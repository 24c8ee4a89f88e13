package children

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/render"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// budgets applies the budgets of the types of daemons that the spec declares. If a host cannot be read, no OSD is excluded.
func (t *scope) budgets(ctx context.Context) error {
	away, unread := t.away(ctx)
	for _, kind := range ceph.Types() {
		if len(t.declaredOf(kind)) == 0 {
			continue
		}
		budget := render.Budget(t.cluster, kind)
		if kind == ceph.TypeOSD {
			budget = render.OSDBudget(t.cluster, away, facts.NeverServed(t.snapshot))
		}
		if err := t.write.Apply(ctx, budget); err != nil {
			return err
		}
	}
	return unread
}

// away returns the OSDs of the host that has all OSDs that do not serve, if that is why: it is drained, or down. Their pods cannot start, so
// that a budget that counts them would never let the last ones go.
func (t *scope) away(ctx context.Context) ([]string, error) {
	host, ids := facts.Away(t.snapshot)
	if host == "" {
		return nil, nil
	}
	var node corev1.Node
	switch err := t.Live.Get(ctx, types.NamespacedName{Name: host}, &node); {
	case lifecycle.ObjectMissing(err):
		return ids, nil
	case err != nil:
		return nil, fmt.Errorf("reading the host %s of OSDs that do not serve: %w", host, err)
	case node.Spec.Unschedulable || !nodeReady(&node):
		return ids, nil
	}
	return nil, nil
}
