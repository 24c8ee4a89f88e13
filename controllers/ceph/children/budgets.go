package children

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/render"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// budgets applies the budgets of the types of daemons that the spec declares. If a host cannot be read, no daemon on it is excluded. One that cannot
// be applied keeps no other from it.
func (t *scope) budgets(ctx context.Context) error {
	var failed failures
	for _, kind := range ceph.Types() {
		if len(t.declaredOf(kind)) == 0 {
			continue
		}
		if !failed.tried(t.budgetOf(ctx, kind)) {
			break
		}
	}
	return failed.join()
}

// budgetOf applies the budget of a type of daemons. That of monitors stays as it is while it is not known which of them have joined.
func (t *scope) budgetOf(ctx context.Context, kind ceph.Type) error {
	away, unread := t.away(ctx, kind)
	want := render.Budget(t.cluster, kind, facts.Evictions(t.snapshot, kind, away))
	if kind == ceph.TypeMon && facts.Undecided(t.snapshot) && t.snapshot.Budgets[want.Name] != nil {
		return unread
	}
	return errors.Join(unread, t.budget(ctx, want))
}

// budget applies a budget. One with a maximum, as earlier releases made it, is replaced as a whole: Apply would keep the maximum beside the minimum.
func (t *scope) budget(ctx context.Context, want *policyv1.PodDisruptionBudget) error {
	have := t.snapshot.Budgets[want.Name]
	if have == nil || have.Spec.MaxUnavailable == nil || have.DeletionTimestamp != nil {
		return t.write.Apply(ctx, want)
	}
	replaced := have.DeepCopy()
	replaced.Spec = want.Spec
	if err := t.write.Own(replaced); err != nil {
		return err
	}
	if err := t.write.Update(ctx, replaced); err != nil {
		return fmt.Errorf("changing the PodDisruptionBudget %s: %w", want.Name, err)
	}
	return nil
}

// away returns the monitors or OSDs of the host that has all of them that do not serve, if that is why: it is drained, or down. Their pods
// cannot start, so that a budget that counts them would never let the last ones go.
func (t *scope) away(ctx context.Context, kind ceph.Type) ([]string, error) {
	if kind != ceph.TypeMon && kind != ceph.TypeOSD {
		return nil, nil
	}
	host, ids := facts.Away(t.snapshot, kind)
	if host == "" {
		return nil, nil
	}
	var node corev1.Node
	switch err := t.Live.Get(ctx, types.NamespacedName{Name: host}, &node); {
	case lifecycle.ObjectMissing(err):
		return ids, nil
	case err != nil:
		return nil, fmt.Errorf("reading the host %s of daemons that do not serve: %w", host, err)
	case node.Spec.Unschedulable || !nodeReady(&node):
		return ids, nil
	}
	return nil, nil
}
