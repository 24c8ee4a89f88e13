package kafka

import (
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
)

// Permission to format is withdrawn when the node was seen registered, and not before.
func TestRecordFormatIsDoneOnceRegistered(t *testing.T) {
	r := separate(t)
	r.settle()
	if got := r.record("my-cluster-broker-0"); got.Format != record.FormatAllowed {
		t.Fatalf("format %s before Kafka was asked", got.Format)
	}
	// No lifecycle requests these facts; the records do, until they have seen every node.
	r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(0))
	r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, voterOf(3, 10), voterOf(4, 0))
	r.settle()
	want := map[string]record.Format{
		"my-cluster-broker-0": record.FormatDone, "my-cluster-broker-1": record.FormatAllowed,
		"my-cluster-controller-3": record.FormatDone, "my-cluster-controller-4": record.FormatAllowed,
	}
	for pod, format := range want {
		got := r.record(pod)
		if got.Format != format {
			t.Errorf("format of %s is %s, want %s", pod, got.Format, format)
		}
		if format == record.FormatDone && len(got.Volumes) != 1 {
			t.Errorf("volumes of %s are %v", pod, got.Volumes)
		}
	}
	if v := r.snapshot(false); v.Brokers.Asked() || v.Quorum.Asked() {
		t.Error("lifecycles see facts that none of them wants")
	}
}

// Storage that is lost with its pod is formatted each time.
func TestRecordFormatOfEphemeralStorage(t *testing.T) {
	r := newRig(t, manifests(t, upstream+"v1beta2/kafka-ephemeral.yaml")...)
	r.needs = append(r.needs, "brokers")
	r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(0))
	r.settle()
	if got := r.record("my-cluster-broker-0"); got.Format != record.FormatAllowed {
		t.Errorf("format %s", got.Format)
	}
	if n := r.snapshot(false).Node(0); n.MetadataStorage != observation.StorageEphemeral {
		t.Errorf("storage %s", n.MetadataStorage)
	}
}
