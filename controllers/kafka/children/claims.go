package children

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// claims creates the missing claims of a node, and expands claims. It reports whether all of them exist, also if one could not be
// expanded. While the storage of the node is being replaced, it leaves all as they are: they are created again when formatting is
// permitted, so that the pod finds them empty and the permission together.
func (t *scope) claims(ctx context.Context, n *observation.Node) (exist bool, err error) {
	if n.Recorded && n.Record.Replacing() {
		return true, nil
	}
	wanted, err := t.snapshot.Rendered.Claims(n.ID)
	if err != nil {
		return false, err
	}
	exist = true
	var failures []error
	for _, want := range wanted {
		have := observation.Named(t.snapshot.Objects.Claims, want.Name)
		if have == nil && t.recordLags(n, t.adoption) {
			exist = false
			continue
		}
		err := t.claim(ctx, n, want, have)
		if outdated(err) {
			return false, err
		}
		exist = exist && (have != nil || err == nil)
		failures = append(failures, err)
	}
	return exist, errors.Join(failures...)
}

func (t *scope) claim(ctx context.Context, n *observation.Node, want, have *corev1.PersistentVolumeClaim) error {
	if have == nil {
		if err := t.nodeIsCurrent(ctx, n); err != nil {
			return err
		}
		want = want.DeepCopy()
		if class := want.Spec.StorageClassName; class != nil {
			want.Annotations = over(want.Annotations, map[string]string{labels.StorageClass: *class})
		}
		if err := t.ownClaim(want, want); err != nil {
			return err
		}
		return t.create(ctx, want)
	}
	switch {
	case have.DeletionTimestamp != nil:
		return nil
	case ofAnotherClass(n, want, have):
		return t.write.Delete(ctx, have.DeepCopy()) // it is created again once it is gone
	}
	returned := n.Wanted && have.Annotations[labels.Released] == "true" // its node is desired again, before its release was complete
	if returned {
		if err := t.nodeIsCurrent(ctx, n); err != nil {
			return err
		}
	}
	have, err := t.describeClaim(ctx, want, have, returned)
	if err != nil {
		return err
	}
	return t.expand(ctx, want, have)
}

// ofAnotherClass reports whether a claim that was never bound has another class than is declared: the class of a claim cannot change, and one
// that does not exist would keep the pod from being scheduled for ever. A claim that was requested with the declared class is not of another
// one: a webhook would change the next claim, too. One that is to be filled from a source was created by someone else.
func ofAnotherClass(n *observation.Node, want, have *corev1.PersistentVolumeClaim) bool {
	spec := &have.Spec
	if render.HasDeclaredClass(want, have) || spec.VolumeName != "" || have.Status.Phase == corev1.ClaimBound ||
		spec.DataSource != nil || spec.DataSourceRef != nil {
		return false
	}
	id, is := render.ClaimVolume(have.Name, n.PodName)
	return is && n.Recorded && !n.RecordBroken && !slices.Contains(n.Record.Volumes, id)
}

// describeClaim updates the labels, the annotations and the owner reference of a claim, and returns the claim as it is then.
func (t *scope) describeClaim(ctx context.Context, want, have *corev1.PersistentVolumeClaim, returned bool) (*corev1.PersistentVolumeClaim, error) {
	if !returned && !metaBehind(have, want) && t.ownedAsWanted(have, want) {
		return have, nil
	}
	have = have.DeepCopy()
	catchUp(have, want)
	if returned {
		delete(have.Annotations, labels.Released)
	}
	if err := t.ownClaim(have, want); err != nil {
		return nil, err
	}
	return have, t.write.Update(ctx, have)
}

// deletionOfClaims updates whether the claims of a node that is stopped are deleted with it and with the cluster: its removal may wait
// for hours, and its user may decide to keep the data meanwhile. It creates and expands none, since the node does not run.
func (t *scope) deletionOfClaims(ctx context.Context, n *observation.Node) error {
	wanted, err := t.snapshot.Rendered.Claims(n.ID)
	if err != nil {
		return err
	}
	var failures []error
	for _, want := range wanted {
		have := observation.Named(t.snapshot.Objects.Claims, want.Name)
		if have == nil || have.DeletionTimestamp != nil {
			continue
		}
		_, err := t.describeClaim(ctx, want, have, false)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// expand expands a claim. It is a write of its own, so that a refusal does not keep the annotation back that says whether the claim is
// to be deleted. The API server refuses an expansion because of the storage class or of a quota, for all claims of the class alike:
// after a refusal no other claim of the class is tried in this reconcile. A refusal is ErrWait, without back-off: a scale-up, which
// takes several reconciles, must not wait for it.
//
// The API server expands only bound claims, and a refusal for another phase says nothing about the class. A claim that is Pending is expanded
// once it is bound, of which its watch reports. One that is Lost has no volume.
func (t *scope) expand(ctx context.Context, want, have *corev1.PersistentVolumeClaim) error {
	from, to, class := requested(have), requested(want), ptr.Deref(have.Spec.StorageClassName, "")
	if to.Cmp(from) <= 0 || slices.Contains(t.refused, class) {
		return nil
	}
	switch have.Status.Phase {
	case corev1.ClaimPending:
		return nil
	case corev1.ClaimLost:
		return fmt.Errorf("expanding PersistentVolumeClaim %s from %s to %s: %w: it is Lost: its PersistentVolume %s does not exist any more. Restore that volume, or replace the storage of the node with the annotation %s: \"true\" on its pod",
			have.Name, from.String(), to.String(), lifecycle.ErrWait, have.Spec.VolumeName, labels.DeletePodAndPVC)
	case corev1.ClaimBound:
	}
	have = have.DeepCopy()
	have.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: to}
	err := t.write.Update(ctx, have)
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return err
	}
	t.refused = append(t.refused, class)
	return fmt.Errorf("expanding PersistentVolumeClaim %s from %s to %s: %w: %w. If its storage class does not expand volumes, set the size back, or make another pool",
		have.Name, from.String(), to.String(), lifecycle.ErrWait, err)
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
