package children

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// poolsAreCurrent returns ErrStale unless the observed pools are the newest.
func (t *scope) poolsAreCurrent(ctx context.Context) error {
	var live kafkav1beta2.KafkaNodePoolList
	if err := t.Live.List(ctx, &live, client.InNamespace(t.kafka.Namespace), client.MatchingLabels{labels.Cluster: t.kafka.Name}); err != nil {
		return fmt.Errorf("reading the KafkaNodePools before node ids are assigned: %w", err)
	}
	if len(live.Items) != len(t.snapshot.Objects.Pools) {
		return lifecycle.ErrStale
	}
	for i := range live.Items {
		have := t.snapshot.Pool(live.Items[i].Name)
		if have == nil || have.UID != live.Items[i].UID || have.ResourceVersion != live.Items[i].ResourceVersion {
			return lifecycle.ErrStale
		}
	}
	return nil
}

// nodesAreCurrent returns ErrStale unless every record and every claim has been observed: they are the only sources of an id when
// all else of its node is deleted.
func (t *scope) nodesAreCurrent(ctx context.Context) error {
	var (
		configMaps corev1.ConfigMapList
		claims     corev1.PersistentVolumeClaimList
	)
	of := client.MatchingLabels(labels.OfNodes(t.kafka.Name))
	for _, list := range []client.ObjectList{&configMaps, &claims} {
		if err := t.Live.List(ctx, list, client.InNamespace(t.kafka.Namespace), of); err != nil {
			return fmt.Errorf("reading %T before node ids are assigned: %w", list, err)
		}
	}
	for i := range configMaps.Items {
		if observation.Named(t.snapshot.Objects.ConfigMaps, configMaps.Items[i].Name) == nil {
			return lifecycle.ErrStale
		}
	}
	for i := range claims.Items {
		if observation.Named(t.snapshot.Objects.Claims, claims.Items[i].Name) == nil {
			return lifecycle.ErrStale
		}
	}
	return nil
}

// nodeIsCurrent returns ErrStale unless the pool, the entry, the record and the pod of a node were observed as they are. It is called
// before anything of a node is created. The caches of an operator that has just started may be old, each by another time. A node that was
// removed in between then looks like one that has lost what is gone, and would be started again.
func (t *scope) nodeIsCurrent(ctx context.Context, n *observation.Node) error {
	if slices.Contains(t.current, n.ID) {
		return nil
	}
	o := &t.snapshot.Objects
	ofCluster := map[string]string{labels.Cluster: t.kafka.Name}
	ofNodes := labels.OfNodes(t.kafka.Name)
	unchanged := func(live, have client.Object) bool { return live.GetGeneration() == have.GetGeneration() }
	set := render.PodSetName(t.kafka.Name, n.Pool)
	for _, source := range []source{
		{&kafkav1beta2.KafkaNodePool{}, observed(t.snapshot.Pool(n.Pool)), n.Pool, ofCluster, unchanged},
		{&corev1beta2.StrimziPodSet{}, observed(observation.Named(o.PodSets, set)), set, ofNodes, unchanged},
		{&corev1.ConfigMap{}, observed(observation.Named(o.ConfigMaps, record.Name(n.PodName))), record.Name(n.PodName), ofNodes, sameRecord},
		{&corev1.Pod{}, observed(observation.Named(o.Pods, n.PodName)), n.PodName, ofNodes, func(live, have client.Object) bool {
			return (live.GetDeletionTimestamp() == nil) == (have.GetDeletionTimestamp() == nil)
		}},
	} {
		if err := t.isCurrent(ctx, source); err != nil {
			return err
		}
	}
	t.current = append(t.current, n.ID)
	return nil
}

// source is an object as it was observed. same compares it with the one that was read.
type source struct {
	live, have client.Object
	name       string
	// of are the labels by which such objects are observed.
	of   map[string]string
	same func(live, have client.Object) bool
}

// isCurrent returns ErrStale unless the object was observed as it is. An object without the labels is not observed, whatever the age of the
// cache: that it is in the way is found when it is created.
func (t *scope) isCurrent(ctx context.Context, s source) error {
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.kafka.Namespace, Name: s.name}, s.live)
	if err != nil && !lifecycle.ObjectMissing(err) {
		return fmt.Errorf("reading %T %s before something is created: %w", s.live, s.name, err)
	}
	exists := err == nil && !behind(s.live.GetLabels(), s.of)
	switch {
	case exists != (s.have != nil):
		return lifecycle.ErrStale
	case exists && (s.live.GetUID() != s.have.GetUID() || !s.same(s.live, s.have)):
		return lifecycle.ErrStale
	}
	return nil
}

// sameRecord reports whether two versions of a record agree in what the node may run as. The rest follows from what is observed running, and
// may just have been written in this pass.
func sameRecord(live, have client.Object) bool {
	of := func(o client.Object) (record.Record, bool) {
		m, is := o.(*corev1.ConfigMap)
		if !is {
			return record.Record{}, false
		}
		r, err := record.Decode(m.Data)
		return r, err == nil
	}
	now, readable := of(live)
	before, known := of(have)
	if !readable || !known {
		return live.GetResourceVersion() == have.GetResourceVersion()
	}
	return now.Stop == before.Stop && slices.Equal(now.Roles, before.Roles)
}

// observed returns the object as an interface, which is nil if it was not observed.
func observed[T any, O interface {
	*T
	client.Object
}](o O) client.Object {
	if o == nil {
		return nil
	}
	return o
}
