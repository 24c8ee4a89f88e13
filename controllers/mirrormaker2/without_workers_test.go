package mirrormaker2_test

import (
	"strings"
	"testing"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindIsReadyWithoutWorkers checks that a resource that is scaled to zero is ready, and that what is requested of its connectors waits for
// workers.
func TestKindIsReadyWithoutWorkers(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Replicas = new(int32(0)) })
	r.until("that all is settled without workers", func() bool { return len(r.workers()) == 0 && r.settled() })
	r.writes = nil
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.TasksMax = new(int32(1)) })
	r.until("that the next generation is settled", r.settled)
	r.annotate("list", source)
	r.until("the warning", func() bool { return strings.Contains(r.warning("ListOffsets"), "there are no workers") })
	if got := r.get().Status.Connectors; len(got) > 0 || len(r.writes) > 0 {
		t.Errorf("the status shows %d connectors, and %v was sent, without workers", len(got), r.writes)
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Replicas = new(int32(2)) })
	r.until("that the offsets are listed", r.unannotated)
	r.until("that all is settled with workers", r.settled)
	if want := "PUT /connectors/" + source + "/config"; len(r.writes) != 1 || r.writes[0] != want {
		t.Errorf("sent %v with workers, want %s", r.writes, want)
	}
}
