package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Repair restores lost objects of a cluster as they last were: records, configurations, StrimziPodSets and their entries,
// Services. It updates the records with what is observed running. It creates no new node, replaces no entry and makes no change of
// existing objects that users would notice, so that it also runs while a change is refused or the cluster is paused.
func (e *Effects) Repair(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer) error {
	t := &childReconciler{Effects: e, kafka: kafka, snapshot: snapshot, write: write}
	if err := t.records(ctx, func(n *observation.Node) bool { return n.Recorded || t.adoptable(n) }); err != nil {
		return err
	}
	var failures []error
	for _, pool := range t.pools() {
		err := t.repairPool(ctx, pool)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	if Paused(kafka) { // else Apply updates the shared objects, and a failure there does not affect Repair
		failures = append(failures, t.network(ctx, false))
	}
	return errors.Join(failures...)
}

// leftovers reports whether something of a node exists from which its record can be created. A pod with an unknown or contradicted
// version is not sufficient: a user has to set its version.
func leftovers(n *observation.Node) bool {
	if n.Pod.Exists {
		return n.Pod.Version != "" && n.Pod.Contradiction == nil
	}
	return n.Entry.Exists || n.HasClaims
}

// adoptable reports whether the record of a node can be created from what is left of it. For storage alone the version comes from
// the status. While that version is invalid, the version change refuses and names it, and no record is created that would mark the
// storage as unused.
func (t *childReconciler) adoptable(n *observation.Node) bool {
	storageAlone := !n.Pod.Exists && n.Entry.Version == ""
	return leftovers(n) && !(storageAlone && t.kafka.Status.KafkaVersion != "" && statusVersion(t.kafka, t.snapshot) == "")
}

// records writes the changed records of the selected nodes. It writes nothing while the sources of the cluster's identity
// contradict each other.
func (t *childReconciler) records(ctx context.Context, of func(*observation.Node) bool) error {
	if t.snapshot.Identity.Mismatch != nil {
		return nil
	}
	from, err := t.recordAdoption(ctx)
	if err != nil {
		return err
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if !of(n) {
			continue
		}
		r := remembered(t.kafka, t.snapshot, n, from)
		if n.Recorded && !n.RecordBroken && n.Record.Equal(&r) {
			continue
		}
		if err := t.writeRecord(ctx, n, &r); err != nil {
			return err
		}
	}
	return nil
}

func (t *childReconciler) writeRecord(ctx context.Context, n *observation.Node, r *record.Record) error {
	want := t.snapshot.Rendered.Record(r)
	have := observation.Named(t.snapshot.Objects.ConfigMaps, want.Name)
	if have == nil {
		return t.create(ctx, want)
	}
	have = have.DeepCopy()
	catchUp(have, want)
	have.Data = over(have.Data, want.Data)
	if err := t.write.Update(ctx, have); err != nil {
		return fmt.Errorf("remembering %s: %w", n.PodName, err)
	}
	return nil
}

// pools returns the sorted names of all pools of which a node is left.
func (t *childReconciler) pools() []string {
	var names []string
	for i := range t.snapshot.Nodes {
		names = append(names, t.snapshot.Nodes[i].Pool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// repairPool restores the StrimziPodSet of a pool, its entries, and the configurations that they mount.
func (t *childReconciler) repairPool(ctx context.Context, pool string) error {
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, pool))
	if set != nil && set.DeletionTimestamp != nil {
		return nil // it is recreated after its deletion
	}
	var entries []corev1beta2.PodEntry
	var failures []error // failures to restore annotations, on which nothing else depends
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if n.Pool != pool {
			continue
		}
		if err := t.repairConfig(ctx, n); err != nil {
			return err
		}
		entry, lost, err := t.lostEntry(n)
		if err != nil {
			return err
		}
		if lost {
			entries = append(entries, entry)
		}
		if err := t.stamp(ctx, n); outdated(err) {
			return err
		} else if err != nil {
			failures = append(failures, fmt.Errorf("putting the annotations and labels of pod %s back: %w", n.PodName, err))
		}
	}
	return errors.Join(append(failures, t.repairPodSet(ctx, pool, set, entries))...)
}

// lostEntry returns the entry of a node that ran and has none: from its pod, else from its record. A node that was stopped on
// purpose has lost nothing, and the entry of a node whose pool does not declare its disks is not created without them. While an
// earlier resource is being deleted, it is unknown whether anything must be restored.
func (t *childReconciler) lostEntry(n *observation.Node) (entry corev1beta2.PodEntry, lost bool, err error) {
	if n.Entry.Exists || n.Recorded && n.Record.Stop || recordAdoption(t.kafka, t.snapshot) != recordsAdopted {
		return entry, false, nil
	}
	switch pod := observation.Named(t.snapshot.Objects.Pods, n.PodName); {
	case pod != nil && leftovers(n):
		entry, err = t.entryOf(n, pod)
		return entry, true, err
	case pod == nil && n.Recorded && n.Record.Started() && t.snapshot.Pool(n.Pool) != nil && t.snapshot.Misplaced(n) == nil:
		rendered, err := t.snapshot.Entry(n, n.Record.Version)
		if err != nil {
			return entry, false, err
		}
		return rendered.PodEntry, true, nil
	}
	return entry, false, nil
}

// entryOf returns the entry from which a running pod was created: the rendered one if its revision matches, else the pod as it
// runs. A pod without a revision is adopted unchanged and gets the revision that is rendered for its version now.
func (t *childReconciler) entryOf(n *observation.Node, pod *corev1.Pod) (corev1beta2.PodEntry, error) {
	rendered, err := t.snapshot.Entry(n, n.Pod.Version)
	if err == nil && rendered.Revision == n.Pod.Revision {
		return rendered.PodEntry, nil
	}
	again := restorable(pod)
	again.Labels = over(again.Labels, n.RolesRunning.Labels())
	again.Annotations = over(again.Annotations, map[string]string{labels.KafkaVersion: n.Pod.Version})
	if n.Pod.Revision == "" && err == nil {
		again.Annotations = over(again.Annotations, map[string]string{labels.Revision: rendered.Revision})
	}
	return corev1beta2.NewPodEntry(again)
}

// restorable returns a running pod without the fields that Kubernetes has added.
func restorable(pod *corev1.Pod) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.Labels, p.Annotations = pod.Name, pod.Namespace, pod.Labels, pod.Annotations
	p.Spec = *pod.Spec.DeepCopy()
	p.Spec.NodeName, p.Spec.Priority, p.Spec.PreemptionPolicy = "", nil, nil
	p.Spec.DeprecatedServiceAccount = ""
	injected := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return injected(v.Name) })
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, func(m corev1.VolumeMount) bool { return injected(m.Name) })
		}
	}
	return p
}

// repairPodSet writes the set if it or an entry was lost, if it has no owner, or if it has the mark of an abandoned restart.
// Without the mark the pod is recreated as it last ran.
func (t *childReconciler) repairPodSet(ctx context.Context, pool string, set *corev1beta2.StrimziPodSet, entries []corev1beta2.PodEntry) error {
	if set == nil {
		if len(entries) == 0 {
			return nil
		}
		set = t.snapshot.Rendered.PodSet(pool).DeepCopy()
		set.Spec.Pods = entries
		return t.createOwned(ctx, set)
	}
	abandoned := t.abandoned(set)
	if len(entries) == 0 && !abandoned && t.isOwned(set) {
		return nil
	}
	set = set.DeepCopy()
	set.Spec.Pods = append(set.Spec.Pods, entries...)
	if abandoned {
		restarting.Remove(set)
	}
	if err := t.owned(set); err != nil {
		return err
	}
	return t.write.Update(ctx, set)
}

// abandoned reports whether the set has a mark although no lifecycle is restarting that pod.
func (t *childReconciler) abandoned(set *corev1beta2.StrimziPodSet) bool {
	mark, readable := restarting.Of(set)
	if !readable {
		return restarting.On(set)
	}
	for i := range t.snapshot.Nodes {
		if t.snapshot.Nodes[i].PodName == mark.Pod {
			return !inHand(t.kafka, t.snapshot.Nodes[i].ID)
		}
	}
	return true
}

// stamp restores the annotations and labels of a pod that record what it runs: its version, its revision and its roles. The values
// come from what the operator wrote, and from the pod itself only if it is being adopted. The labels determine to which pods the
// bootstrap Service sends clients. The pod keeps running.
func (t *childReconciler) stamp(ctx context.Context, n *observation.Node) error {
	if !n.Pod.Exists || n.Pod.Terminating || n.Pod.Foreign || n.Pod.Version == "" || n.Pod.Contradiction != nil {
		return nil
	}
	want := map[string]string{labels.KafkaVersion: n.Pod.Version}
	if revision := t.revision(n); revision != "" {
		want[labels.Revision] = revision
	}
	pod, roles := observation.Named(t.snapshot.Objects.Pods, n.PodName), n.RolesRunning.Labels()
	if !behind(pod.Annotations, want) && !behind(pod.Labels, roles) {
		return nil
	}
	pod = pod.DeepCopy()
	pod.Annotations, pod.Labels = over(pod.Annotations, want), over(pod.Labels, roles)
	return t.write.Update(ctx, pod)
}

// revision returns the revision for the annotation of the node's pod: its own, else that of its entry, else for an adopted pod the
// one rendered for its version now. It is empty if its entry has another version or its pool was deleted.
func (t *childReconciler) revision(n *observation.Node) string {
	switch {
	case n.Pod.Revision != "":
		return n.Pod.Revision
	case n.Entry.Exists && n.Entry.Version != n.Pod.Version:
		return ""
	case n.Entry.Revision != "":
		return n.Entry.Revision
	}
	entry, err := t.snapshot.Entry(n, n.Pod.Version)
	if err != nil {
		return ""
	}
	return entry.Revision
}

// repairConfig restores the content of the node's ConfigMap that its entry and its pod mount. Content that is stored nowhere else
// is replaced by the desired content: a node with a newer configuration is better than no node.
func (t *childReconciler) repairConfig(ctx context.Context, n *observation.Node) error {
	keys := t.mounted(n)
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	lost := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		if have == nil {
			return false
		}
		_, kept := have.Data[key]
		return kept || key == observation.EveryKey
	})
	if len(lost) == 0 {
		return nil
	}
	want, err := t.snapshot.Rendered.ConfigMap(n.ID)
	if err != nil {
		return nil //nolint:nilerr // the pool was deleted: there is no spec to render
	}
	want = want.DeepCopy()
	for _, key := range lost {
		if _, same := want.Data[key]; !same && key != observation.EveryKey {
			want.Data[key] = want.Data[render.StandIn(key, want.Data)]
		}
	}
	if have == nil {
		return t.createOwned(ctx, want)
	}
	have = have.DeepCopy()
	have.Data = over(have.Data, want.Data)
	return t.write.Update(ctx, have)
}

// mounted returns the keys of the node's ConfigMap that its entry and its pod mount.
func (t *childReconciler) mounted(n *observation.Node) []string {
	pod := observation.Named(t.snapshot.Objects.Pods, n.PodName)
	if pod == nil {
		return n.Entry.ConfigKeys
	}
	return append(observation.ConfigKeys(&pod.Spec, n.PodName), n.Entry.ConfigKeys...)
}

// network creates the objects that all nodes share, and updates existing ones if update is true.
func (t *childReconciler) network(ctx context.Context, update bool) error {
	if len(t.snapshot.Nodes) == 0 {
		return nil
	}
	var wanted []shared
	for _, s := range t.snapshot.Rendered.Services() {
		wanted = append(wanted, shared{want: s, have: object(observation.Named(t.snapshot.Objects.Services, s.Name)), merge: mergeService})
	}
	account, budget := t.snapshot.Rendered.Account(), t.snapshot.Rendered.Budget()
	wanted = append(wanted,
		shared{want: account, have: object(observation.Named(t.snapshot.Objects.Accounts, account.Name)), merge: mergeAccount},
		shared{want: budget, have: object(observation.Named(t.snapshot.Objects.Budgets, budget.Name)), merge: mergeBudget})
	for _, s := range wanted {
		if err := t.share(ctx, s, update); err != nil {
			return err
		}
	}
	return nil
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
