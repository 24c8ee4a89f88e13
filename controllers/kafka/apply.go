package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Apply creates and updates the objects of a cluster without disruption: only Restart replaces the entries of existing nodes, and
// Apply removes only objects that are neither mounted nor desired.
//
// Everything that is remembered is written before what it refers to: node ids and records before claims, claims and
// configurations before entries, entries before pods, which the StrimziPodSet controller creates. No node is created while the
// ids or the identity of the cluster are uncertain. version returns the Kafka version of a new node's entry; empty means no entry
// yet. Apply changes nothing of a cluster whose nodes were created by another operator.
func (e *Effects) Apply(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, version func(*observation.Node) string) error {
	if observation.Foreign(snapshot) != nil {
		return nil
	}
	t := &childReconciler{Effects: e, kafka: kafka, snapshot: snapshot, write: write}
	var failures []error
	for _, step := range []func(context.Context) error{
		t.poolStatuses,
		func(ctx context.Context) error { return t.network(ctx, true) },
		func(ctx context.Context) error { return t.nodes(ctx, version) },
		t.components,
	} {
		err := step(ctx)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// nodes creates and updates the objects of each node, in the order of their dependencies.
func (t *childReconciler) nodes(ctx context.Context, version func(*observation.Node) string) error {
	if t.undecided() {
		return nil
	}
	if from, err := t.recordAdoption(ctx); err != nil || from == leaving {
		return err
	}
	if err := t.records(ctx, func(n *observation.Node) bool { return n.Wanted && !n.Recorded && !leftovers(n) && !n.Pod.Exists }); err != nil {
		return err
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if t.snapshot.Pool(n.Pool) == nil || n.Record.Stop || t.snapshot.Misplaced(n) != nil {
			continue
		}
		if err := t.claims(ctx, n); err != nil {
			return err
		}
		if err := t.config(ctx, n); err != nil {
			return err
		}
	}
	for _, pool := range t.pools() {
		if err := t.entries(ctx, pool, version); err != nil {
			return err
		}
	}
	return nil
}

// undecided reports whether no node may be created now, because the node ids or the identity of the cluster are uncertain or not
// committed yet.
func (t *childReconciler) undecided() bool {
	return t.snapshot.Identity.Mismatch != nil || t.snapshot.IDs.Refusal != nil || t.snapshot.IDs.Changes()
}

// claims creates the missing claims of a node, and expands claims.
func (t *childReconciler) claims(ctx context.Context, n *observation.Node) error {
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

func (t *childReconciler) claim(ctx context.Context, want, have *corev1.PersistentVolumeClaim) error {
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
func (t *childReconciler) ownedAsWanted(have, want *corev1.PersistentVolumeClaim) bool {
	if render.DeletedWithNode(want) {
		return t.isOwned(have)
	}
	return !slices.ContainsFunc(have.OwnerReferences, t.isCluster)
}

// ownClaim sets the owner reference of the cluster only if the user has requested that the claim be deleted with the cluster. A
// claim holds data, so that it has no owner in the cluster otherwise. Owner references of other owners are kept.
func (t *childReconciler) ownClaim(claim, want *corev1.PersistentVolumeClaim) error {
	if render.DeletedWithNode(want) {
		return t.owned(claim)
	}
	claim.OwnerReferences = slices.DeleteFunc(slices.Clone(claim.OwnerReferences), t.isCluster)
	return nil
}

// isCluster reports whether the owner is the cluster, an earlier resource of its name, or one of its sets.
func (t *childReconciler) isCluster(owner metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	switch {
	case group == kafkav1beta2.Group && owner.Kind == kafkav1beta2.KindKafka:
		return owner.Name == t.kafka.Name
	case group == corev1beta2.Group && owner.Kind == corev1beta2.KindStrimziPodSet:
		return strings.HasPrefix(owner.Name, t.kafka.Name+"-")
	}
	return false
}

// config keeps the content of a node's ConfigMap that its entry and its pod mount. A node without entry and pod gets the desired
// content.
func (t *childReconciler) config(ctx context.Context, n *observation.Node) error {
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	if !n.Entry.Exists && !n.Pod.Exists {
		if !n.Wanted {
			return nil
		}
		return t.addConfig(ctx, n)
	}
	if have == nil {
		return nil // Repair restores it
	}
	want, err := t.snapshot.Rendered.ConfigMap(n.ID)
	if err != nil {
		return err
	}
	mounted := t.mounted(n)
	unused := func(key string) bool {
		_, wanted := want.Data[key]
		return !wanted && !slices.Contains(mounted, key) && !slices.Contains(mounted, observation.EveryKey)
	}
	prune := false
	for key := range have.Data {
		prune = prune || unused(key)
	}
	if !prune && t.isOwned(have) && !metaBehind(have, want) {
		return nil
	}
	have = have.DeepCopy()
	catchUp(have, want)
	for key := range have.Data {
		if unused(key) {
			delete(have.Data, key)
		}
	}
	if err := t.owned(have); err != nil {
		return err
	}
	return t.write.Update(ctx, have)
}

// entries adds the entries of a pool's new nodes to its StrimziPodSet.
func (t *childReconciler) entries(ctx context.Context, pool string, version func(*observation.Node) string) error {
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, pool))
	if set != nil && set.DeletionTimestamp != nil {
		return nil
	}
	var added []corev1beta2.PodEntry
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if n.Pool != pool || !n.Wanted || n.Entry.Exists || n.Pod.Exists || !n.Recorded || n.Record.Started() {
			continue
		}
		at := version(n)
		if at == "" {
			continue
		}
		entry, err := t.snapshot.Entry(n, at)
		if err != nil {
			return err
		}
		added = append(added, entry.PodEntry)
	}
	if set == nil {
		if len(added) == 0 {
			return nil
		}
		set = t.snapshot.Rendered.PodSet(pool).DeepCopy()
		set.Spec.Pods = added
		return t.createOwned(ctx, set)
	}
	want := t.snapshot.Rendered.PodSet(pool)
	if len(added) == 0 && !metaBehind(set, want) {
		return nil
	}
	set = set.DeepCopy()
	catchUp(set, want)
	set.Spec.Pods = append(set.Spec.Pods, added...)
	if err := t.owned(set); err != nil {
		return err
	}
	return t.write.Update(ctx, set)
}

// components deploys the topic operator, the user operator and the exporter once every desired node is ready. Later it keeps
// existing Deployments up to date, and deletes them when they are no longer desired. An exporter is unchanged while its spec is
// invalid.
func (t *childReconciler) components(ctx context.Context) error {
	wanted := t.snapshot.Rendered.Components()
	var failures []error
	for _, want := range wanted {
		have := observation.Named(t.snapshot.Objects.Deployments, want.Name)
		if have == nil && !t.allReady() {
			continue
		}
		err := t.deployment(ctx, want, have)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	for _, have := range t.snapshot.Objects.Deployments {
		ours := have.Name == render.EntityOperatorName(t.kafka.Name) || have.Name == render.ExporterName(t.kafka.Name)
		kept := have.Name == render.ExporterName(t.kafka.Name) && render.ExporterProblem(t.kafka.Spec.KafkaExporter) != nil
		if !ours || kept || !t.isOwned(have) || have.DeletionTimestamp != nil || observation.Named(wanted, have.Name) != nil {
			continue
		}
		if err := t.write.Delete(ctx, have.DeepCopy()); err != nil {
			failures = append(failures, fmt.Errorf("removing what is wanted no longer: %w", err))
		}
	}
	return errors.Join(failures...)
}

// allReady reports whether every desired node has a ready pod.
func (t *childReconciler) allReady() bool {
	return len(t.snapshot.Nodes) > 0 && !slices.ContainsFunc(t.snapshot.Nodes, func(n observation.Node) bool { return n.Wanted && !n.Pod.Ready })
}
