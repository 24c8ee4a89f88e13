package kafka

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

// templates are the objects that the operator renders, for every entry that a node of the model may have.
type templates struct {
	// entries and pods by entry and node. The pods of nodes that never take snapshots differ in their interval.
	entries map[templateKey]corev1beta2.PodEntry
	pods    map[templateKey]*corev1.Pod
	// known are the entries by their content.
	known map[string]templateKey
	// revisions lead back from the revision of an entry to its configuration.
	revisions map[string]int
	pool      *kafkav1beta2.KafkaNodePool
	set       *corev1beta2.StrimziPodSet
	// records and shared are the objects of all nodes: ConfigMaps with every rendered configuration, and claims.
	records [Nodes]*corev1.ConfigMap
	shared  []client.Object
	// clusterID of the cluster, and the volumes of a node.
	clusterID string
}

type templateKey struct {
	Entry
	node  int
	never bool
}

// configurations is the number of configurations that a subject may request.
const configurations = 3

// object returns the Kafka resource of a version and a configuration.
func object(version string, config int) *kafkav1beta2.Kafka {
	number := func(n int64) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(strconv.FormatInt(n, 10))} }
	k := &kafkav1beta2.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster, UID: explore.UID(1), CreationTimestamp: metav1.NewTime(begun)},
	}
	k.Spec.Kafka.Version = version
	k.Spec.Kafka.Listeners = []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: kafkav1beta2.ListenerInternal}} //nolint:mnd // Kafka's own
	k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{
		"metadata.log.max.snapshot.interval.ms": number(interval.Milliseconds()), "queued.max.requests": number(int64(8 + config)), //nolint:mnd // any
	}
	return k
}

// render lets the operator create a cluster of every version and configuration.
func (p *Production) render(ctx context.Context, effects *children.Reconciler) (*templates, error) {
	t := &templates{known: map[string]templateKey{}, entries: map[templateKey]corev1beta2.PodEntry{}, pods: map[templateKey]*corev1.Pod{}, revisions: map[string]int{}}
	volume := kafkav1beta2.Volume{Type: kafkav1beta2.VolumePersistentClaim, Disk: kafkav1beta2.Disk{Size: "1Gi"}}
	t.pool = &kafkav1beta2.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pool, UID: "pool", Labels: map[string]string{labels.Cluster: cluster}},
		Spec: kafkav1beta2.KafkaNodePoolSpec{
			Replicas: Nodes, Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleController, kafkav1beta2.RoleBroker},
			Storage: kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD, Volumes: []kafkav1beta2.Volume{volume}},
		},
	}
	for i := range Nodes {
		t.pool.Status.NodeIDs = append(t.pool.Status.NodeIDs, int32(i)) //nolint:gosec // three
	}
	for _, version := range []string{Old, Newer, build} {
		for config := range configurations {
			if err := t.add(ctx, p, effects, Entry{Version: version, Config: config}); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// add renders the objects of a cluster of which every node has the entry.
func (t *templates) add(ctx context.Context, p *Production, effects *children.Reconciler, entry Entry) error {
	k := object(entry.Version, entry.Config)
	s, err := p.serve(begun, []client.Object{k, t.pool})
	if err != nil {
		return err
	}
	const passes = 6
	for range passes { // each creates what depends on what the previous one created
		v, err := p.collector.Collect(ctx, k, lifecycle.ObserveRequest{Now: begun, Read: p.api})
		if err != nil {
			return err
		}
		if err := effects.Apply(ctx, k, &v, p.writer(begun, k), entry.Version); err != nil {
			return fmt.Errorf("rendering %+v: %w", entry, err)
		}
		t.clusterID = v.Identity.ID
	}
	s.Objects(corev1beta2.GroupVersion().WithKind(corev1beta2.KindStrimziPodSet), func(o client.Object) {
		if set, ok := o.(*corev1beta2.StrimziPodSet); ok {
			t.set = set
		}
	})
	if t.set == nil || len(t.set.Spec.Pods) != Nodes {
		return fmt.Errorf("rendering %+v: the operator created no StrimziPodSet with %d entries", entry, Nodes)
	}
	for i, e := range t.set.Spec.Pods {
		if err := t.addEntry(templateKey{Entry: entry, node: i}, e); err != nil {
			return err
		}
	}
	t.share(s)
	return nil
}

// addEntry adds the entry of a node, and the same with a process that takes no snapshots.
func (t *templates) addEntry(key templateKey, e corev1beta2.PodEntry) error {
	pod, err := e.Pod()
	if err != nil {
		return err
	}
	pod.Namespace = namespace
	t.revisions[pod.Annotations[labels.Revision]] = key.Config
	t.entries[key], t.pods[key], t.known[string(e.Raw)] = e, pod, key
	never := pod.DeepCopy()
	never.Annotations[labels.SnapshotInterval] = "0"
	key.never = true
	t.pods[key] = never
	if t.entries[key], err = corev1beta2.NewPodEntry(never); err != nil {
		return err
	}
	t.known[string(t.entries[key].Raw)] = key
	return nil
}

// share keeps the objects that do not depend on the entry. ConfigMaps accumulate the configurations of all entries.
func (t *templates) share(s *store.Store) {
	data := map[string]map[string]string{}
	for _, o := range t.shared {
		if m, ok := o.(*corev1.ConfigMap); ok {
			data[m.Name] = m.Data
		}
	}
	t.shared = nil
	s.Objects(corev1.SchemeGroupVersion.WithKind("ConfigMap"), func(o client.Object) {
		m, ok := o.DeepCopyObject().(*corev1.ConfigMap)
		if !ok {
			return
		}
		if m.Labels[labels.Record] == labels.RecordNode {
			if id, err := strconv.Atoi(m.Labels[labels.NodeID]); err == nil {
				t.records[id] = m
			}
			return
		}
		maps.Copy(m.Data, data[m.Name])
		t.shared = append(t.shared, m)
	})
	s.Objects(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), func(o client.Object) { t.shared = append(t.shared, o) })
}
