package kafka

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A spec edit while Kafka cannot be reached shows why nothing is decided, since when and until when.
func TestProjectShowsASpecEditWhileKafkaIsUnreachable(t *testing.T) {
	r := newRig(t, manifests(t, upstream+"v1beta2/kafka-with-dual-role-nodes.yaml")...)
	const level = 25
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": level}, Supported: map[int32]map[string]kafkaclient.Range{}}
	for id := range int32(3) {
		r.kafka.features.Supported[id] = map[string]kafkaclient.Range{"metadata.version": {Min: 7, Max: level}}
		r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(id))
		r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, voterOf(id, 1))
	}
	reconciler := r.reconciler(t, r.client, r.client)
	run := func(passes int, step time.Duration) (rests bool) {
		for range passes {
			before := len(r.writes)
			for _, do := range []func() error{func() error { return pass(t, reconciler, r.key) }, r.podSets} {
				if err := do(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
					t.Fatal(err)
				}
			}
			r.kubelet()
			r.clock.Step(step)
			rests = len(r.writes) == before && meta.IsStatusConditionTrue(r.cluster().Status.Conditions, lifecycle.Ready)
			if rests {
				break
			}
		}
		return rests
	}
	if !run(80, 30*time.Second) {
		t.Fatalf("no rest: %+v", r.cluster().Status.Conditions)
	}
	refused := errors.New("dial tcp: connection refused")
	r.kafka.err = refused
	k := r.cluster()
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("16")
	r.must(r.client.Update(t.Context(), k))
	run(10, time.Minute)
	shown := false
	for _, e := range r.cluster().Status.Lifecycles {
		for _, w := range e.WaitingFor {
			shown = shown || strings.Contains(w.Observed, refused.Error()) && e.UnknownSince != nil && e.Deadline != nil
		}
	}
	if !shown {
		t.Errorf("no lifecycle shows why it cannot decide: %+v", r.cluster().Status.Lifecycles)
	}
	run(240, 5*time.Minute)
	if !meta.IsStatusConditionTrue(r.cluster().Status.Conditions, lifecycle.Stalled) {
		t.Errorf("20 hours later: %+v", r.cluster().Status.Conditions)
	}
}
