package observation

import (
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// WantedVersion returns the desired version, as written. If the spec has none, a cluster keeps the version that it runs (the
// oldest if its nodes differ), so that a table with another default changes no cluster. A new cluster gets the default.
func WantedVersion(k *kafkav1beta2.Kafka, v *Snapshot) string {
	if k.Spec.Kafka.Version != "" {
		return k.Spec.Kafka.Version
	}
	if oldest := OldestVersion(v); oldest != "" {
		return oldest
	}
	if recorded := k.Status.KafkaVersion; recorded != "" {
		if _, err := v.Table.Find(recorded); err == nil {
			return recorded
		}
	}
	return v.Table.Default().String()
}

// OldestVersion returns the oldest version that a node runs or last ran. A node whose pool was deleted counts only if there is no other
// one with a version: it cannot be restarted on another version, and leaves. A node that is not desired and has no pod never runs again, and
// counts last.
func OldestVersion(v *Snapshot) string {
	for _, counts := range []func(*Node) bool{
		func(n *Node) bool { return n.Wanted || n.Pod.Exists && v.Pool(n.Pool) != nil },
		func(n *Node) bool { return n.Pod.Exists },
		func(*Node) bool { return true },
	} {
		if oldest := oldestOf(v, counts); oldest != "" {
			return oldest
		}
	}
	return ""
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
