// Package disruption decides whether a pod of a Kafka cluster may be taken away now: the availability of its nodes by a live
// observation, under the disruption lock that all lifecycles of the cluster share.
package disruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Disruptor lets other controllers remove pods of Kafka clusters, one at a time together with the restarts of the clusters'
// lifecycles.
type Disruptor struct {
	// Collector of the clusters. Required.
	Collector *observation.Collector
	// DisruptionLocks are the disruption locks that the clusters' lifecycles use. Required.
	DisruptionLocks *lifecycle.DisruptionLocks
	// Live reads from the API server. Required.
	Live client.Reader
	// Clock of the process. Required.
	Clock clock.PassiveClock
}

// Disrupt calls take, which removes the pod of a node, if all other nodes of its cluster are available in a live observation. It
// returns ErrWait if one is not, if Kafka does not answer, or if the cluster of the pod is paused or does not exist.
func (d *Disruptor) Disrupt(ctx context.Context, pod *corev1.Pod, take func() error) error {
	name := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[labels.Cluster]}
	id, ok := observation.IDFrom(pod.Name, name.Name, pod.Labels[labels.Pool])
	if !ok {
		return fmt.Errorf("taking pod %s away: it is not named after a node of its pool", client.ObjectKeyFromObject(pod))
	}
	cluster := &kafkav1beta2.Kafka{}
	if err := d.Live.Get(ctx, name, cluster); err != nil {
		if lifecycle.ObjectMissing(err) {
			return fmt.Errorf("taking pod %s away: %w: its Kafka %s does not exist", pod.Name, lifecycle.ErrWait, name)
		}
		return fmt.Errorf("reading Kafka %s before pod %s is taken away: %w", name, pod.Name, err)
	}
	if lifecycle.IsPaused(cluster, labels.Pauses()...) {
		return fmt.Errorf("taking pod %s away: %w: its Kafka %s is paused", pod.Name, lifecycle.ErrWait, name)
	}
	request := func() (lifecycle.Availability, error) { return d.availability(ctx, cluster, pod) }
	return d.DisruptionLocks.Disrupt(ctx, d.Clock, cluster.UID, Target(id), request, take)
}

// availability returns which nodes of the cluster are available, from a live observation.
func (d *Disruptor) availability(ctx context.Context, cluster *kafkav1beta2.Kafka, pod *corev1.Pod) (lifecycle.Availability, error) {
	v, err := d.Collector.Collect(ctx, cluster, lifecycle.ObserveRequest{
		Needs: roll.ServingNeeds(),
		Live:  true, Read: d.Live, Now: d.Clock.Now(), MaxAge: func(transitions.Need) time.Duration { return observation.LiveTimeout },
	})
	if err != nil {
		return lifecycle.Availability{}, err
	}
	_, quorum := observation.Known(v.Quorum)
	_, partitions := observation.Known(v.Partitions)
	_, brokers := observation.Known(v.Brokers)
	if !quorum || !partitions || !brokers {
		return lifecycle.Availability{}, fmt.Errorf("taking pod %s away: %w: Kafka %s/%s cannot be asked what its other nodes serve",
			pod.Name, lifecycle.ErrWait, cluster.Namespace, cluster.Name)
	}
	return Availability(cluster, &v), nil
}
