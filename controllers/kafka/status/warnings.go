package status

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// warnings returns the warnings for users, one condition per reason. They do not stop the reconcile.
func warnings(k *kafkav1beta2.Kafka, v *observation.Snapshot, decided *decision.Decision) []metav1.Condition {
	found := map[string][]string{}
	add := func(reason, message string) {
		if !slices.Contains(found[reason], message) {
			found[reason] = append(found[reason], message)
		}
	}
	for _, w := range decisionWarnings(v, decided) {
		add(string(w.Reason), w.Message)
	}
	for _, w := range observation.Derived(k, v, "warnings", specWarnings) {
		if w.Reason != ReasonMinInsyncReplicas || !severalConfirm(v) {
			add(w.Reason, w.Message)
		}
	}
	for _, w := range objectWarnings(k, &v.Objects) {
		add(w.Reason, w.Message)
	}
	for _, w := range v.IDs.Warnings {
		add(w.Reason, w.Message)
	}
	for _, w := range unsupportedChanges(v) {
		add(w.Reason, w.Message)
	}
	for _, p := range keptStorageOf(v) {
		add(string(p.Reason), p.Message)
	}
	for _, text := range terminatingClaims(v) {
		add(ReasonStorage, text)
	}
	if len(v.Defects) > 0 {
		add("UnreadableObject", roll.Names(v.Defects))
	}
	for _, problem := range []*transitions.Problem{newerDefault(k, v), olderMetadata(k, v), unprotected(k, v), editedEntries(v), foreignBrokers(v), refusedDrain(k, v), skippedCheck(k, v), cordonedBrokers(k, v)} {
		if problem != nil {
			add(string(problem.Reason), problem.Message)
		}
	}
	var out []metav1.Condition
	for reason, messages := range found {
		slices.Sort(messages)
		out = append(out, metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: reason, Message: strings.Join(messages, "; ")})
	}
	slices.SortFunc(out, func(a, b metav1.Condition) int { return strings.Compare(a.Reason, b.Reason) })
	return out
}

// decide returns the decision about the version with the finalized levels, as far as they are known.
func decide(k *kafkav1beta2.Kafka, v *observation.Snapshot) decision.Decision {
	s := facts.Situation(k, v)
	if features, ok := observation.Known(v.Features); ok {
		s.Finalized = decision.FinalizedLevels{Known: true, Levels: features.Finalized}
	}
	return decision.Decide(s)
}

func decisionWarnings(v *observation.Snapshot, decided *decision.Decision) []decision.Warning {
	_, known := observation.Known(v.Features)
	return slices.DeleteFunc(slices.Clone(decided.Warnings), func(w decision.Warning) bool {
		// Before the first answer of Kafka, unknown levels need no warning.
		return !known && (w.Reason == decision.ReasonLevelsUnreadable || w.Reason == decision.ReasonLevelsFromStatus)
	})
}

// previous returns the warning that the status shows for the reason; nil if there is none.
func previous(k *kafkav1beta2.Kafka, reason transitions.Reason) *transitions.Problem {
	for _, c := range k.Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == string(reason) {
			return &transitions.Problem{Reason: reason, Message: c.Message}
		}
	}
	return nil
}

const reasonUnprotected = "UnprotectedPartitions"

// unprotected returns a warning about partitions that no restart can keep available. If partitions were not observed, it keeps the
// previous message.
func unprotected(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	partitions, ok := observation.Known(v.Partitions)
	if !ok {
		return previous(k, reasonUnprotected)
	}
	var names []string
	for _, p := range partitions.Suspect {
		if len(p.Replicas) > 0 && kafkaclient.RiskOf(p, p.Replicas[0]) == kafkaclient.RiskUnprotected {
			names = append(names, p.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return transitions.Problemf(reasonUnprotected, "these partitions have no more replicas than min.insync.replicas, so that every restart of a broker makes them unavailable for a moment: %s", roll.Names(names))
}

// newerDefault describes how to change to the default if a cluster keeps an older version; nil otherwise.
func newerDefault(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if k.Spec.Kafka.Version != "" {
		return nil
	}
	keeps, offered := observation.WantedVersion(k, v), v.Table.Default()
	version, err := v.Table.Find(keeps)
	if err != nil || version.Number().Compare(offered.Number()) >= 0 {
		return nil
	}
	return transitions.Problemf(ReasonNewerDefault, "spec.kafka.version is not set, so that this cluster stays on Kafka %s; new clusters run %s by default. Set spec.kafka.version to %q to go there, or to %q to say that it stays",
		keeps, offered, offered.String(), keeps)
}
