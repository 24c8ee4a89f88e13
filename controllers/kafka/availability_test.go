package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// dualRole is a rig with three nodes of both roles at rest, whose quorum and brokers answer.
func dualRole(t *testing.T) (*rig, reconcile.Reconciler) {
	t.Helper()
	r := newRig(t, manifests(t, upstream+"v1beta2/kafka-with-dual-role-nodes.yaml")...)
	const level = 25
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": level}, Supported: map[int32]map[string]kafkaclient.Range{}}
	for id := range int32(3) {
		r.kafka.features.Supported[id] = map[string]kafkaclient.Range{"metadata.version": {Min: 7, Max: level}}
	}
	reconciler := r.reconciler(t, r.client, r.client)
	for range 80 {
		r.kafkaCountsOn(0, 1, 2)
		before := len(r.writes)
		r.step(reconciler, r.podSets)
		r.kubelet()
		r.clock.Step(30 * time.Second)
		if len(r.writes) == before && meta.IsStatusConditionTrue(r.cluster().Status.Conditions, lifecycle.Ready) {
			r.clock.Step(time.Hour)
			r.written()
			return r, reconciler
		}
	}
	t.Fatalf("no rest: %+v", r.cluster().Status.Conditions)
	return nil, nil
}

// step runs one reconcile and then the others. A lagging cache and a conflict are part of it.
func (r *rig) step(reconciler reconcile.Reconciler, others ...func() error) {
	r.t.Helper()
	for _, step := range append([]func() error{func() error { return pass(r.t, reconciler, r.key) }}, others...) {
		if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
			r.t.Fatal(err)
		}
	}
}

// kafkaCountsOn has Kafka report these of three nodes as unfenced brokers and caught-up voters, and the others as gone.
func (r *rig) kafkaCountsOn(ids ...int32) {
	now := r.clock.Now().UnixMilli()
	r.kafka.quorum = kafkaclient.Quorum{Leader: ids[0], HighWatermark: 100}
	r.kafka.brokers = kafkaclient.Brokers{FencingReported: true}
	r.kafka.members = map[int32]kafkaclient.Member{}
	for id := range int32(3) {
		v := kafkaclient.QuorumReplica{ID: id, LogEndOffset: 100, LastFetchMillis: now, LastCaughtUpMillis: now}
		b := brokerOf(id)
		serves := slices.Contains(ids, id)
		if b.Fencing = kafkaclient.Unfenced; !serves {
			b.Fencing = kafkaclient.Fenced
			v.LastFetchMillis, v.LastCaughtUpMillis = now-time.Hour.Milliseconds(), now-time.Hour.Milliseconds()
		}
		report := kafkaclient.RoleReport{Asked: true, Answered: serves, Serving: serves}
		r.kafka.members[id] = kafkaclient.Member{ID: id, Broker: report, Controller: report}
		r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, v)
		r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, b)
	}
}

// podShows writes the status of the pod of a node.
func (r *rig) podShows(id string, ready corev1.ConditionStatus, status corev1.ContainerStatus) {
	r.t.Helper()
	for _, pod := range r.pods() {
		if strings.HasSuffix(pod.Name, "-"+id) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(r.clock.Now())}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
			r.must(r.client.Status().Update(r.t.Context(), &pod))
		}
	}
	r.written()
}

func runningSince(at time.Time) corev1.ContainerStatus {
	return containerStatus(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}, corev1.ContainerState{})
}

// change asks for another configuration, for which every node has to restart.
func (r *rig) change() {
	k := r.cluster()
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf(`7`)
	k.Generation++
	r.must(r.client.Update(r.t.Context(), k))
	r.written()
}

// evictions of the first passes, with 300 ms between them.
func (r *rig) evictions(reconciler reconcile.Reconciler, passes int, kafkaCountsOn ...int32) []string {
	r.t.Helper()
	var out []string
	for range passes {
		r.kafkaCountsOn(kafkaCountsOn...)
		r.step(reconciler)
		r.clock.Step(300 * time.Millisecond)
		for _, w := range r.written() {
			if strings.Contains(w, "eviction Pod") || strings.HasPrefix(w, "delete Pod") {
				out = append(out, w)
			}
		}
	}
	return out
}

func TestAvailabilityOfAnUnreadyVoterThatServes(t *testing.T) {
	r, reconciler := dualRole(t)
	r.change()
	loop := containerStatus(waiting("CrashLoopBackOff", ""), terminated(64, "Error", "ERROR storage lost"))
	loop.RestartCount = 5
	r.podShows("2", corev1.ConditionFalse, loop)
	r.podShows("1", corev1.ConditionFalse, runningSince(r.clock.Now().Add(-time.Hour)))
	got := r.evictions(reconciler, 100, 0, 1)
	if len(got) == 0 || !strings.HasSuffix(got[0], "-2") {
		t.Errorf("the first disruption is %q, want that of node 2, which is dead", got)
	}
	for _, w := range got {
		if !strings.HasSuffix(w, "-2") {
			t.Errorf("%s, although Kafka counts on the node and node 2 is away", w)
		}
	}
}

func TestAvailabilityOfUnreadyNodesThatServe(t *testing.T) {
	r, reconciler := dualRole(t)
	r.change()
	for _, id := range []string{"0", "1", "2"} {
		r.podShows(id, corev1.ConditionFalse, runningSince(r.clock.Now().Add(-time.Hour)))
	}
	if got := r.evictions(reconciler, 20, 0, 1, 2); len(got) > 0 {
		t.Errorf("%q within one session time-out of the loss of readiness", got)
	}
	r.clock.Step(10 * time.Second)
	if got := r.evictions(reconciler, 20, 0, 1, 2); len(got) != 1 {
		t.Errorf("disruptions %q, want one", got)
	}
}

func TestAvailabilityOfAnUnreadyNodeWhileKafkaIsSilent(t *testing.T) {
	r, reconciler := dualRole(t)
	r.change()
	r.podShows("1", corev1.ConditionFalse, runningSince(r.clock.Now().Add(-time.Hour)))
	r.kafka.err = errors.New("connection refused")
	if got := r.evictions(reconciler, 100, 0, 1, 2); len(got) > 0 {
		t.Errorf("%q although nothing shows that the node serves no client", got)
	}
}

// A node that dies of its configuration is repaired by the spec alone, although another one is lost: both together are the majority.
func TestAvailabilityOfADeadNodeWhileAnotherIsLost(t *testing.T) {
	refused := func(r *rig) {
		r.deny = func(verb string, o client.Object) error {
			if _, is := o.(*corev1.Pod); is && verb == "create" && strings.HasSuffix(o.GetName(), "-1") {
				return fmt.Errorf("pods %q is forbidden: exceeded quota: small", o.GetName())
			}
			return nil
		}
		r.remove(&corev1.Pod{}, r.snapshot(false).Node(1).PodName)
	}
	terminates := func(r *rig) {
		pod := &corev1.Pod{}
		r.must(r.get(pod, r.snapshot(false).Node(1).PodName))
		pod.Finalizers = []string{"detent.dev/lost-host"}
		r.must(r.client.Update(r.t.Context(), pod))
		r.must(r.client.Delete(r.t.Context(), pod))
	}
	for name, lose := range map[string]func(*rig){"its pod is refused": refused, "its pod terminates for ever": terminates} {
		t.Run(name, func(t *testing.T) {
			r, reconciler := dualRole(t)
			r.die(func(pod string) bool { return strings.HasSuffix(pod, "-0") })
			lose(r)
			r.change()
			var got []string
			for range 120 {
				r.kafkaCountsOn(2)
				r.kafka.quorum.Leader = kafkaclient.NoLeader
				r.step(reconciler)
				_ = r.podSets() // a refused pod is an error
				r.clock.Step(5 * time.Second)
				got = append(got, slices.DeleteFunc(r.written(), func(w string) bool {
					return !strings.Contains(w, "eviction Pod") && !strings.HasPrefix(w, "delete Pod")
				})...)
			}
			got = slices.DeleteFunc(got, func(w string) bool { return strings.HasSuffix(w, "-1") }) // it terminates already
			if len(got) != 1 || !strings.HasSuffix(got[0], "-0") {
				t.Errorf("disruptions %q, want that of node 0; %+v", got, r.cluster().Status.Lifecycles)
			}
		})
	}
}

// budgetShows writes how many pods the disruption budget counts as ready, and demands.
func (r *rig) budgetShows(healthy, desired int32) {
	r.t.Helper()
	budget := &policyv1.PodDisruptionBudget{}
	r.must(r.get(budget, r.cluster().Name+"-kafka"))
	budget.Status.CurrentHealthy, budget.Status.DesiredHealthy = healthy, desired
	r.must(r.client.Status().Update(r.t.Context(), budget))
	r.written()
}

// The status of a Kafka shows why the API server refuses its pods, and nothing of it once they exist.
func TestStatusShowsRefusedPods(t *testing.T) {
	w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version = "4.3.1" }, declaredPool("dual", 3, roleController, roleBroker)))
	w.deny = func(verb string, o client.Object) error {
		if _, is := o.(*corev1.Pod); is && verb == "create" {
			return fmt.Errorf("pods %q is forbidden: exceeded quota: small", o.GetName())
		}
		return nil
	}
	w.run(30)
	const want = `my-cluster-dual-0 (cannot be created: pods "my-cluster-dual-0" is forbidden: exceeded quota: small), my-cluster-dual-1 (cannot be created: `
	contains(t, meta.FindStatusCondition(w.cluster().Status.Conditions, lifecycle.Ready).Message, want)
	w.deny, w.errs = nil, nil
	w.rest(80)
	if got := w.snapshot(false).Node(0).Pod.Trouble; got != nil {
		t.Errorf("the pod exists, and has trouble: %s", got.Message)
	}
}
