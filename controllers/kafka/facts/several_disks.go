package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// severalDirectories is the metadata version from which a broker starts with several log directories. At an older one Kafka exits.
// Controllers start at every one.
const severalDirectories = "3.7-IV2"

// ReasonSeveralDisks: brokers have several disks at a metadata version at which they do not start.
const ReasonSeveralDisks transitions.Reason = "SeveralDisksNeedMetadata"

// pinnedBelowDisks describes pools of brokers with several disks if the spec keeps the metadata version too low for them; nil if not.
func pinnedBelowDisks(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if !olderThanDirectories(k.Spec.Kafka.MetadataVersion) {
		return nil
	}
	return disksProblem(v, fmt.Sprintf("spec.kafka.metadataVersion is %s. Raise it, or declare one volume", k.Spec.Kafka.MetadataVersion))
}

// startError describes why no node may be started or restarted: an invalid spec, a configuration that Kafka refuses, or pools of brokers
// with several disks while the metadata version of the cluster is too low for them. The last two do not prevent the metadata version
// from being raised.
func startError(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if wrong := cmp.Or(SpecError(k, v), refusedConfiguration(k, v)); wrong != nil {
		return wrong
	}
	finalized := k.Status.KafkaMetadataVersion
	if features, known := observation.Known(v.Features); known {
		finalized, _ = versions.MetadataName(features.Level(versions.FeatureMetadata))
	}
	if !olderThanDirectories(finalized) {
		return nil
	}
	return disksProblem(v, fmt.Sprintf("the metadata version of the cluster is %s. No node is restarted until it was raised, which needs spec.kafka.version to be the version that runs", finalized))
}

func olderThanDirectories(metadata string) bool {
	have, err := versions.ParseMetadata(metadata)
	if err != nil {
		return false // nothing is known, or the version change refuses it
	}
	lowest, err := versions.ParseMetadata(severalDirectories)
	return err == nil && have.Compare(lowest) < 0
}

func disksProblem(v *observation.Snapshot, why string) *transitions.Problem {
	var pools []string
	for _, pool := range v.Objects.Pools {
		if pool.Spec.HasRole(kafkav1beta2.RoleBroker) && pool.Spec.Replicas > 0 && len(pool.Spec.Storage.Volumes) > 1 {
			pools = append(pools, pool.Name)
		}
	}
	if len(pools) == 0 {
		return nil
	}
	slices.Sort(pools)
	return transitions.Problemf(ReasonSeveralDisks, "brokers with several disks (KafkaNodePool %s) need metadata version %s or later, and %s", strings.Join(pools, ", "), severalDirectories, why)
}
