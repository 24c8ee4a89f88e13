package integration

import (
	"context"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator/kafka"
)

// A finalizer of another component, which delays the removal of a deleted pod.
const holdsPod = "example.org/holds"

// Hinder stops the progress of the cluster so that it stays in the state of the visit.
func (e *estate) Hinder(v Visit, key client.ObjectKey) {
	if v.Lifecycle == observation.LifecycleConfiguration {
		e.hinderConfiguration(v.State, key)
		return
	}
	switch v.State {
	case "Checking":
		e.at(key, func(s *site) { s.blind = true })
	case "AwaitingSlot":
		e.at(key, func(s *site) { s.queued = true })
	case "SelectingNode":
		e.unreachable(key)
	case "AwaitingSnapshot":
		e.lowered(key)
	case "AwaitingQuorum":
		e.lagging(key, func(c *kafka.Cluster, lagging bool) {
			for _, id := range c.Voters {
				if id != c.Leader && lagging {
					c.SetVoterLag(id, time.Hour.Milliseconds())
				} else {
					c.SetVoterLag(id, 0)
				}
			}
		})
	case "AwaitingISR":
		e.lagging(key, func(c *kafka.Cluster, lagging bool) { // without any one node, some partition has a single replica
			c.SetLagging("orders", 0, 0, lagging)
			c.SetLagging("orders", 1, 1, lagging)
		})
	case "AwaitingInSync":
		follower := int32(0)
		e.lagging(key, func(c *kafka.Cluster, lagging bool) { // the one who lags may go, and does not come back into the ISR
			if lagging && c.Leader == 0 {
				follower = 1
			}
			c.SetLagging("orders", 0, follower, lagging)
		})
	case "RestartingNode":
		e.held(key)
	case "AwaitingReady": // a pod that was ready and is not any more might be starting up, and would not be touched
		outside.born.stunt(key, true)
		e.undo(key, func() {
			outside.born.stunt(key, false)
			outside.script.neverReady(podOf(key), false)
		})
	case "Verifying":
		pod := podOf(key)
		outside.script.neverReady(pod, true)
		Eventually(func() bool {
			seen := &corev1.Pod{}
			return admin.Get(context.Background(), pod, seen) == nil && !isReady(seen)
		}).Should(BeTrue())
		e.undo(key, func() { outside.script.neverReady(pod, false) })
	case "AwaitingUnregistration":
		const stale = 99
		outside.ask(key, func(c *kafka.Cluster) { // one that lives, which the operator does not unregister
			Expect(c.Register(stale, old, false)).To(Succeed())
			for i := range c.Registrations {
				if r := &c.Registrations[i]; r.ID == stale {
					r.SessionEnds = 0
				}
			}
		})
		e.undo(key, func() {
			outside.ask(key, func(c *kafka.Cluster) { Expect(c.UnregisterBroker(0, stale)).To(Succeed()) })
		})
	case "AwaitingApproval":
		e.at(key, func(s *site) { s.byApproval = true })
	case "SettingMetadata":
		e.at(key, func(s *site) { s.updates = make(chan struct{}) })
	case "MetadataRefused":
		e.at(key, func(s *site) { s.patient = true })
		outside.ask(key, func(c *kafka.Cluster) {
			c.AddFault(kafka.Fault{Request: kafka.RequestUpdateFeatures, Target: kafka.None, Kind: kafka.Refuse, Code: kafkaclient.CodeInvalidUpdateVersion, Message: "not today"})
		})
		e.undo(key, func() { outside.ask(key, (*kafka.Cluster).ClearFaults) })
	}
}

// undo runs do when the cluster is released.
func (e *estate) undo(key client.ObjectKey, do func()) {
	e.at(key, func(s *site) { s.undo = append(s.undo, do) })
}

func (e *estate) unreachable(key client.ObjectKey) {
	outside.ask(key, func(c *kafka.Cluster) { c.Unreachable = true })
	e.at(key, func(s *site) { s.silent = true })
	e.undo(key, func() { outside.ask(key, func(c *kafka.Cluster) { c.Unreachable = false }) })
}

func (e *estate) lagging(key client.ObjectKey, set func(c *kafka.Cluster, lagging bool)) {
	outside.ask(key, func(c *kafka.Cluster) { set(c, true) })
	e.undo(key, func() { outside.ask(key, func(c *kafka.Cluster) { set(c, false) }) })
}

// lowered makes the record of the only node say that a higher level was finalized recently.
func (e *estate) lowered(key client.ObjectKey) {
	name := record.Name(podOf(key).Name)
	editRecord(client.ObjectKey{Namespace: key.Namespace, Name: name}, func(r *record.Record) {
		level := r.Levels[kafkaclient.MetadataVersion]
		Expect(level.Finalized).To(BeNumerically(">", 0))
		level.Highest, level.LoweredAt = level.Finalized+2, time.Now().UTC().Truncate(time.Second)
		r.Levels[kafkaclient.MetadataVersion] = level
	})
	e.undo(key, func() {
		editRecord(client.ObjectKey{Namespace: key.Namespace, Name: name}, func(r *record.Record) { r.SettleLevels() })
	})
}

func editRecord(key client.ObjectKey, change func(*record.Record)) {
	ctx := context.Background()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		home := &corev1.ConfigMap{}
		if err := admin.Get(ctx, key, home); err != nil {
			return err
		}
		r, err := record.Decode(home.Data)
		if err != nil {
			return err
		}
		change(&r)
		home.Data = r.Encode()
		return admin.Update(ctx, home)
	})).To(Succeed())
}

// held adds a foreign finalizer to every pod, so that an evicted pod stays terminating.
func (e *estate) held(key client.ObjectKey) {
	ctx := context.Background()
	editPods(ctx, key, func(p *corev1.Pod) bool {
		p.Finalizers = append(p.Finalizers, holdsPod)
		return true
	})
	e.undo(key, func() {
		editPods(ctx, key, func(p *corev1.Pod) bool {
			held := len(p.Finalizers) > 0
			p.Finalizers = nil
			return held
		})
	})
}

func editPods(ctx context.Context, key client.ObjectKey, change func(*corev1.Pod) bool) {
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pods, err := podsOf(ctx, admin, key)
		if err != nil {
			return err
		}
		for _, p := range pods {
			if change(p) {
				if err := client.IgnoreNotFound(admin.Update(ctx, p)); err != nil {
					return err
				}
			}
		}
		return nil
	})).To(Succeed())
}

// Cleanup empties the statuses of the cluster's pools and pod sets.
func (e *estate) Cleanup(key client.ObjectKey) {
	ctx := context.Background()
	of := []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{"strimzi.io/cluster": key.Name}}
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var pools kafkav1beta2.KafkaNodePoolList
		if err := admin.List(ctx, &pools, of...); err != nil {
			return err
		}
		for i := range pools.Items {
			pools.Items[i].Status = kafkav1beta2.KafkaNodePoolStatus{}
			if err := admin.Status().Update(ctx, &pools.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var sets corev1beta2.StrimziPodSetList
		if err := admin.List(ctx, &sets, of...); err != nil {
			return err
		}
		for i := range sets.Items {
			sets.Items[i].Status = corev1beta2.StrimziPodSetStatus{}
			if err := admin.Status().Update(ctx, &sets.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
}

func featureEpoch(key client.ObjectKey) (epoch int64) {
	outside.ask(key, func(c *kafka.Cluster) { epoch = c.FeatureEpoch })
	return epoch
}
