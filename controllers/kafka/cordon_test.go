package kafka

import (
	"slices"
	"testing"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/status"
)

// A cordon that outlived the broker that was drained is shown for the next broker of its id, which Kafka gives no replicas.
func TestACordonThatIsLeftIsAWarning(t *testing.T) {
	w := started(t, nil, declaredPool("dual", 1, roleController, roleBroker))
	warns := func() bool { return slices.Contains(w.warnings(), status.ReasonBrokerCordoned) }
	resync := func() {
		for range 40 { // of 20 seconds: longer than the resync
			w.step()
		}
	}
	if warns() {
		t.Error("warns of a broker that is not cordoned")
	}
	w.kafka.own = map[int32]map[string]string{0: {kafkaclient.ConfigCordonedLogDirs: kafkaclient.CordonedAll}}
	resync()
	if !warns() {
		t.Error("does not warn of a broker that is cordoned")
	}
	delete(w.kafka.own[0], kafkaclient.ConfigCordonedLogDirs)
	resync()
	if warns() {
		t.Error("still warns after the cordon was lifted")
	}
}
