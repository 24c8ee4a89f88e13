package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	sigsyaml "sigs.k8s.io/yaml"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/disruption"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/podset"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/transitions"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func scheme(t testing.TB) *k8sruntime.Scheme {
	t.Helper()
	s := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func embedded(t testing.TB) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// rig is one cluster with its controllers, on an API server in memory.
type rig struct {
	t         testing.TB
	client    client.Client
	children  *lifecycle.Children
	collector *observation.Collector
	effects   *children.Reconciler
	clock     *clocktesting.FakeClock
	key       types.NamespacedName
	// version that new nodes start on.
	version string
	needs   []transitions.Need
	kafka   *kafkaSide
	// again is when the controller of sets wants to look again.
	again time.Duration
	// writes are the writes since the last reset, as "verb Kind name".
	writes []string
	// webhook changes what is written, as the API server lets one do.
	webhook func(client.Object)
	// refuse is what a webhook or a quota says of a pod that is only tried, named by generation.
	refuse func(*corev1.Pod) error
	// deny is the answer of the API server to a write that it rejects, if it is set.
	deny func(verb string, o client.Object) error
	// unscheduled reports whether no host takes the pod.
	unscheduled func(pod string) bool
	// fail may refuse a write before it is done; lose loses its answer after it was done.
	fail, lose func(write string) bool
}

var errInjected = errors.New("the connection was cut")

func newRig(t testing.TB, objects ...client.Object) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(noon), kafka: &kafkaSide{}, version: "4.1.1"}
	server := store.New(scheme(t), noon)
	for _, o := range objects {
		r.must(server.Put(o))
	}
	base := server.Client()
	r.client = interceptor.NewClient(base, r.intercept(base.Scheme()))
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
	r.collector = &observation.Collector{Table: embedded(t), System: directly(func() kafkaclient.Client { return r.kafka }), Hosts: r.client}
	r.effects = &children.Reconciler{Client: r.client, Live: r.client}
	for _, o := range objects {
		if k, ok := o.(*kafkav1beta2.Kafka); ok {
			r.key = client.ObjectKeyFromObject(k)
		}
	}
	return r
}

// trial answers a dry run: of pods alone, under another name than any that runs.
func (r *rig) trial(o client.Object) error {
	pod, isPod := o.(*corev1.Pod)
	if !isPod || pod.Name != "" || pod.GenerateName == "" {
		r.t.Errorf("a trial of %T %q", o, o.GetName())
		return nil
	}
	if r.refuse == nil {
		return nil
	}
	return r.refuse(pod)
}

// intercept notes every write and injects failures.
func (r *rig) intercept(scheme *k8sruntime.Scheme) interceptor.Funcs {
	around := func(verb string, o client.Object, do func() error) error {
		gvks, _, err := scheme.ObjectKinds(o)
		if err != nil {
			return err
		}
		write := fmt.Sprintf("%s %s %s", verb, gvks[0].Kind, o.GetName())
		if r.fail != nil && r.fail(write) {
			return errInjected
		}
		if r.webhook != nil {
			r.webhook(o)
		}
		if r.deny != nil {
			if err := r.deny(verb, o); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			return err
		}
		r.writes = append(r.writes, write)
		if r.lose != nil && r.lose(write) {
			return errInjected
		}
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			var options client.CreateOptions
			options.ApplyOptions(opts)
			if len(options.DryRun) > 0 {
				return r.trial(o)
			}
			return around("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return around("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return around("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return around("update-"+sub, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, subObject client.Object, opts ...client.SubResourceCreateOption) error {
			return around("create-"+sub, o, func() error { return c.SubResource(sub).Create(ctx, o, subObject, opts...) })
		},
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) cluster() *kafkav1beta2.Kafka {
	r.t.Helper()
	k := &kafkav1beta2.Kafka{}
	r.must(r.client.Get(context.Background(), r.key, k))
	return k
}

func (r *rig) snapshot(live bool) *observation.Snapshot {
	r.t.Helper()
	k := r.cluster()
	v, err := r.collector.Collect(context.Background(), k, lifecycle.ObserveRequest{
		Needs: r.needs, Live: live, Now: r.clock.Now(), Read: r.children.Reader(k.UID, live),
		MaxAge: func(transitions.Need) time.Duration { return time.Minute },
	})
	r.must(err)
	return &v
}

// pass is Repair and Apply as the runtime calls them.
func (r *rig) pass() error {
	k, v := r.cluster(), r.snapshot(false)
	write := r.children.Writer(k, nil)
	if err := r.effects.Repair(context.Background(), k, v, write); err != nil {
		return err
	}
	return r.effects.Apply(context.Background(), k, v, write, r.version)
}

func (r *rig) repair() error {
	k := r.cluster()
	return r.effects.Repair(context.Background(), k, r.snapshot(false), r.children.Writer(k, nil))
}

func (r *rig) restart(id int32, version string) error {
	k := r.cluster()
	return r.effects.Restart(context.Background(), k, r.snapshot(true), r.children.Writer(k, nil), id, version)
}

// podSets runs the controller of StrimziPodSets over all of them.
func (r *rig) podSets() error {
	var list corev1beta2.StrimziPodSetList
	if err := r.client.List(context.Background(), &list); err != nil {
		return err
	}
	sets := &podset.Reconciler{Client: r.client, Live: r.client, Children: r.children, Clock: r.clock, Disrupt: r.disruptor().Disrupt}
	for i := range list.Items {
		result, err := sets.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		if err != nil {
			return err
		}
		r.again = max(r.again, result.RequeueAfter)
	}
	return nil
}

func (r *rig) disruptor() *disruption.Disruptor {
	return &disruption.Disruptor{Collector: r.collector, DisruptionLocks: lifecycle.NewDisruptionLocks(), Live: r.client, Clock: r.clock}
}

// kubelet starts every pod that does not run and makes it ready.
func (r *rig) kubelet() {
	r.t.Helper()
	for _, pod := range r.pods() {
		if len(pod.Status.ContainerStatuses) > 0 {
			continue
		}
		if r.unscheduled != nil && r.unscheduled(pod.Name) {
			pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no host has enough memory",
			}}}
			r.must(r.client.Status().Update(context.Background(), &pod))
			continue
		}
		pod.Status.Phase = corev1.PodRunning
		at := metav1.NewTime(r.clock.Now())
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
		r.must(r.client.Status().Update(context.Background(), &pod))
	}
}

func (r *rig) pods() []corev1.Pod {
	r.t.Helper()
	var list corev1.PodList
	r.must(r.client.List(context.Background(), &list, client.InNamespace(r.key.Namespace)))
	return list.Items
}

// settle lets all controllers run until nothing is written any more.
func (r *rig) settle() {
	r.t.Helper()
	for range 30 {
		before, behind := len(r.writes), false
		for _, step := range []func() error{r.pass, r.podSets} {
			switch err := step(); {
			case errors.Is(err, lifecycle.ErrStale), errors.Is(err, lifecycle.ErrWait), apierrors.IsConflict(err):
				behind = true
			case err != nil:
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		if behind || r.again > 0 {
			r.clock.Step(max(r.again, time.Second))
			r.again = 0
		} else if len(r.writes) == before {
			return
		}
	}
	r.t.Fatalf("the cluster does not come to rest; the last writes: %s", strings.Join(r.writes[max(0, len(r.writes)-20):], "\n"))
}

// written are the writes since the last call, without those of the tests' own kubelet.
func (r *rig) written() []string {
	out := slices.DeleteFunc(r.writes, func(w string) bool { return strings.HasPrefix(w, "update-status Pod ") })
	r.writes = nil
	return out
}

func (r *rig) get(o client.Object, name string) error {
	return r.client.Get(context.Background(), client.ObjectKey{Namespace: r.key.Namespace, Name: name}, o)
}

// remove removes an object and leaves what it controls.
func (r *rig) remove(o client.Object, name string) {
	r.t.Helper()
	r.must(r.get(o, name))
	r.must(r.client.Delete(context.Background(), o, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
}

func (r *rig) record(pod string) record.Record {
	r.t.Helper()
	m := &corev1.ConfigMap{}
	r.must(r.get(m, record.Name(pod)))
	rec, err := record.Decode(m.Data)
	r.must(err)
	return rec
}

// entry of the pod in its set, as text.
func (r *rig) entry(set, pod string) string {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	for _, e := range s.Spec.Pods {
		if p, err := e.Pod(); err == nil && p.Name == pod {
			return string(e.Raw)
		}
	}
	return ""
}

// manifests reads a file as users apply it.
func manifests(t testing.TB, path string) []client.Object {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []client.Object
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var raw map[string]any
		if err := decoder.Decode(&raw); err != nil {
			break
		}
		text, err := sigsyaml.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		var o client.Object = &kafkav1beta2.Kafka{}
		if raw["kind"] == "KafkaNodePool" {
			o = &kafkav1beta2.KafkaNodePool{}
		}
		if err := sigsyaml.Unmarshal(text, o); err != nil {
			t.Fatal(err)
		}
		o.GetObjectKind().SetGroupVersionKind(kafkav1beta2.GroupVersion().WithKind(raw["kind"].(string)))
		o.SetNamespace("default")
		o.SetUID(types.UID("uid-of-" + o.GetName()))
		o.SetGeneration(1)
		out = append(out, o)
	}
	return out
}

const upstream = "../../test/testdata/upstream/strimzi/"

// separate is three controllers and three brokers with persistent storage.
func separate(t testing.TB) *rig {
	t.Helper()
	return newRig(t, manifests(t, upstream+"v1beta2/kafka-persistent.yaml")...)
}

// registered lets Kafka know every node of separate.
func (r *rig) registered() {
	for id := range int32(3) {
		r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(id))
		r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, voterOf(id+3, 1))
	}
}

// single is one node with both roles and persistent storage.
func single(t testing.TB) *rig {
	t.Helper()
	return newRig(t, manifests(t, upstream+"v1beta2/kafka-single-node.yaml")...)
}

// directly is a system that calls the client within the reconcile.
func directly(connect func() kafkaclient.Client) *connection.Direct {
	return &connection.Direct{Protocol: connection.NewProtocol(func(connection.Endpoint) (kafkaclient.Client, func(), error) { return connect(), func() {}, nil })}
}
