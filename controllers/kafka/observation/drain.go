package observation

import (
	"time"

	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// AnnotationDrain requests with "true" that the replicas of brokers that leave are moved to brokers that stay.
const AnnotationDrain = labels.Drain

// Drains reports whether a drain of the brokers that leave is requested.
func Drains(k *kafkav1beta2.Kafka) bool { return lifecycle.HasFlag(k, AnnotationDrain) }

// LifecycleDrain is the name under which the requests of a drain are sent and answered. It is no lifecycle of a status.
const LifecycleDrain = LifecycleScaleDown + "/drain"

const (
	// repeatAfter is the least time between two requests of one drain.
	repeatAfter = 2 * time.Second
	// answeredWithin exceeds the time limit of a request.
	answeredWithin = 40 * time.Second
)

// DrainRequest returns the ID of a request of a drain. A visit of Draining sends many, and each is idempotent: what it did is observed.
// They have IDs of their own, so that they are no uncertain requests to unregister.
func DrainRequest(id machines.RequestID, now time.Time) machines.RequestID {
	id.Lifecycle = LifecycleDrain
	id.Sequence = now.UnixMilli() / repeatAfter.Milliseconds()
	return id
}

// drainAnswer returns the outcome of the last request of a drain that this visit of a state has sent, or none. No decision depends on
// it: it shows users what Kafka refuses.
func drainAnswer(system connection.System, cluster connection.Endpoint, visit machines.RequestID, now time.Time) external.Answer {
	switch visit.State {
	case kraftscaledown.Cordoning, kraftscaledown.Draining, kraftscaledown.EndingDrain:
	default:
		return external.Answer{}
	}
	id := DrainRequest(visit, now)
	for range answeredWithin / repeatAfter {
		if a := system.Answer(cluster, id); a.State != external.None {
			return a
		}
		id.Sequence--
	}
	return external.Answer{}
}
