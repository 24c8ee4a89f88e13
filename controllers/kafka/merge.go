package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
func (t *childReconciler) share(ctx context.Context, s shared, update bool) error {
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
