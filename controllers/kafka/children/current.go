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
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// nodeIsCurrent returns ErrStale unless the pool, the entry, the record and the pod of a node were observed as they are. It is called
// before anything of a node is created. The caches of an operator that has just started may be old, each by another time. A node that was
// removed in between then looks like one that has lost what is gone, and would be started again.
func (t *scope) nodeIsCurrent(ctx context.Context, n *observation.Node) error {
	if slices.Contains(t.current, n.ID) {
		return nil
	}
	o := &t.snapshot.Objects
	unchanged := func(live, have client.Object) bool { return live.GetGeneration() == have.GetGeneration() }
	for _, source := range []struct {
		live, have client.Object
		name       string
		same       func(live, have client.Object) bool
	}{
		{&kafkav1beta2.KafkaNodePool{}, observed(t.snapshot.Pool(n.Pool)), n.Pool, unchanged},
		{&corev1beta2.StrimziPodSet{}, observed(observation.Named(o.PodSets, render.PodSetName(t.kafka.Name, n.Pool))), render.PodSetName(t.kafka.Name, n.Pool), unchanged},
		{&corev1.ConfigMap{}, observed(observation.Named(o.ConfigMaps, record.Name(n.PodName))), record.Name(n.PodName), func(live, have client.Object) bool {
			return live.GetResourceVersion() == have.GetResourceVersion()
		}},
		{&corev1.Pod{}, observed(observation.Named(o.Pods, n.PodName)), n.PodName, func(live, have client.Object) bool {
			return (live.GetDeletionTimestamp() == nil) == (have.GetDeletionTimestamp() == nil)
		}},
	} {
		err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.kafka.Namespace, Name: source.name}, source.live)
		switch {
		case lifecycle.ObjectMissing(err) && source.have == nil:
		case lifecycle.ObjectMissing(err), err == nil && source.have == nil:
			return lifecycle.ErrStale
		case err != nil:
			return fmt.Errorf("reading %T %s before something of %s is created: %w", source.live, source.name, n.PodName, err)
		case source.live.GetUID() != source.have.GetUID() || !source.same(source.live, source.have):
			return lifecycle.ErrStale
		}
	}
	t.current = append(t.current, n.ID)
	return nil
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
