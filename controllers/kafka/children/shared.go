package children

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
)

// shared is an object that all nodes share, as desired and as observed. have is nil if it does not exist.
type shared struct {
	want, have client.Object
	// merge reports whether have differs from want, and updates have if change is true. It keeps what Kubernetes or others have
	// added.
	merge func(have, want client.Object, change bool) (differs bool)
	// written is called with the API server's answer to an update. Optional.
	written func(client.Object)
}

// share creates the object, or updates it if update is true.
func (t *scope) share(ctx context.Context, s shared, update bool) error {
	if s.have == nil {
		return t.createOwned(ctx, s.want)
	}
	if s.have.GetDeletionTimestamp() != nil || !update {
		return nil
	}
	if t.isOwned(s.have) && !metaBehind(s.have, s.want) && !s.merge(s.have, s.want, false) {
		return nil
	}
	have, ok := s.have.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("updating %T %s: its copy is no object", s.have, s.have.GetName())
	}
	catchUp(have, s.want)
	s.merge(have, s.want, true)
	if err := t.owned(have); err != nil {
		return err
	}
	if err := t.write.Update(ctx, have); err != nil {
		return err
	}
	if s.written != nil {
		s.written(have)
	}
	return nil
}

func mergeService(have, want client.Object, change bool) bool {
	h, okHave := have.(*corev1.Service)
	w, okWant := want.(*corev1.Service)
	if !okHave || !okWant {
		return false
	}
	differs := h.Spec.Type != w.Spec.Type || h.Spec.PublishNotReadyAddresses != w.Spec.PublishNotReadyAddresses ||
		!maps.Equal(h.Spec.Selector, w.Spec.Selector) || !slices.EqualFunc(h.Spec.Ports, w.Spec.Ports, samePort)
	if differs && change {
		h.Spec.Type, h.Spec.PublishNotReadyAddresses, h.Spec.Selector = w.Spec.Type, w.Spec.PublishNotReadyAddresses, w.Spec.Selector
		h.Spec.Ports = w.Spec.Ports
	}
	return differs
}

func samePort(a, b corev1.ServicePort) bool {
	return a.Name == b.Name && a.Port == b.Port && a.Protocol == b.Protocol && a.TargetPort == b.TargetPort
}

func mergeAccount(have, want client.Object, change bool) bool {
	h, okHave := have.(*corev1.ServiceAccount)
	w, okWant := want.(*corev1.ServiceAccount)
	if !okHave || !okWant {
		return false
	}
	token := h.AutomountServiceAccountToken
	differs := token == nil || *token != *w.AutomountServiceAccountToken
	if differs && change {
		h.AutomountServiceAccountToken = w.AutomountServiceAccountToken
	}
	return differs
}

func mergeBudget(have, want client.Object, change bool) bool {
	h, okHave := have.(*policyv1.PodDisruptionBudget)
	w, okWant := want.(*policyv1.PodDisruptionBudget)
	if !okHave || !okWant {
		return false
	}
	differs := h.Spec.MinAvailable == nil || *h.Spec.MinAvailable != *w.Spec.MinAvailable || h.Spec.MaxUnavailable != nil ||
		h.Spec.UnhealthyPodEvictionPolicy == nil || *h.Spec.UnhealthyPodEvictionPolicy != *w.Spec.UnhealthyPodEvictionPolicy ||
		h.Spec.Selector == nil || !maps.Equal(h.Spec.Selector.MatchLabels, w.Spec.Selector.MatchLabels) || len(h.Spec.Selector.MatchExpressions) > 0
	if differs && change {
		h.Spec = *w.Spec.DeepCopy()
	}
	return differs
}

// network creates the objects that all nodes share, and updates existing ones if update is true. One that is refused keeps no other from
// being written. The disruption budget comes first: with the number of earlier nodes it permits too many evictions.
func (t *scope) network(ctx context.Context, update bool) error {
	if len(t.snapshot.Nodes) == 0 {
		return nil
	}
	account, budget := t.snapshot.Rendered.Account(), t.snapshot.Rendered.Budget()
	wanted := []shared{
		{want: budget, have: object(observation.Named(t.snapshot.Objects.Budgets, budget.Name)), merge: mergeBudget},
		{want: account, have: object(observation.Named(t.snapshot.Objects.Accounts, account.Name)), merge: mergeAccount},
	}
	for _, s := range t.snapshot.Rendered.Services(t.snapshot.ClientPorts(observation.AnyBroker)) {
		wanted = append(wanted, shared{want: s, have: object(observation.Named(t.snapshot.Objects.Services, s.Name)), merge: mergeService})
	}
	var failures []error
	for _, s := range wanted {
		err := t.share(ctx, s, update)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// object converts a nil pointer to a nil interface.
func object[T any, P interface {
	*T
	client.Object
}](o P) client.Object {
	if o == nil {
		return nil
	}
	return o
}
