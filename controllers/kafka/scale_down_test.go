package kafka

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

const (
	podLeaving   = "my-cluster-broker-2"
	claimLeaving = "data-0-my-cluster-broker-2"
)

// leaving lets everything run, with Kafka as it serves: a broker without a ready pod is fenced, one that was unregistered is not
// listed.
func (r *rig) leaving(reconciler reconcile.Reconciler, passes int) {
	r.t.Helper()
	for range passes {
		r.kafkaServes()
		r.kafka.brokers.Brokers = slices.DeleteFunc(r.kafka.brokers.Brokers, func(b kafkaclient.Broker) bool {
			return r.kafka.refuseToUnregister == nil && slices.Contains(r.kafka.unregistered, b.ID)
		})
		for i := range r.kafka.brokers.Brokers {
			b := &r.kafka.brokers.Brokers[i]
			err := r.get(&corev1.Pod{}, observation.PodName("my-cluster", "broker", b.ID))
			if err != nil || slices.Contains(r.kafka.silent, b.ID) {
				b.Fencing = kafkaclient.Fenced
			}
		}
		for _, step := range []func() error{func() error { return pass(r.t, reconciler, r.key) }, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		r.clock.Step(20 * time.Second)
	}
}

func (r *rig) setAnnotation(o client.Object, name, key, value string) {
	r.t.Helper()
	r.must(r.get(o, name))
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	o.SetAnnotations(a)
	r.must(r.client.Update(context.Background(), o))
}

func (r *rig) exists(o client.Object, name string) bool { return r.get(o, name) == nil }

// settledOnThree is a cluster at rest whose broker pool is then asked for two nodes.
func settledOnThree(t *testing.T) (*rig, reconcile.Reconciler) {
	t.Helper()
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.kafka.partitions = kafkaclient.Partitions{}
	r.leaving(reconciler, 3)
	return r, reconciler
}

func TestScaleDownRemovesAnEmptyBroker(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.scale("broker", 2)
	r.leaving(reconciler, 14)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Steady {
		t.Fatalf("state %s, want Steady: %+v", got, r.lifecycle(observation.LifecycleScaleDown))
	}
	if r.exists(&corev1.Pod{}, podLeaving) || r.exists(&corev1.ConfigMap{}, podLeaving) || r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)) {
		t.Error("the pod, its configuration or its record is left")
	}
	if diff := cmp.Diff([]int32{2}, r.kafka.unregistered); diff != "" {
		t.Errorf("unregistered (-want +got):\n%s", diff)
	}
	claim := &corev1.PersistentVolumeClaim{}
	r.must(r.get(claim, claimLeaving))
	if claim.Annotations[labels.Released] != "true" {
		t.Errorf("the claim is not released: %v", claim.Annotations)
	}
	if diff := cmp.Diff([]int32{0, 1}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0, 1, 3, 4, 5}, r.cluster().Status.NodeIDs); diff != "" {
		t.Errorf("ids of the cluster (-want +got):\n%s", diff)
	}
	r.scale("broker", 3)
	r.leaving(reconciler, 8)
	if diff := cmp.Diff([]int32{0, 1, 6}, r.ids("broker")); diff != "" {
		t.Errorf("ids after the pool has grown, where the id of a kept disk is not used (-want +got):\n%s", diff)
	}
}

// A pool has grown, and its new pods cannot be scheduled. They hold nothing, although they do not say so.
func TestScaleDownRevertsAFailedScaleUp(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.unscheduled = func(pod string) bool { return pod == "my-cluster-broker-6" || pod == "my-cluster-broker-7" }
	r.kafka.silent = []int32{6, 7}
	r.scale("broker", 5)
	r.leaving(reconciler, 6)
	if !r.exists(&corev1.Pod{}, "my-cluster-broker-6") || !r.exists(&corev1.Pod{}, "my-cluster-broker-7") {
		t.Fatal("the pool has not grown")
	}
	r.scale("broker", 3)
	r.leaving(reconciler, 25)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Steady {
		t.Errorf("state %s, want Steady: %+v", got, r.lifecycle(observation.LifecycleScaleDown))
	}
	for _, pod := range []string{"my-cluster-broker-6", "my-cluster-broker-7"} {
		if r.exists(&corev1.Pod{}, pod) || r.exists(&corev1.ConfigMap{}, record.Name(pod)) {
			t.Errorf("%s or its record is left", pod)
		}
	}
	if diff := cmp.Diff([]int32{0, 1, 2}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
}

// A pod of a failed scale-up starts while it is being stopped. What it has got in the meantime brings it back.
func TestScaleDownKeepsABrokerThatStartsMeanwhile(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.unscheduled = func(pod string) bool { return pod == "my-cluster-broker-6" }
	r.kafka.silent = []int32{6}
	r.scale("broker", 4)
	r.leaving(reconciler, 6)
	r.scale("broker", 3)
	for range 10 {
		if r.record("my-cluster-broker-6").Stop {
			break
		}
		r.must(pass(t, reconciler, r.key))
		r.clock.Step(20 * time.Second)
	}
	if !r.record("my-cluster-broker-6").Stop {
		t.Fatalf("the node was not stopped: %+v", r.lifecycle(observation.LifecycleScaleDown))
	}
	r.unscheduled = nil
	r.kubelet()
	r.kafka.partitions = kafkaclient.Partitions{Total: 1, Replicas: map[int32]int{6: 1}}
	r.leaving(reconciler, 10)
	if got := r.record("my-cluster-broker-6"); got.Stop || !got.Leaving {
		t.Errorf("record %+v", got)
	}
	if !r.exists(&corev1.Pod{}, "my-cluster-broker-6") || len(r.kafka.unregistered) > 0 {
		t.Error("the pod is gone, or its broker was unregistered")
	}
}

func TestScaleDownDeletesTheClaimIfRequested(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.setAnnotation(&corev1.PersistentVolumeClaim{}, claimLeaving, labels.DeleteClaim, "true")
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	pool.Spec.Storage.Volumes[0].DeleteClaim = new(true)
	r.must(r.client.Update(t.Context(), pool))
	r.scale("broker", 2)
	r.leaving(reconciler, 14)
	if r.exists(&corev1.PersistentVolumeClaim{}, claimLeaving) {
		t.Error("the claim is left")
	}
}

// Kafka may refuse for hours to unregister a broker that was stopped. What its pool says of its data meanwhile decides, also for the
// owner reference, with which the claim would be deleted with the Kafka.
func TestScaleDownKeepsTheClaimIfTheUserDecidesSoWhileTheBrokerIsStopped(t *testing.T) {
	r, reconciler := settledOnThree(t)
	deleteClaims := func(is bool) {
		t.Helper()
		pool := &kafkav1beta2.KafkaNodePool{}
		r.must(r.get(pool, "broker"))
		pool.Spec.Storage.Volumes[0].DeleteClaim = new(is)
		r.must(r.client.Update(t.Context(), pool))
	}
	claim := func() *corev1.PersistentVolumeClaim {
		t.Helper()
		c := &corev1.PersistentVolumeClaim{}
		r.must(r.get(c, claimLeaving))
		return c
	}
	deleteClaims(true)
	r.leaving(reconciler, 2)
	r.kafka.refuseToUnregister = &kafkaclient.Refused{Code: 31, Name: "CLUSTER_AUTHORIZATION_FAILED"}
	r.scale("broker", 2)
	r.leaving(reconciler, 10)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.UnregistrationRefused {
		t.Fatalf("state %s, want UnregistrationRefused", got)
	}
	if c := claim(); c.Annotations[labels.DeleteClaim] != "true" || len(c.OwnerReferences) != 1 {
		t.Fatalf("annotations %v and owners %v, want a claim that is deleted", c.Annotations, c.OwnerReferences)
	}
	deleteClaims(false)
	r.leaving(reconciler, 6)
	if c := claim(); c.Annotations[labels.DeleteClaim] != "false" || len(c.OwnerReferences) != 0 {
		t.Errorf("annotations %v and owners %v, want a claim that stays", c.Annotations, c.OwnerReferences)
	}
	r.setAnnotation(&corev1.PersistentVolumeClaim{}, claimLeaving, labels.DeleteClaim, "true") // as if the update were late
	r.kafka.refuseToUnregister = nil
	r.leaving(reconciler, 14)
	if r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)) {
		t.Fatalf("the broker was not released: %+v", r.lifecycle(observation.LifecycleScaleDown))
	}
	if c := claim(); c.DeletionTimestamp != nil || c.Annotations[labels.Released] != "true" {
		t.Errorf("the claim is not kept: %+v", c.ObjectMeta)
	}
}

// A finalizer of another component delays the deletion of a record. The deletion is requested once.
func TestScaleDownWaitsForARecordThatIsHeld(t *testing.T) {
	r, reconciler := settledOnThree(t)
	hold := func(finalizers ...string) {
		t.Helper()
		home := &corev1.ConfigMap{}
		r.must(r.get(home, record.Name(podLeaving)))
		home.Finalizers = finalizers
		r.must(r.client.Update(t.Context(), home))
	}
	hold("example.org/holds")
	r.scale("broker", 2)
	r.leaving(reconciler, 14)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Releasing {
		t.Fatalf("state %s, want Releasing: %+v", got, r.lifecycle(observation.LifecycleScaleDown))
	}
	r.written()
	r.leaving(reconciler, 4)
	if got := r.written(); len(got) > 0 {
		t.Errorf("the wait writes %v", got)
	}
	hold()
	r.leaving(reconciler, 4)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Steady {
		t.Errorf("state %s, want Steady: %+v", got, r.lifecycle(observation.LifecycleScaleDown))
	}
}

func TestScaleDownKeepsABrokerWithReplicas(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.kafka.partitions = kafkaclient.Partitions{Total: 7, Replicas: map[int32]int{2: 7}}
	r.scale("broker", 2)
	r.leaving(reconciler, 6)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.AwaitingEmpty {
		t.Errorf("state %s, want AwaitingEmpty", got)
	}
	if !r.exists(&corev1.Pod{}, podLeaving) || r.record(podLeaving).Stop || len(r.kafka.unregistered) > 0 {
		t.Error("the broker was stopped or unregistered")
	}
	contains(t, r.lifecycle(observation.LifecycleScaleDown).WaitingFor[0].Observed, podLeaving+" holds replicas of 7 partitions")
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	contains(t, pool.Status.Conditions[0].Message, podLeaving+" (with replicas of 7 partitions) leave", observation.AnnotationDrain)
	r.written()
	r.leaving(reconciler, 4)
	if got := r.written(); len(got) > 0 {
		t.Errorf("the wait writes %v", got)
	}
	r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", facts.AnnotationSkipCheck, "true")
	r.leaving(reconciler, 14)
	if r.exists(&corev1.Pod{}, podLeaving) || len(r.kafka.unregistered) == 0 {
		t.Error("the broker stays although the check is skipped")
	}
}

// A pod of a broker that leaves comes back as it last ran, until the broker is stopped.
func TestScaleDownRecreatesALostPod(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.kafka.partitions = kafkaclient.Partitions{Total: 7, Replicas: map[int32]int{2: 7}}
	r.scale("broker", 2)
	r.leaving(reconciler, 4)
	entry := r.entry(setBroker, podLeaving)
	r.changed()
	r.losePod(podLeaving)
	r.leaving(reconciler, 2)
	if !r.exists(&corev1.Pod{}, podLeaving) || r.entry(setBroker, podLeaving) != entry {
		t.Error("the pod is lost, or its entry has changed")
	}
}

// Wiped statuses remove nothing and lose no id: the records say which broker leaves and which was stopped.
func TestScaleDownContinuesAfterWipedStatuses(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.scale("broker", 2)
	for n := range 14 {
		r.leaving(reconciler, 1)
		r.wipe()
		if stopped := !r.exists(&corev1.Pod{}, podLeaving); !stopped && slices.Contains(r.kafka.unregistered, 2) {
			t.Fatalf("pass %d: broker 2 was unregistered while its pod exists", n)
		}
	}
	r.leaving(reconciler, 14)
	if diff := cmp.Diff([]int32{0, 1}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
	if r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)) || !slices.Contains(r.kafka.unregistered, 2) {
		t.Error("broker 2 was not released")
	}
	for _, pod := range []string{podBroker, "my-cluster-broker-1"} {
		if !r.exists(&corev1.Pod{}, pod) {
			t.Errorf("%s is gone", pod)
		}
	}
}

func TestScaleDownRemovesTheBrokersOfADeletedPool(t *testing.T) {
	r := started(t, nil, declaredPool("controllers", 3, roleController), declaredPool("broker", 3, roleBroker), declaredPool("others", 1, roleBroker))
	r.kafka.partitions.Replicas[0] = 2
	r.remove(&kafkav1beta2.KafkaNodePool{}, "broker")
	r.run(60)
	if !r.exists(&corev1.Pod{}, podBroker) {
		t.Error("the broker with replicas is gone")
	}
	if diff := cmp.Diff([]int32{2, 1}, r.kafka.unregistered); diff != "" {
		t.Errorf("unregistered (-want +got):\n%s", diff)
	}
	if !r.exists(&corev1beta2.StrimziPodSet{}, setBroker) {
		t.Error("the StrimziPodSet is gone although a broker is left")
	}
	found := false
	for _, c := range r.cluster().Status.Conditions {
		if found = found || c.Reason == "Orphaned"; c.Reason == "Orphaned" {
			contains(t, c.Message, "KafkaNodePool broker is gone, and my-cluster-broker-0 (with replicas of 2 partitions) leave")
		}
	}
	if !found {
		t.Errorf("no warning: %+v", r.cluster().Status.Conditions)
	}
	r.kafka.partitions.Replicas[0] = 0
	r.run(30)
	if r.exists(&corev1.Pod{}, podBroker) || r.exists(&corev1beta2.StrimziPodSet{}, setBroker) {
		t.Error("the last broker, or the empty StrimziPodSet, is left")
	}
}

// createdAt reads every Kafka as created at a time.
type createdAt struct {
	client.Client
	created metav1.Time
}

func (c *createdAt) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, o, opts...)
	if k, ok := o.(*kafkav1beta2.Kafka); ok {
		k.CreationTimestamp = c.created
	}
	return err
}

// Tools create a Kafka before its pools. The end of the time that a pool is awaited needs no event.
func TestScaleDownAwaitsThePoolsOfAYoungCluster(t *testing.T) {
	r, _ := settledOnThree(t)
	young := &createdAt{Client: r.client, created: metav1.NewTime(r.clock.Now().Truncate(time.Second))}
	reconciler := r.reconciler(t, young, young)
	r.remove(&kafkav1beta2.KafkaNodePool{}, "broker")
	again := func() time.Duration {
		result, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: r.key})
		r.must(err)
		return result.RequeueAfter
	}
	for range 3 {
		again()
		r.clock.Step(states.DefaultPoll)
	}
	r.written()
	if after := again(); after > states.DefaultPoll || r.record(podLeaving).Leaving {
		t.Errorf("reconciled again after %s, want %s; the broker leaves: %t", after, states.DefaultPoll, r.record(podLeaving).Leaving)
	}
	if wrote := r.written(); len(wrote) > 0 {
		t.Errorf("wrote %v while the pool was awaited", wrote)
	}
	r.clock.Step(observation.PoolsGrace)
	again()
	if !r.record(podLeaving).Leaving {
		t.Error("the broker of the deleted pool does not leave")
	}
}

// A broker may hold replicas for days before it can be removed.
func TestScaleDownRollsABrokerThatLeaves(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.kafka.partitions = kafkaclient.Partitions{Total: 7, Replicas: map[int32]int{2: 7}}
	r.scale("broker", 2)
	r.leaving(reconciler, 4)
	pod := &corev1.Pod{}
	r.must(r.get(pod, podLeaving))
	r.leaving(reconciler, 4)
	before := pod.UID
	r.must(r.get(pod, podLeaving))
	if pod.UID != before {
		t.Fatal("the broker was restarted because it leaves")
	}
	k := r.cluster()
	k.Spec.Kafka.Config["queued.max.requests"] = apiextensionsv1.JSON{Raw: []byte("11")}
	r.must(r.client.Update(t.Context(), k))
	r.leaving(reconciler, 60)
	r.must(r.get(pod, podLeaving))
	if pod.UID == before || r.state(observation.LifecycleRoll) != noderoll.Settled {
		t.Errorf("the broker was not restarted, or the roll is %s", r.state(observation.LifecycleRoll))
	}
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.AwaitingEmpty {
		t.Errorf("state %s, want AwaitingEmpty", got)
	}
}
