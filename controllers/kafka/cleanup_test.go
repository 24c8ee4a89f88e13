package kafka

import (
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines"
)

// A manager that keeps asking clusters which are gone runs out of connections.
func TestForgetClosesConnections(t *testing.T) {
	r := single(t)
	r.settle()
	var opened, closed atomic.Int32
	ended := make(chan struct{}, 10)
	polled := &connection.Polled{
		Protocol: connection.NewProtocol(func(connection.Endpoint) (kafkaclient.Client, func(), error) {
			opened.Add(1)
			return r.kafka, func() { closed.Add(1); ended <- struct{}{} }, nil
		}),
		Wake: func(types.NamespacedName) {}, Clock: r.clock,
	}
	defer polled.Close()
	r.collector.System = polled
	reconciler := r.reconciler(t, r.client, r.client)
	request := func() {
		t.Helper()
		r.must(pass(t, reconciler, r.key))
	}
	request()
	k := r.cluster()
	// Each lifecycle's commands have a connection of their own.
	requestID := machines.RequestID{UID: string(k.UID), Lifecycle: observation.LifecycleVersion, Attempt: "a", State: "s", Sequence: 1}
	polled.Write(t.Context(), connection.EndpointOf(k), requestID, kafkaclient.Command{})
	other := connection.EndpointOf(k)
	other.UID, other.Name.Name = "uid-of-another", "another"
	polled.Answer(other, requestID)
	before := opened.Load()
	if before < 3 || closed.Load() > 0 {
		t.Fatalf("%d opened and %d closed while the cluster is there, want at least 3 and none", before, closed.Load())
	}
	k.Finalizers = nil
	r.must(client.IgnoreNotFound(r.client.Delete(t.Context(), k)))
	request()
	for range before - 1 {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d connections were closed", closed.Load(), before-1)
		}
	}
	request()
	if opened.Load() != before || closed.Load() != before-1 {
		t.Errorf("%d opened and %d closed, want %d and all but the other cluster's", opened.Load(), closed.Load(), before)
	}
}
