package integration

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/transitions"
)

// notAuthorized is the code with which Kafka refuses a request.
const notAuthorized = kafkaclient.CodeClusterAuthorizationFailed

// Hinder stops the removal of the last broker so that it stays in the state of the visit.
func (w shrinking) Hinder(v Visit, key client.ObjectKey) {
	place(key, 0, 1)
	switch v.State {
	case kraftscaledown.Refusing:
		w.undo(key, func() { scaleControllers(key, 1) })
	case kraftscaledown.AwaitingEmpty:
		place(key, leaver)
		w.undo(key, func() { place(key, 0, 1) })
	case kraftscaledown.Cordoning:
		place(key, leaver)
		w.refused(key, kafka.RequestAlterConfigs)
	case kraftscaledown.Draining:
		place(key, leaver)
		w.refused(key, kafka.RequestReassign)
	case kraftscaledown.EndingDrain:
		place(key, leaver)
		w.at(key, func(s *site) { s.keepsCordons = true })
	case kraftscaledown.DrainRefused:
		spread(key, 0, 1, leaver)
		w.undo(key, func() { place(key, 0, 1) })
	case kraftscaledown.StoppingNode:
		w.holdsLeaver(key, &corev1.Pod{}, leaverPod(key))
	case kraftscaledown.AwaitingGone:
		w.runsElsewhere(key)
	case kraftscaledown.AwaitingSession:
		w.at(key, func(s *site) { s.disturb = withOldRegistrations })
	case kraftscaledown.Unregistering:
		held := make(chan struct{})
		w.at(key, func(s *site) { s.unregistrations = held })
		w.undo(key, func() { close(held) })
	case kraftscaledown.UnregistrationRefused:
		w.at(key, func(s *site) { s.patient = true })
		w.refused(key, kafka.RequestUnregisterBroker)
	case kraftscaledown.AwaitingSettled:
		until := time.Now().Add(time.Hour).Truncate(time.Second)
		w.at(key, func(s *site) {
			s.disturb = func(v *observation.Snapshot, _ lifecycle.ObserveRequest) { v.Unregistering.Until = until }
		})
	case kraftscaledown.Releasing:
		w.holdsLeaver(key, &corev1.ConfigMap{}, record.Name(leaverPod(key)))
	case kraftscaledown.Returning:
		w.at(key, func(s *site) {
			s.waits = func(e kafkacontroller.Effect) bool { return e.Removal != nil && e.Removal.Return != nil }
		})
		name := client.ObjectKey{Namespace: key.Namespace, Name: record.Name(leaverPod(key))}
		editRecord(name, func(r *record.Record) { r.Stop = true })
	}
}

// spread puts replicas of each partition on all the brokers.
func spread(cluster client.ObjectKey, on ...int32) {
	outside.ask(cluster, func(c *kafka.Cluster) {
		for i := range c.Partitions {
			c.Partitions[i].Replicas, c.Partitions[i].InSync, c.Partitions[i].Leader = on, 1<<len(on)-1, on[0]
		}
	})
}

// refused makes Kafka refuse a request.
func (w shrinking) refused(key client.ObjectKey, request kafka.Request) {
	outside.ask(key, func(c *kafka.Cluster) {
		c.AddFault(kafka.Fault{Request: request, Target: kafka.None, Kind: kafka.Refuse, Code: notAuthorized, Message: "not today"})
	})
	w.undo(key, func() { outside.ask(key, (*kafka.Cluster).ClearFaults) })
}

// runsElsewhere registers another process under the id of the broker, which keeps the registration alive.
func (w shrinking) runsElsewhere(key client.ObjectKey) {
	var other int64
	each := func(change func(c *kafka.Cluster, r *kafka.Registration)) {
		outside.ask(key, func(c *kafka.Cluster) {
			for i := range c.Registrations {
				if r := &c.Registrations[i]; r.ID == leaver {
					change(c, r)
				}
			}
		})
	}
	each(func(c *kafka.Cluster, r *kafka.Registration) {
		c.LastEpoch++
		r.Epoch, other = c.LastEpoch, c.LastEpoch
	})
	w.undo(key, func() {
		each(func(_ *kafka.Cluster, r *kafka.Registration) { r.Fenced = r.Fenced || r.Epoch == other })
	})
}

// withOldRegistrations makes the registrations known as they were at a time before everything.
func withOldRegistrations(v *observation.Snapshot, r lifecycle.ObserveRequest) {
	if !r.Wants(roll.NeedBrokers) {
		return
	}
	if brokers, known := v.Brokers.Get(); known {
		v.Brokers = transitions.Known(brokers, time.Unix(0, 0))
	}
}

// holdsLeaver adds a foreign finalizer to an object of the broker that leaves, so that the object stays when it is deleted.
func (w shrinking) holdsLeaver(key client.ObjectKey, o client.Object, name string) {
	ctx := context.Background()
	edit := func(change func(finalizers []string) []string) {
		Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			if err := admin.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, o); err != nil {
				return client.IgnoreNotFound(err)
			}
			o.SetFinalizers(change(o.GetFinalizers()))
			return client.IgnoreNotFound(admin.Update(ctx, o))
		})).To(Succeed())
	}
	edit(func(finalizers []string) []string { return append(finalizers, holdsPod) })
	w.undo(key, func() {
		edit(func(finalizers []string) []string {
			return slices.DeleteFunc(finalizers, func(f string) bool { return f == holdsPod })
		})
	})
}
