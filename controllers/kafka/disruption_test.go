package kafka

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A pod is taken away by another controller only while every other node serves, for as long as Kafka may still speak of the
// process before; and only one at a time.
func TestDisruptUnderTheLock(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*rig)
		want   bool
	}{
		"every node serves":                             {want: true},
		"another node is away":                          {change: func(r *rig) { r.remove(&corev1.Pod{}, "my-cluster-broker-1") }},
		"Kafka is silent":                               {change: func(r *rig) { r.kafka.err = errors.New("connection refused") }},
		"another broker is younger than its session":    {change: func(r *rig) { r.restarted("my-cluster-broker-1", 8*time.Second) }},
		"another broker is older than its session":      {change: func(r *rig) { r.restarted("my-cluster-broker-1", 9*time.Second) }, want: true},
		"the broker itself is younger than its session": {change: func(r *rig) { r.restarted(podBroker, time.Second) }, want: true},
		"the cluster is paused":                         {change: func(r *rig) { r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", lifecycle.PauseAnnotation, "true") }},
		"the cluster is paused, as for Strimzi":         {change: func(r *rig) { r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", labels.Pause, "true") }},
		"the cluster is not paused any more":            {change: func(r *rig) { r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", labels.Pause, "false") }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			pod := &corev1.Pod{}
			r.must(r.get(pod, podBroker))
			if tc.change != nil {
				tc.change(r)
			}
			took := false
			err := r.disruptor().Disrupt(t.Context(), pod, func() error { took = true; return nil })
			if took != tc.want || (err == nil) != tc.want || err != nil && !errors.Is(err, lifecycle.ErrWait) {
				t.Errorf("taken away: %v, error %v, want %v", took, err, tc.want)
			}
		})
	}
}

// restarted makes the container of a pod one that has run for so long, and was ready at once.
func (r *rig) restarted(pod string, ago time.Duration) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	p.Status.ContainerStatuses[0].State.Running.StartedAt.Time = r.clock.Now().Add(-ago)
	r.must(r.client.Status().Update(r.t.Context(), p))
}

func TestDisruptWaitsForAnotherDisruption(t *testing.T) {
	r := running(t)
	first, second := &corev1.Pod{}, &corev1.Pod{}
	r.must(r.get(first, podBroker))
	r.must(r.get(second, "my-cluster-broker-1"))
	d := r.disruptor()
	var during error
	r.must(d.Disrupt(t.Context(), first, func() error {
		during = d.Disrupt(t.Context(), second, func() error { t.Error("two pods are taken away at once"); return nil })
		return nil
	}))
	if !errors.Is(during, lifecycle.ErrWait) {
		t.Errorf("error %v, want %v", during, lifecycle.ErrWait)
	}
	gone := second.DeepCopy()
	gone.Labels["strimzi.io/cluster"], gone.Name, gone.UID = "another", "another-broker-1", types.UID("x")
	if err := d.Disrupt(t.Context(), gone, func() error { t.Error("the pod of no cluster is taken away"); return nil }); !errors.Is(err, lifecycle.ErrWait) {
		t.Errorf("error %v, want %v", err, lifecycle.ErrWait)
	}
}

// A broker whose stop is recorded keeps its pod while the cluster is paused, and loses it afterwards.
func TestPausedClusterKeepsAStoppedBroker(t *testing.T) {
	w := started(t, nil, declaredPool("brokers", 4, roleBroker), declaredPool("controllers", 3, roleController))
	const pod = "my-cluster-brokers-3"
	w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 })
	for range 40 {
		w.serve()
		if err := pass(t, w.reconciler, w.key); err != nil && !errors.Is(err, lifecycle.ErrStale) {
			t.Fatal(err)
		}
		w.clock.Step(20 * time.Second)
		if w.record(pod).Stop {
			break
		}
	}
	w.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", labels.Pause, "true")
	w.run(20)
	if !w.record(pod).Stop || !w.exists(&corev1.Pod{}, pod) {
		t.Fatalf("the broker is not stopped (%+v), or its pod was evicted while the cluster was paused", w.record(pod))
	}
	w.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", labels.Pause, "false")
	w.run(40)
	if w.exists(&corev1.Pod{}, pod) {
		t.Error("the pod is left after the pause")
	}
}
