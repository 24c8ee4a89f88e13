package children

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// claims creates the missing claims of a node, and expands claims. While the storage of the node is being replaced, it leaves all as
// they are: they are created again when formatting is permitted, so that the pod finds them empty and the permission together.
func (t *scope) claims(ctx context.Context, n *observation.Node) error {
	if n.Recorded && n.Record.Replacing() {
		return nil
	}
	wanted, err := t.snapshot.Rendered.Claims(n.ID)
	if err != nil {
		return err
	}
	for _, want := range wanted {
		have := observation.Named(t.snapshot.Objects.Claims, want.Name)
		if err := t.claim(ctx, want, have); err != nil {
			return err
		}
	}
	return nil
}

func (t *scope) claim(ctx context.Context, want, have *corev1.PersistentVolumeClaim) error {
	if have == nil {
		want = want.DeepCopy()
		if err := t.ownClaim(want, want); err != nil {
			return err
		}
		return t.create(ctx, want)
	}
	size := want.Spec.Resources.Requests[corev1.ResourceStorage]
	grows := size.Cmp(requested(have)) > 0
	if have.DeletionTimestamp != nil || !grows && !metaBehind(have, want) && t.ownedAsWanted(have, want) {
		return nil
	}
	have = have.DeepCopy()
	catchUp(have, want)
	if grows {
		have.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: size}
	}
	if err := t.ownClaim(have, want); err != nil {
		return err
	}
	return t.write.Update(ctx, have)
}

func requested(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// ownedAsWanted reports whether the claim has an owner reference to the cluster exactly if it should have one.
func (t *scope) ownedAsWanted(have, want *corev1.PersistentVolumeClaim) bool {
	if render.DeletedWithNode(want) {
		return t.isOwned(have)
	}
	return !slices.ContainsFunc(have.OwnerReferences, t.isCluster)
}

// ownClaim sets the owner reference of the cluster only if the user has requested that the claim be deleted with the cluster. A
// claim holds data, so that it has no owner in the cluster otherwise. Owner references of other owners are kept.
func (t *scope) ownClaim(claim, want *corev1.PersistentVolumeClaim) error {
	if render.DeletedWithNode(want) {
		return t.owned(claim)
	}
	claim.OwnerReferences = slices.DeleteFunc(slices.Clone(claim.OwnerReferences), t.isCluster)
	return nil
}

// isCluster reports whether the owner is the cluster, an earlier resource of its name, or one of its sets.
func (t *scope) isCluster(owner metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	switch {
	case group == kafkav1beta2.Group && owner.Kind == kafkav1beta2.KindKafka:
		return owner.Name == t.kafka.Name
	case group == corev1beta2.Group && owner.Kind == corev1beta2.KindStrimziPodSet:
		return strings.HasPrefix(owner.Name, t.kafka.Name+"-")
	}
	return false
}
