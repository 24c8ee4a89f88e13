package kafka

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/kraftscaledown"
)

// budgeted lets the API server refuse evictions as a disruption budget does, and show what it counts.
func (r *rig) budgeted() {
	r.deny = func(verb string, o client.Object) error {
		if _, isPod := o.(*corev1.Pod); verb != "create-eviction" || !isPod {
			return nil
		}
		b := r.counted()
		pod := &corev1.Pod{}
		r.must(r.get(pod, o.GetName()))
		if b.DisruptionsAllowed > 0 || !isReady(pod) && b.CurrentHealthy >= b.DesiredHealthy {
			return nil
		}
		return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10)
	}
}

func isReady(pod *corev1.Pod) bool {
	return len(pod.Status.Conditions) > 0 && pod.Status.Conditions[0].Status == corev1.ConditionTrue
}

// counted updates the status of the budget.
func (r *rig) counted() policyv1.PodDisruptionBudgetStatus {
	r.t.Helper()
	b := &policyv1.PodDisruptionBudget{}
	r.must(r.get(b, "my-cluster-kafka"))
	healthy := int32(0)
	for _, pod := range r.pods() {
		if isReady(&pod) {
			healthy++
		}
	}
	b.Status.ObservedGeneration, b.Status.CurrentHealthy, b.Status.DesiredHealthy = b.Generation, healthy, int32(b.Spec.MinAvailable.IntValue())
	b.Status.DisruptionsAllowed = max(0, healthy-b.Status.DesiredHealthy)
	r.must(r.client.Status().Update(r.t.Context(), b))
	return b.Status
}

// registeredOf lets Kafka list the brokers below an id alone.
func (r *rig) registeredOf(below int32) {
	var left []kafkaclient.Broker
	for _, b := range r.kafka.brokers.Brokers {
		if b.Fencing = kafkaclient.Unfenced; b.ID < below {
			left = append(left, b)
		}
	}
	r.kafka.brokers.Brokers, r.kafka.brokers.FencingReported = left, true
}

// A scale-up of two brokers that die at each start is set back. Their pods are not ready, so that the disruption budget, which counts
// both, refuses each eviction.
func TestScaleDownRemovesTwoBrokersThatNeverStarted(t *testing.T) {
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.budgeted()
	dead := func(pod string) bool { return strings.HasSuffix(pod, "-6") || strings.HasSuffix(pod, "-7") }
	r.scale("broker", 5)
	r.upAndDown(reconciler, 12, dead)
	if !r.exists(&corev1.Pod{}, "my-cluster-broker-7") {
		t.Fatal("the new brokers have no pods")
	}
	r.scale("broker", 3)
	r.upAndDown(reconciler, 60, dead)
	for _, pod := range []string{"my-cluster-broker-6", "my-cluster-broker-7"} {
		if r.exists(&corev1.Pod{}, pod) {
			t.Errorf("%s is left: %+v", pod, r.lifecycle(observation.LifecycleScaleDown))
		}
	}
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Steady {
		t.Errorf("state %q, want Steady", got)
	}
}

// upAndDown lets everything run while some pods die.
func (r *rig) upAndDown(reconciler reconcile.Reconciler, passes int, dead func(pod string) bool) {
	r.t.Helper()
	for range passes {
		r.steps(reconciler, 1, func() { r.registeredOf(3) })
		r.must(r.podSets())
		r.die(dead)
		r.counted()
	}
}

// A stopped broker that is ready stays while its budget permits no eviction, and the status says so.
func TestScaleDownShowsWhatKeepsAPod(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.budgeted()
	r.scale("broker", 2)
	refuse := r.deny
	r.deny = func(verb string, o client.Object) error {
		r.die(func(pod string) bool { return verb == "create-eviction" && pod == podBroker })
		return refuse(verb, o)
	}
	for range 20 {
		r.leaving(reconciler, 1)
		r.counted()
	}
	e := r.lifecycle(observation.LifecycleScaleDown)
	if e.State != kraftscaledown.StoppingNode || len(e.WaitingFor) == 0 {
		t.Fatalf("lifecycle %+v, want StoppingNode", e)
	}
	contains(t, e.WaitingFor[0].Observed, "my-cluster-broker-2 still exists", "PodDisruptionBudget my-cluster-kafka permits no eviction now", "ready")
}
