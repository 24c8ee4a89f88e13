package status

import (
	"fmt"
	"slices"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// ReasonBrokerCordoned: brokers that are desired, and get no new replicas.
const ReasonBrokerCordoned = "BrokerCordoned"

// cordonedBrokers returns a warning about desired brokers that are cordoned although none is being removed; nil if there are none. The
// cordon may be left from a drained broker of the same id that lost its process for good, or may be a user's: Kafka does not say whose
// it is, so that it is not lifted. Without an answer since the last removal ended it keeps the previous message.
func cordonedBrokers(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	i := slices.IndexFunc(k.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.Name == observation.LifecycleScaleDown && e.State == kraftscaledown.Steady
	})
	if i < 0 {
		return nil
	}
	settings, known := observation.Known(v.Settings)
	if !known || v.Settings.At().Before(k.Status.Lifecycles[i].EnteredAt.Time) {
		return previous(k, ReasonBrokerCordoned)
	}
	var names []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if _, cordoned := settings[n.ID][kafkaclient.ConfigCordonedLogDirs]; cordoned && n.Wanted && n.Record.Draining == 0 {
			names = append(names, fmt.Sprintf("broker %d (%s)", n.ID, n.PodName))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return transitions.Problemf(ReasonBrokerCordoned, "cordoned, and so without new replicas: %s. No drain is in progress. Unless it is meant, lift it: "+
		"kafka-configs.sh --alter --entity-type brokers --entity-name <id> --delete-config %s", roll.Names(names), kafkaclient.ConfigCordonedLogDirs)
}
