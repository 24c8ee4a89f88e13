package kafka

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// shelf is a cache as an informer's: its lists are the very objects it holds. It takes no writes: a cluster at rest makes none.
type shelf struct {
	client.Client
	kafka *kafkav1beta2.Kafka
	lists map[reflect.Type]client.ObjectList
}

func (s *shelf) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.kafka.DeepCopyInto(o.(*kafkav1beta2.Kafka))
	return nil
}

func (s *shelf) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	from := reflect.ValueOf(s.lists[reflect.TypeOf(list)]).Elem()
	reflect.ValueOf(list).Elem().Set(from)
	return nil
}

func (r *rig) shelve(b testing.TB) *shelf {
	b.Helper()
	s := &shelf{kafka: r.cluster(), lists: map[reflect.Type]client.ObjectList{}}
	for _, list := range []client.ObjectList{
		&kafkav1beta2.KafkaNodePoolList{}, &corev1beta2.StrimziPodSetList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{},
		&corev1.ServiceList{}, &corev1.ServiceAccountList{}, &policyv1.PodDisruptionBudgetList{}, &appsv1.DeploymentList{},
	} {
		if err := r.client.List(b.Context(), list); err != nil {
			b.Fatal(err)
		}
		s.lists[reflect.TypeOf(list)] = list
	}
	return s
}

// silentWriter fails on every write: a cluster at rest makes none.
type silentWriter struct {
	lifecycle.Writer
	tb testing.TB
}

func (w silentWriter) Create(_ context.Context, o client.Object) error {
	w.tb.Fatalf("creating %T %s at rest", o, o.GetName())
	return nil
}

func (w silentWriter) Update(_ context.Context, o client.Object) error {
	w.tb.Fatalf("updating %T %s at rest", o, o.GetName())
	return nil
}

// BenchmarkRest is what a cluster of six nodes costs while nothing changes: its snapshot, repair and apply.
func BenchmarkRest(b *testing.B) {
	r := separate(b)
	r.settle()
	k := r.cluster()
	request := lifecycle.ObserveRequest{Now: r.clock.Now(), Read: r.shelve(b), MaxAge: func(transitions.Need) time.Duration { return time.Minute }}
	write := silentWriter{tb: b}
	for name, run := range map[string]func() error{
		"snapshot": func() error { _, err := r.collector.Collect(b.Context(), k, request); return err },
		"snapshot, repair and apply": func() error {
			v, err := r.collector.Collect(b.Context(), k, request)
			if err != nil {
				return err
			}
			if err := r.effects.Repair(b.Context(), k, &v, write); err != nil {
				return err
			}
			return r.effects.Apply(b.Context(), k, &v, write, "4.1.1")
		},
		"desired revisions": func() error {
			v, err := r.collector.Collect(b.Context(), k, request)
			if err != nil {
				return err
			}
			for i := range v.Nodes {
				if _, err := v.Desired(&v.Nodes[i], "4.1.1"); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// rest runs the cluster under the runtime until every lifecycle rests and nothing is written any more.
func (r *rig) rest(b testing.TB) {
	b.Helper()
	const level40 = 25
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": level40}, Supported: map[int32]map[string]kafkaclient.Range{}}
	for id := range int32(3) {
		r.kafka.features.Supported[id] = map[string]kafkaclient.Range{"metadata.version": {Min: 7, Max: level40}}
	}
	r.registered()
	reconciler := r.reconciler(b, r.client, r.client)
	for range 60 {
		before := len(r.writes)
		for _, step := range []func() error{func() error { return pass(b, reconciler, r.key) }, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				b.Fatal(err)
			}
		}
		r.kubelet()
		r.clock.Step(30 * time.Second)
		if len(r.writes) == before && meta.IsStatusConditionTrue(r.cluster().Status.Conditions, lifecycle.Ready) {
			return
		}
	}
	b.Fatalf("the cluster does not come to rest; its conditions: %+v", r.cluster().Status.Conditions)
}

func (r *rig) reconciler(b testing.TB, cached client.Client, live client.Reader) reconcile.Reconciler {
	b.Helper()
	kind, err := NewKind(r.collector, r.effects)
	r.must(err)
	return lifecycle.New(kind, lifecycle.Options{Client: cached, Live: live, Clock: r.clock})
}

func pass(b testing.TB, reconciler reconcile.Reconciler, key client.ObjectKey) error {
	_, err := reconciler.Reconcile(b.Context(), reconcile.Request{NamespacedName: key})
	return err
}

// polling makes reconciles read the last answers of a poller, as in a manager. It returns when all answers have arrived.
func (r *rig) polling(b testing.TB, request func() *observation.Snapshot) {
	b.Helper()
	heard := make(chan struct{}, 1)
	polled := &connection.Polled{
		Protocol: connection.NewProtocol(func(connection.Endpoint) (kafkaclient.Client, func(), error) { return r.kafka, func() {}, nil }), Clock: r.clock,
		Wake: func(types.NamespacedName) {
			select {
			case heard <- struct{}{}:
			default:
			}
		},
	}
	b.Cleanup(polled.Close)
	r.collector.System = polled
	for v := request(); ; v = request() {
		_, features := v.Features.Get()
		if _, brokers := v.Brokers.Get(); features && brokers {
			return
		}
		<-heard
	}
}

// BenchmarkPassAtRest is a whole reconcile of a cluster of six nodes at rest. The target is at most 150 µs while no
// resourceVersion changes, so that everything is cached, and at most 1 ms if a changed spec requires everything to be rendered
// again. The first reconcile of a process has empty caches.
func BenchmarkPassAtRest(b *testing.B) {
	r := separate(b)
	r.rest(b)
	s := r.shelve(b)
	r.needs = []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers}
	r.polling(b, func() *observation.Snapshot { return r.snapshot(false) })
	reconciler, uid := r.reconciler(b, s, r.client), r.cluster().UID
	r.written()
	for name, before := range map[string]func(){
		"nothing is another":  func() {},
		"another declaration": func() { r.collector.ForgetRendered(uid) },
		"the first of a process": func() {
			*r.collector = observation.Collector{Table: r.collector.Table, System: r.collector.System, Hosts: r.collector.Hosts}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				before()
				if err := pass(b, reconciler, r.key); err != nil {
					b.Fatal(err)
				}
			}
			if w := r.written(); len(w) > 0 {
				b.Fatalf("written at rest: %q", w)
			}
		})
	}
}

// BenchmarkRender is the cost of a changed spec: everything is rendered again.
func BenchmarkRender(b *testing.B) {
	r := separate(b)
	r.settle()
	v := r.snapshot(false)
	in := v.RenderInput(r.cluster())
	b.ReportAllocs()
	for b.Loop() {
		c := render.New(*in)
		for i := range v.Nodes {
			if _, err := c.Entry(v.Nodes[i].ID, "4.1.1"); err != nil {
				b.Fatal(err)
			}
		}
	}
}
