package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const (
	brokerDir     = "/var/lib/kafka/data-0/kafka-log0"
	controllerDir = "/var/lib/kafka/data-0/kafka-log3"
	otherBroker   = "my-cluster-broker-1"
)

// loses makes the kubelet report that the init container of a pod found its volume empty.
func (r *rig) loses(pod, dir string) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	at := metav1.NewTime(r.clock.Now())
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "format", State: waiting("CrashLoopBackOff", ""), LastTerminationState: terminated(64, "Error", lostWords(dir))}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: waiting("PodInitializing", "")}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at}}
	r.must(r.client.Status().Update(context.Background(), p))
}

// starts makes the kubelet report that the init container accepted the volumes and that Kafka is ready.
func (r *rig) starts(pod string) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	at := metav1.NewTime(r.clock.Now())
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "format", State: terminated(0, "Completed", "")}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	r.must(r.client.Status().Update(context.Background(), p))
}

// steps lets the operator run, and Kafka answer with what change changes of a cluster whose nodes all serve.
func (r *rig) steps(reconciler reconcile.Reconciler, passes int, change func()) {
	r.t.Helper()
	for range passes {
		r.kafkaServes()
		if change != nil {
			change()
		}
		if err := pass(r.t, reconciler, r.key); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
			r.t.Fatal(err)
		}
		r.clock.Step(5 * time.Second)
	}
}

func (r *rig) lifecycle(name string) lifecyclev1.Lifecycle {
	for _, e := range r.cluster().Status.Lifecycles {
		if e.Name == name {
			return e
		}
	}
	return lifecyclev1.Lifecycle{}
}

// approve annotates the cluster with an approval.
func (r *rig) approve(value string) {
	r.t.Helper()
	k := r.cluster()
	if k.Annotations == nil {
		k.Annotations = map[string]string{}
	}
	k.Annotations[labels.Approve] = value
	r.must(r.client.Update(context.Background(), k))
}

// stalled is the condition Stalled, which must be true for the reason.
func (r *rig) stalled() string {
	r.t.Helper()
	c := meta.FindStatusCondition(r.cluster().Status.Conditions, lifecycle.Stalled)
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != nodestorage.StorageLost {
		r.t.Fatalf("Stalled is %+v, want True for the reason StorageLost; lifecycles %+v", c, r.cluster().Status.Lifecycles)
	}
	return c.Message
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q lacks %q", text, w)
		}
	}
}

// partition lets Kafka report one partition that the brokers hold, with the ISR.
func (r *rig) partition(isr ...int32) {
	r.kafka.partitions = kafkaclient.Partitions{}
	r.kafka.partitions.Add(kafkaclient.Partition{Topic: "orders", Leader: isr[len(isr)-1], Replicas: []int32{0, 1, 2}, ISR: isr, MinISR: 1})
}

// lostBroker is a cluster on hold: the volume of broker 0 is lost.
func lostBroker(t *testing.T) (*rig, reconcile.Reconciler) {
	t.Helper()
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.loses(podBroker, brokerDir)
	r.steps(reconciler, 4, func() { r.partition(0, 1, 2) })
	if got := r.state(observation.LifecycleStorage); got != nodestorage.StorageLost {
		t.Fatalf("state %q, want StorageLost", got)
	}
	return r, reconciler
}

func TestNodeStorageHoldsUntilFormattingIsApprovedAndSafe(t *testing.T) {
	r, reconciler := lostBroker(t)
	attempt := r.lifecycle(observation.LifecycleStorage).Attempt.ID
	command := "kubectl annotate kafka my-cluster -n default --overwrite detent.dev/approve=format-storage=" + attempt + "/" + podBroker
	contains(t, r.stalled(), podBroker+" (node 0) has lost its storage: nothing is left in "+brokerDir, command)
	if c := meta.FindStatusCondition(r.cluster().Status.Conditions, lifecycle.Ready); c == nil || c.Status != metav1.ConditionFalse {
		t.Errorf("Ready is %+v, want False", c)
	}
	if c := meta.FindStatusCondition(r.cluster().Status.Conditions, status.Available); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("Available is %+v: five pods are ready", c)
	}

	r.approve("format-storage=000000/" + podBroker)
	r.steps(reconciler, 3, func() { r.partition(1, 2) })
	contains(t, r.stalled(), "the approval is for 000000/"+podBroker, command)

	r.approve("format-storage=" + attempt + "/" + podBroker)
	r.steps(reconciler, 3, func() { r.partition(0, 1, 2) })
	contains(t, r.stalled(), "broker 0 is in the ISR")
	r.steps(reconciler, 3, func() { r.kafka.err = errInjected })
	contains(t, r.stalled(), "replicas-elsewhere")
	if got := r.record(podBroker).Format; got != record.FormatDone {
		t.Fatalf("the record says %s while the broker is in an ISR", got)
	}

	r.kafka.err = nil
	r.written()
	r.steps(reconciler, 4, func() { r.partition(1, 2) })
	if got := r.record(podBroker); got.Format != record.FormatAllowed || len(got.Volumes) == 0 {
		t.Fatalf("record %+v, want format: allowed and the volumes that it had", got)
	}
	for _, pod := range []string{otherBroker, podController} {
		if got := r.record(pod).Format; got != record.FormatDone {
			t.Errorf("the record of %s says %s", pod, got)
		}
	}
	if got := r.state(observation.LifecycleStorage); got != nodestorage.Formatting {
		t.Errorf("state %q, want Formatting", got)
	}
	r.written()
	r.steps(reconciler, 3, func() { r.partition(1, 2) })
	if got := r.written(); len(got) > 0 {
		t.Errorf("writes while the node is waited for: %v", got)
	}

	r.starts(podBroker)
	r.steps(reconciler, 6, func() { r.partition(0, 1, 2) })
	if got := r.record(podBroker).Format; got != record.FormatDone {
		t.Errorf("the record still says %s", got)
	}
	if got := r.state(observation.LifecycleStorage); got != nodestorage.Intact {
		t.Errorf("state %q, want Intact", got)
	}
	if c := meta.FindStatusCondition(r.cluster().Status.Conditions, lifecycle.Ready); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %+v, want True", c)
	}
}

func TestNodeStorageHoldEndsWithTheVolume(t *testing.T) {
	r, reconciler := lostBroker(t)
	attempt := r.lifecycle(observation.LifecycleStorage).Attempt.ID
	r.remove(&corev1.Pod{}, podBroker) // a pod that is being replaced says nothing of its volume
	r.steps(reconciler, 3, nil)
	if e := r.lifecycle(observation.LifecycleStorage); e.State != nodestorage.StorageLost || e.Attempt.ID != attempt {
		t.Fatalf("%s in attempt %+v, want StorageLost in attempt %s", e.State, e.Attempt, attempt)
	}
	r.must(r.podSets())
	r.starts(podBroker)
	r.steps(reconciler, 4, nil)
	if got := r.state(observation.LifecycleStorage); got != nodestorage.Intact {
		t.Errorf("state %q, want Intact", got)
	}
	if got := r.record(podBroker).Format; got != record.FormatDone {
		t.Errorf("the record says %s", got)
	}
}

// A majority of three controllers is two: with one lost, both others must be caught up.
func TestNodeStorageOfAControllerWaitsForTheOtherVoters(t *testing.T) {
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.loses(podController, controllerDir)
	behind := func() {
		r.kafka.quorum.Leader = 4
		r.kafka.quorum.Voters[2].LogEndOffset, r.kafka.quorum.Voters[2].LastCaughtUpMillis = 50, kafkaclient.NotReported
	}
	r.steps(reconciler, 4, behind)
	r.approve("format-storage=" + r.lifecycle(observation.LifecycleStorage).Attempt.ID + "/" + podController)
	r.steps(reconciler, 4, behind)
	contains(t, r.stalled(), "metadata-elsewhere: not caught up: controller 5")
	if got := r.record(podController).Format; got != record.FormatDone {
		t.Fatalf("the record says %s", got)
	}
	r.steps(reconciler, 4, func() { r.kafka.quorum.Leader = 4 })
	if got := r.record(podController).Format; got != record.FormatAllowed {
		t.Errorf("the record says %s", got)
	}
}

// What Kafka says just before the record is written counts.
func TestNodeStorageFormatsOnlyOnLiveFacts(t *testing.T) {
	r, reconciler := lostBroker(t)
	r.approve("format-storage=" + r.lifecycle(observation.LifecycleStorage).Attempt.ID + "/" + podBroker)
	for range 10 {
		r.steps(reconciler, 1, func() {
			r.partition(1, 2)
			if r.state(observation.LifecycleStorage) == nodestorage.Formatting {
				r.partition(0, 1, 2)
			}
		})
		if got := r.record(podBroker).Format; got != record.FormatDone {
			t.Fatalf("the record says %s", got)
		}
	}
}

func TestNodeStorageApprovesOneVolumeAtATime(t *testing.T) {
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.loses(otherBroker, "/var/lib/kafka/data-0/kafka-log1")
	r.loses(podBroker, brokerDir)
	r.steps(reconciler, 4, func() { r.partition(2) })
	attempt := r.lifecycle(observation.LifecycleStorage).Attempt.ID
	contains(t, r.stalled(), podBroker+" (node 0) has lost its storage", "Also lost, and to be approved after it: "+otherBroker)
	r.approve("format-storage=" + attempt + "/" + otherBroker)
	r.steps(reconciler, 4, func() { r.partition(2) })
	r.stalled()
	r.approve("format-storage=" + attempt + "/" + podBroker)
	r.steps(reconciler, 4, func() { r.partition(2) })
	if a, b := r.record(podBroker).Format, r.record(otherBroker).Format; a != record.FormatAllowed || b != record.FormatDone {
		t.Fatalf("formats %s and %s", a, b)
	}
	r.starts(podBroker)
	r.steps(reconciler, 6, func() { r.partition(2) })
	contains(t, r.stalled(), otherBroker+" (node 1) has lost its storage")
	if next := r.lifecycle(observation.LifecycleStorage).Attempt.ID; next == attempt {
		t.Error("the second node is held in the attempt of the first one")
	}
}

// A wiped status finds the hold, and a formatting under way, from the pods and the records.
func TestNodeStorageIsInferredWithoutStatus(t *testing.T) {
	r, reconciler := lostBroker(t)
	wipe := func() {
		k := r.cluster()
		k.Status.Lifecycles = nil
		r.must(r.client.Status().Update(t.Context(), k))
	}
	wipe()
	r.steps(reconciler, 4, func() { r.partition(1, 2) })
	r.stalled()
	r.approve("format-storage=" + r.lifecycle(observation.LifecycleStorage).Attempt.ID + "/" + podBroker)
	r.steps(reconciler, 4, func() { r.partition(1, 2) })
	wipe()
	r.steps(reconciler, 4, func() { r.partition(1, 2) })
	if got := r.state(observation.LifecycleStorage); got != nodestorage.Formatting {
		t.Errorf("state %q, want Formatting", got)
	}
}

// Neither a node with ephemeral storage nor one that never registered has lost anything.
func TestNodeStorageOfNodesWithoutData(t *testing.T) {
	lost := observation.Pod{Exists: true, Volumes: observation.Volumes{Lost: brokerDir}}
	for name, tc := range map[string]struct {
		node observation.Node
		want []nodestorage.Node
	}{
		"a node on ephemeral storage":  {node: observation.Node{Recorded: true, Record: record.Record{Format: record.FormatAllowed}, Pod: lost}},
		"a node that never registered": {node: observation.Node{Recorded: true, Record: record.Record{Format: record.FormatAllowed}, HasClaims: true, Pod: lost}},
		"a record that was deleted is no evidence": {node: observation.Node{HasClaims: true, Pod: lost},
			want: []nodestorage.Node{{Storage: nodestorage.Unknown, Directories: []string{brokerDir}}}},
		"a node that lost its volume": {node: observation.Node{Recorded: true, Record: record.Record{Format: record.FormatDone, Volumes: []int32{0}}, Pod: lost},
			want: []nodestorage.Node{{Storage: nodestorage.Lost, Directories: []string{brokerDir}}}},
	} {
		t.Run(name, func(t *testing.T) {
			k, v := &kafkav1beta2.Kafka{}, &observation.Snapshot{Nodes: []observation.Node{tc.node}}
			if diff := cmp.Diff(tc.want, facts.NodeStorage(k, v, machines.ObserveOptions{}).Nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

// The other lifecycles carry on with the other nodes.
func TestNodeStorageBlocksNothingElse(t *testing.T) {
	r, _ := lostBroker(t)
	if got := r.state(observation.LifecycleVersion); got != kafkaversion.Settled {
		t.Errorf("the version change is in %s", got)
	}
}
