package status

import (
	"cmp"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// Reasons of warnings about settings that are applied and that cost data or availability. They are those of Strimzi, so that alerts on
// them keep working.
const (
	// ReasonMetadataVersion: the spec keeps the metadata version below the one of the Kafka version.
	ReasonMetadataVersion = "KafkaMetadataVersion"
	// ReasonReplicationFactor: new topics have one replica, because default.replication.factor is not set.
	ReasonReplicationFactor = "KafkaDefaultReplicationFactor"
	// ReasonMinInsyncReplicas: one replica confirms a write, because min.insync.replicas is not set.
	ReasonMinInsyncReplicas = "KafkaMinInsyncReplicas"
	// ReasonControllerCount: a controller more than needed for the same number of tolerated failures.
	ReasonControllerCount = "KafkaKRaftControllerNodeCount"
	// ReasonStorage: the only node of a role loses its data with its pod, a claim is being deleted that a pod uses, or a spec declares a
	// smaller size or another class for volumes that exist.
	ReasonStorage = "KafkaStorage"
	// ReasonProtocolVersion and ReasonFormatVersion: properties that Kafka ignores with KRaft.
	ReasonProtocolVersion = "KafkaInterBrokerProtocolVersionInKRaft"
	ReasonFormatVersion   = "KafkaLogMessageFormatVersionInKRaft"
)

// advice adds warnings about settings that are applied as they are.
func (w warned) advice(declared *render.Input) {
	w.obsolete(&declared.Spec.Kafka)
	brokers, controllers := roleOf(declared, kafkav1beta2.RoleBroker), roleOf(declared, kafkav1beta2.RoleController)
	if brokers.nodes > 1 {
		w.replication(&declared.Spec.Kafka)
	}
	switch {
	case controllers.nodes == 2:
		w.add(ReasonControllerCount, "2 controllers need each other: the cluster stops if one of them fails. Declare 3 before the first start, since the set of controllers cannot change later")
	case controllers.nodes > 2 && controllers.nodes%2 == 0:
		w.add(ReasonControllerCount, fmt.Sprintf("%d controllers tolerate as many failures as %d. Declare an odd number before the first start, since the set of controllers cannot change later",
			controllers.nodes, controllers.nodes-1))
	}
	if brokers.nodes == 1 && brokers.ephemeral != "" {
		w.add(ReasonStorage, "the only broker has ephemeral storage in KafkaNodePool "+brokers.ephemeral+": every restart loses all messages. Use persistent-claim, or more brokers")
	}
	if controllers.nodes == 1 && controllers.ephemeral != "" {
		w.add(ReasonStorage, "the only controller has ephemeral storage in KafkaNodePool "+controllers.ephemeral+": every restart loses the metadata of the cluster. Use persistent-claim, or more controllers")
	}
}

func (w warned) obsolete(spec *kafkav1beta2.KafkaClusterSpec) {
	for _, property := range []struct{ name, reason string }{
		{"inter.broker.protocol.version", ReasonProtocolVersion}, {"log.message.format.version", ReasonFormatVersion},
	} {
		if _, set := spec.Config[property.name]; set {
			w.add(property.reason, "Kafka does not read "+property.name+" with KRaft. Remove it from spec.kafka.config, and set spec.kafka.metadataVersion if the metadata version is to stay")
		}
	}
}

func (w warned) replication(spec *kafkav1beta2.KafkaClusterSpec) {
	if _, set := spec.Config["default.replication.factor"]; !set {
		w.add(ReasonReplicationFactor, "default.replication.factor is not set in spec.kafka.config, so that topics that are created without a replication factor have 1 replica and are not available during a restart")
	}
	if _, set := spec.Config["min.insync.replicas"]; !set {
		w.add(ReasonMinInsyncReplicas, "min.insync.replicas is not set in spec.kafka.config, so that a write is confirmed by 1 replica, and lost with it")
	}
}

// severalConfirm reports whether every broker says that more than one replica confirms a write, although the spec may not: a user may
// have set min.insync.replicas of all brokers.
func severalConfirm(v *observation.Snapshot) bool {
	settings, known := observation.Known(v.Settings)
	for _, of := range settings {
		s := of[kafkaclient.ConfigMinISR]
		used := cmp.Or(s.Broker, s.Cluster, s.Static, s.Default)
		if used == nil || *used == "1" {
			return false
		}
	}
	return known && len(settings) > 0
}

// declaredRole is how many nodes have a role, and the last of their pools with ephemeral storage, if any.
type declaredRole struct {
	nodes     int
	ephemeral string
}

func roleOf(declared *render.Input, role kafkav1beta2.NodeRole) declaredRole {
	var out declaredRole
	for i := range declared.Pools {
		pool := &declared.Pools[i]
		if pool.Spec.Replicas == 0 || !pool.Spec.HasRole(role) {
			continue
		}
		out.nodes += int(pool.Spec.Replicas)
		if pool.Spec.Storage.Ephemeral() {
			out.ephemeral = pool.Name
		}
	}
	return out
}

// olderMetadata describes a metadata version in the spec that is older than the one of the Kafka version; nil if there is none. Such a
// metadata version is kept: it permits a downgrade.
func olderMetadata(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if k.Spec.Kafka.MetadataVersion == "" {
		return nil
	}
	pinned, err := versions.WantedMetadata(k.Spec.Kafka.MetadataVersion)
	if err != nil {
		return nil // refused by the version change
	}
	version, err := v.Table.Find(observation.WantedVersion(k, v))
	if err != nil {
		return nil
	}
	row, found := version.Row()
	if !found {
		return nil
	}
	level, named := pinned.Level()
	runs, limited := row.Range(versions.FeatureMetadata)
	if !named || !limited || level >= runs.Max {
		return nil
	}
	newest, _ := versions.MetadataName(runs.Max)
	return transitions.Problemf(ReasonMetadataVersion, "spec.kafka.metadataVersion keeps the metadata version at %s, and Kafka %s has %s: what was added since is not available, and a downgrade is possible. "+
		"Remove it, or set it to %s, once no downgrade is needed", pinned, version, newest, newest)
}
