package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// greeting number n.
func greeting(n int) []client.Object {
	return []client.Object{&api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("greeting-%05d", n)}, Spec: api.GreetingSpec{Text: "hello"}}}
}

// cluster number n: a Kafka of so many nodes, each with both roles and a claim.
func cluster(nodes int) func(n int) []client.Object {
	return func(n int) []client.Object {
		name := fmt.Sprintf("kafka-%03d", n)
		pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{labels.Cluster: name}}}
		pool.Spec = kafkav1beta2.KafkaNodePoolSpec{Replicas: int32(nodes), Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleController, kafkav1beta2.RoleBroker}}
		pool.Spec.Storage = kafkav1beta2.Storage{Type: "jbod", Volumes: []kafkav1beta2.Volume{{ID: 0, Type: kafkav1beta2.VolumePersistentClaim, Disk: kafkav1beta2.Disk{Size: "1Gi"}}}}
		kafka := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		kafka.Spec.Kafka = kafkav1beta2.KafkaClusterSpec{
			Version: "4.1.1", Listeners: []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: kafkav1beta2.ListenerInternal}},
			Config: map[string]apiextensionsv1.JSON{
				"default.replication.factor": number(nodes), "min.insync.replicas": number(max(1, nodes-1)),
				"offsets.topic.replication.factor": number(nodes), "transaction.state.log.replication.factor": number(nodes),
			},
		}
		return []client.Object{pool, kafka}
	}
}

func number(n int) apiextensionsv1.JSON {
	raw, _ := json.Marshal(n) //nolint:errchkjson // a number always encodes
	return apiextensionsv1.JSON{Raw: raw}
}

// create the objects from number from up to number to.
func (p *plane) create(tb testing.TB, from, to int, of func(int) []client.Object) {
	tb.Helper()
	var failed atomic.Pointer[error]
	const atOnce = 8
	workqueue.ParallelizeUntil(tb.Context(), atOnce, to-from, func(piece int) {
		for _, o := range of(from + piece) {
			if err := p.client.Create(tb.Context(), o); err != nil {
				failed.Store(&err)
			}
		}
	})
	if err := failed.Load(); err != nil {
		tb.Fatal(*err)
	}
}

// settled counts the objects of a kind that are Ready at their generation.
type settled struct{ count atomic.Int64 }

// watchSettled follows the objects of a kind until the end of the test.
func (p *plane) watchSettled(tb testing.TB, kind lifecycle.Object) *settled {
	tb.Helper()
	s := &settled{}
	c, err := cache.New(p.config, cache.Options{Scheme: p.scheme, DefaultTransform: cache.TransformStripManagedFields()})
	must(tb, err)
	informer, err := c.GetInformer(tb.Context(), kind, cache.BlockUntilSynced(false))
	must(tb, err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { s.count.Add(ready(o)) },
		UpdateFunc: func(before, after any) { s.count.Add(ready(after) - ready(before)) },
	})
	must(tb, err)
	p.run(tb, "the watch of what has settled", c.Start)
	return s
}

// ready is 1 for an object that is Ready at its generation, else 0.
func ready(o any) int64 {
	object, ok := o.(lifecycle.Object)
	if !ok {
		return 0
	}
	status := object.LifecycleStatus()
	if status.ObservedGeneration != object.GetGeneration() || !meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready) {
		return 0
	}
	return 1
}

// await so many of them.
func (s *settled) await(tb testing.TB, want int, patience time.Duration) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(tb.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return s.count.Load() == int64(want), nil
	})
	if err != nil {
		tb.Fatalf("after %s %d of %d have settled", patience, s.count.Load(), want)
	}
}
