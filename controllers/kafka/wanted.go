package kafka

import (
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// ReasonNewerDefault: the spec has no version, and the default is newer than the version that the cluster keeps.
const ReasonNewerDefault = "NewerDefault"

// wantedVersion returns the desired version, as written. If the spec has none, a cluster keeps the version that it runs (the
// oldest if its nodes differ), so that a table with another default changes no cluster. A new cluster gets the default.
func wantedVersion(k *kafkav1beta2.Kafka, v *Snapshot) string {
	if k.Spec.Kafka.Version != "" {
		return k.Spec.Kafka.Version
	}
	if oldest := oldestVersion(v); oldest != "" {
		return oldest
	}
	if recorded := k.Status.KafkaVersion; recorded != "" {
		if _, err := v.Table.Find(recorded); err == nil {
			return recorded
		}
	}
	return v.Table.Default().String()
}

// newerDefault describes how to change to the default if a cluster keeps an older version; nil otherwise.
func newerDefault(k *kafkav1beta2.Kafka, v *Snapshot) *transitions.Problem {
	if k.Spec.Kafka.Version != "" {
		return nil
	}
	keeps, offered := wantedVersion(k, v), v.Table.Default()
	version, err := v.Table.Find(keeps)
	if err != nil || version.Number().Compare(offered.Number()) >= 0 {
		return nil
	}
	return transitions.Problemf(ReasonNewerDefault, "spec.kafka.version is not set, so that this cluster stays on Kafka %s; new clusters run %s by default. Set spec.kafka.version to %q to go there, or to %q to say that it stays",
		keeps, offered, offered.String(), keeps)
}

// oldestVersion returns the oldest version that a node runs or last ran. A node that is not desired and has no pod never runs
// again. It counts only if there is no other node with a version.
func oldestVersion(v *Snapshot) string {
	if oldest := oldestOf(v, func(n *Node) bool { return n.Wanted || n.Pod.Exists }); oldest != "" {
		return oldest
	}
	return oldestOf(v, func(*Node) bool { return true })
}

func oldestOf(v *Snapshot, counts func(*Node) bool) string {
	oldest := ""
	for i := range v.Nodes {
		n := &v.Nodes[i]
		text := n.Version()
		version, err := v.Table.Find(text)
		if text == "" || err != nil || !counts(n) {
			continue
		}
		have, err := v.Table.Find(oldest)
		if oldest == "" || err == nil && version.Number().Compare(have.Number()) < 0 {
			oldest = text
		}
	}
	return oldest
}
