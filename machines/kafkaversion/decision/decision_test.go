package decision_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/kafkaversion/decision"
)

// situationCase is one situation and what is made of it.
type situationCase struct {
	situation decision.Situation
	table     string // in place of the embedded one
	want      made
	says      []string // parts of the message, or of the first warning when allowed
}

func (tc situationCase) run(t *testing.T) {
	t.Helper()
	tc.situation.Table = embeddedTable(t)
	if tc.table != "" {
		tc.situation.Table = parseTable(t, tc.table)
	}
	d := decision.Decide(tc.situation)
	if diff := cmp.Diff(tc.want, summary(d)); diff != "" {
		t.Errorf("decision (-want +got):\n%s\nmessage: %s\nwarnings: %v", diff, d.Message, d.Warnings)
	}
	message := d.Message
	if d.Outcome == decision.OutcomeAllowed && len(d.Warnings) > 0 {
		message = d.Warnings[0].Message
	}
	for _, part := range tc.says {
		if !strings.Contains(message, part) {
			t.Errorf("the message leaves out %q:\n%s", part, message)
		}
	}
	if (d.Message == "") != (d.Outcome == decision.OutcomeAllowed) || (d.Reason == "") != (d.Message == "") {
		t.Errorf("outcome %s with reason %q and message %q", d.Outcome, d.Reason, d.Message)
	}
}

func runSituations(t *testing.T, cases map[string]situationCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, tc.run)
	}
}

const (
	allowed   = decision.OutcomeAllowed
	refused   = decision.OutcomeRefused
	undecided = decision.OutcomeUndecided

	install = decision.DirectionInstall
	stay    = decision.DirectionStay
	up      = decision.DirectionUp
	down    = decision.DirectionDown
	build   = decision.DirectionBuild
)

func TestDecideWithoutPods(t *testing.T) {
	runSituations(t, map[string]situationCase{
		"nothing anywhere: a fresh install of the desired version": {
			situation: decision.Situation{WantedVersion: "4.1.2", Finalized: silent()},
			want:      made{Outcome: allowed, Direction: install, To: "4.1.2", Target: 27, Wanted: 27},
		},
		"nothing anywhere and no desired version: the default": {
			situation: decision.Situation{Finalized: silent()},
			want:      made{Outcome: allowed, Direction: install, To: "4.3.1", Target: 30, Wanted: 30},
		},
		"a fresh install at a pinned level": {
			situation: decision.Situation{WantedMetadata: "4.0", Finalized: silent()},
			want:      made{Outcome: allowed, Direction: install, To: "4.3.1", Target: 25, Wanted: 25},
		},
		"a fresh install at a level that is too new": {
			situation: decision.Situation{WantedVersion: "4.1.2", WantedMetadata: "5.11", Finalized: silent()},
			want: made{Outcome: allowed, Direction: install, To: "4.1.2", Target: 27, Wanted: 27,
				Warnings: []decision.Reason{decision.ReasonMetadataVersionTooNew}},
			says: []string{"spec.kafka.metadataVersion", "5.11", "4.1.2", "ends at 4.1-IV1"},
		},
		"records that nothing ever ran: still a fresh install": {
			situation: decision.Situation{WantedVersion: "4.1.2", Finalized: silent(),
				Nodes: []decision.NodeVersions{{Name: "a", NeverStarted: true}}},
			want: made{Outcome: allowed, Direction: install, To: "4.1.2", Target: 27, Wanted: 27},
		},
		"records name a version: it is where the cluster comes from": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: stored("4.2.0", "4.2.0"), Finalized: silent(), RecordedMetadata: "4.2-IV1"},
			want: made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30,
				Warnings: []decision.Reason{decision.ReasonLevelsFromStatus}},
		},
		"records name a newer version: storage outlives pods": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: stored("4.3.1"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want:      made{Outcome: refused, Direction: down, From: "4.3.1", To: "4.2.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"status.kafkaMetadataVersion", "4.3-IV0 (level 30)", "can no longer be lowered", "4.3.0, 4.3.1"},
		},
		"the status alone names a version": {
			situation: decision.Situation{WantedVersion: "4.3.1", RecordedVersion: "4.3.1", RecordedMetadata: "4.3-IV0", Finalized: silent()},
			want:      made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Step: decision.MetadataUnreadable, Target: 30, Wanted: 30},
		},
		"the status alone names a newer version and no level": {
			situation: decision.Situation{WantedVersion: "4.2.0", RecordedVersion: "4.3.1", Finalized: silent()},
			want: made{Outcome: undecided, Direction: down, From: "4.3.1", To: "4.2.0",
				Reason: decision.ReasonLevelsUnreadable, Unreadable: []string{"metadata.version"}},
			says: []string{"metadata.version", "connection refused", "4.3.1", `spec.kafka.version to "4.3.1"`},
		},
		"records go before the status": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: stored("4.3.1"), RecordedVersion: "4.2.0", Finalized: silent()},
			want:      made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Step: decision.MetadataUnreadable, Target: 30, Wanted: 30},
		},
		"the status alone names a level: it is held against the desired version": {
			situation: decision.Situation{WantedVersion: "4.2.0", RecordedMetadata: "4.3-IV0", Finalized: silent()},
			want:      made{Outcome: refused, Direction: install, To: "4.2.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"status.kafkaMetadataVersion", "4.3.0, 4.3.1"},
		},
		"a record that is not a version": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: stored("four"), Finalized: silent()},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonRecordMalformed},
			says:      []string{"ConfigMap my-cluster-pool-0-record", `"four"`, "Set it to"},
		},
		"a status that is not a version": {
			situation: decision.Situation{WantedVersion: "4.3.1", RecordedVersion: "four", Finalized: silent()},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonStatusMalformed},
			says:      []string{"status.kafkaVersion", `"four"`, "correct it"},
		},
	})
}

func TestDecideDirection(t *testing.T) {
	settled := made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Target: 30, Wanted: 30}
	runSituations(t, map[string]situationCase{
		"every node on the desired version": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.3.1", "4.3.1"), Finalized: finalized(30)},
			want:      settled,
		},
		"every adopted pod on the default": {
			situation: decision.Situation{Nodes: adopted("4.3.1", "4.3.1"), Finalized: finalized(30)},
			want:      settled,
		},
		"up from the lowest": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.2.0", "4.1.2", "4.3.1"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: up, From: "4.1.2", To: "4.3.1", Target: 27, Wanted: 30},
		},
		"down from the highest": {
			situation: decision.Situation{WantedVersion: "4.1.2", Nodes: running("4.1.2", "4.3.1", "4.2.0"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.1.2", Target: 27, Wanted: 27},
		},
		"some above and some below: down from the highest": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.1.2", "4.3.1"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 27, Wanted: 29},
		},
		"a pod that is gone counts by its record": {
			situation: decision.Situation{WantedVersion: "4.3.1", Finalized: finalized(29),
				Nodes: append(running("4.3.1"), decision.NodeVersions{Name: "z", LastStarted: "4.2.0"})},
			want: made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30},
		},
		"a pod without annotation counts by its record": {
			situation: decision.Situation{WantedVersion: "4.3.1", Finalized: finalized(29), Nodes: []decision.NodeVersions{moved("a", "", "4.2.0")}},
			want:      made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30},
		},
		"a new pod counts as on its way until its process has started": {
			situation: decision.Situation{WantedVersion: "4.3.1", Finalized: finalized(29),
				Nodes: append(running("4.3.1"), moved("z", "4.3.1", "4.2.0"))},
			want: made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30},
		},
		"a pod that goes back counts as newer until its process has started": {
			situation: decision.Situation{WantedVersion: "4.2.0", Finalized: finalized(29),
				Nodes: append(running("4.2.0"), moved("z", "4.2.0", "4.3.1"))},
			want: made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29},
		},
		"down from a version that the table does not know": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("99.0.0", "99.0.0"), Finalized: finalized(30)},
			want:      made{Outcome: allowed, Direction: down, From: "99.0.0", To: "4.3.1", Target: 30, Wanted: 30},
		},
		"up from a version that the table does not know": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("3.99.0"), Finalized: finalized(25)},
			want:      made{Outcome: allowed, Direction: up, From: "3.99.0", To: "4.3.1", Target: 25, Wanted: 30},
		},
		"another build of the desired version is a roll": {
			situation: decision.Situation{WantedVersion: "4.1.1", Nodes: running("4.1.1", "4.1.1-acme-2"), Finalized: finalized(26)},
			want:      made{Outcome: allowed, Direction: build, From: "4.1.1-acme-2", To: "4.1.1", Target: 26, Wanted: 27},
		},
		"a build is not a downgrade, whatever its suffix": {
			table:     "- {version: 4.1.1, supported: true, metadata: '4.1'}\n- {version: 4.1.1-acme-2, supported: true, default: true, metadata: '4.1'}\n",
			situation: decision.Situation{Nodes: running("4.1.1"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: build, From: "4.1.1", To: "4.1.1-acme-2", Target: 27, Wanted: 27},
		},
		"an older node beside another build makes it an upgrade": {
			situation: decision.Situation{WantedVersion: "4.1.1", Nodes: running("4.1.1-acme-2", "4.0.2"), Finalized: finalized(25)},
			want:      made{Outcome: allowed, Direction: up, From: "4.0.2", To: "4.1.1", Target: 25, Wanted: 27},
		},
		"patch levels count": {
			situation: decision.Situation{WantedVersion: "4.1.1", Nodes: running("4.1.2"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: down, From: "4.1.2", To: "4.1.1", Target: 27, Wanted: 27},
		},
		"an older default turns a cluster without a desired version back": {
			table:     "- {version: 4.2.0, supported: true, default: true, metadata: '4.2'}\n- {version: 4.3.1, supported: true, metadata: '4.3'}\n",
			situation: decision.Situation{Nodes: running("4.3.1"), Finalized: finalized(29)},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29},
		},
	})
}

func TestDecideRefusals(t *testing.T) {
	runSituations(t, map[string]situationCase{
		"the desired version is no version": {
			situation: decision.Situation{WantedVersion: "4.1", Nodes: running("4.0.2"), Finalized: finalized(25)},
			want:      made{Outcome: refused, Reason: decision.ReasonVersionMalformed},
			says:      []string{"spec.kafka.version", `"4.1"`, "4.1.1", "default, 4.3.1"},
		},
		"the desired version is not in the table": {
			situation: decision.Situation{WantedVersion: "4.4.0", Nodes: running("4.3.1"), Finalized: finalized(30)},
			want:      made{Outcome: refused, Direction: up, From: "4.3.1", To: "4.4.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"spec.kafka.version", "4.4.0", "kafka-versions.yaml", "3.9.0, 3.9.1", "the nodes stay on Kafka 4.3.1"},
		},
		"a roll has moved five of six nodes when the desired version is not in the table": {
			situation: decision.Situation{WantedVersion: "5.0.0", Nodes: running("4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.1.1"), Finalized: finalized(26)},
			want:      made{Outcome: refused, Direction: up, From: "4.1.1", To: "5.0.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"Until then the nodes stay on Kafka 4.3.1 (5 of 6 nodes), 4.1.1 (1 of 6 nodes)"},
		},
		"the desired version is not in the table, and a pod is missing": {
			situation: decision.Situation{WantedVersion: "5.0.0", Nodes: append(running("4.3.1"), stored("4.1.1")...), Finalized: finalized(26)},
			want:      made{Outcome: refused, Direction: up, From: "4.1.1", To: "5.0.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"Until then the nodes stay on Kafka 4.1.1 (1 of 2 nodes), 4.3.1 (1 of 2 nodes)"},
		},
		"the desired version is not in the table, and the version of a pod is unknown": {
			situation: decision.Situation{WantedVersion: "5.0.0", Nodes: adopted("4.3.1", ""), Finalized: finalized(30)},
			want:      made{Outcome: refused, Direction: up, From: "4.3.1", To: "5.0.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"Until then the nodes stay on Kafka 4.3.1 (1 of 2 nodes)"},
		},
		"the desired version is not in the table, and only the status has a version": {
			situation: decision.Situation{WantedVersion: "5.0.0", RecordedVersion: "4.3.1", Finalized: finalized(30)},
			want:      made{Outcome: refused, Direction: up, From: "4.3.1", To: "5.0.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"Until then the nodes stay on Kafka 4.3.1"},
		},
		"staying on a version that the table does not know": {
			situation: decision.Situation{WantedVersion: "3.99.0", Nodes: running("3.99.0"), Finalized: finalized(21)},
			want:      made{Outcome: refused, Direction: stay, From: "3.99.0", To: "3.99.0", Reason: decision.ReasonVersionNotSupported},
		},
		"a version that is listed and not supported": {
			table:     "- {version: 4.0.0, supported: false, metadata: '4.0'}\n- {version: 4.1.0, supported: true, default: true, metadata: '4.1'}\n",
			situation: decision.Situation{WantedVersion: "4.0.0", Nodes: running("4.1.0"), Finalized: finalized(25)},
			want:      made{Outcome: refused, Direction: down, From: "4.1.0", To: "4.0.0", Reason: decision.ReasonVersionNotSupported},
			says:      []string{"is not supported by", "set one of 4.1.0"},
		},
		"an unknown build of a supported version": {
			situation: decision.Situation{WantedVersion: "4.1.1-acme-2", Nodes: running("4.1.1"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: build, From: "4.1.1", To: "4.1.1-acme-2", Reason: decision.ReasonVersionNotSupported},
		},
		"pods, none annotated, no record": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: adopted("", "", "", "", ""), RecordedMetadata: "4.3-IV0", RecordedVersion: "4.3.1", Finalized: finalized(30)},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonPodsWithoutVersion},
			says: []string{"my-cluster-pool-0, my-cluster-pool-1, my-cluster-pool-2 and 2 more", "strimzi.io/kafka-version",
				"kubectl annotate pod"},
		},
		"one pod, not annotated, no record": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: adopted(""), Finalized: finalized(30)},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonPodsWithoutVersion},
			says:      []string{"pod my-cluster-pool-0 is without"},
		},
		"an annotation that is no version": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: adopted("4.3.1", "latest"), Finalized: finalized(30)},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonAnnotationMalformed},
			says:      []string{"pod my-cluster-pool-1", "strimzi.io/kafka-version", `"latest"`, "kubectl annotate --overwrite pod my-cluster-pool-1"},
		},
		"a pod to adopt whose image is of another version": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: contradicted("4.3.1", ""), Finalized: finalized(30)},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonAnnotationContradicted},
			says:      []string{"my-cluster-pool-1 runs another image", "strimzi.io/kafka-version", "spec.kafka.images"},
		},
		"the only pod to adopt has an image of another version": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: contradicted(""), Finalized: finalized(30)},
			want:      made{Outcome: refused, To: "4.3.1", Reason: decision.ReasonAnnotationContradicted},
			says:      []string{"my-cluster-pool-0 runs another image"},
		},
		"the desired row has no metadata": {
			table:     "- {version: 4.2.0, supported: true}\n- {version: 4.1.0, supported: true, default: true, metadata: '4.1'}\n",
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.1.0"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: up, From: "4.1.0", To: "4.2.0", Reason: decision.ReasonTableRowIncomplete},
			says:      []string{"my-versions", "row 4.2.0", "metadata", "add"},
		},
		"the row the cluster comes from has no metadata, and it is not needed": {
			table:     "- {version: 4.0.0, supported: true}\n- {version: 4.1.0, supported: true, default: true, metadata: '4.1'}\n",
			situation: decision.Situation{Nodes: running("4.0.0"), Finalized: finalized(25)},
			want:      made{Outcome: allowed, Direction: up, From: "4.0.0", To: "4.1.0", Target: 25, Wanted: 27},
		},
		"a pinned level that never was": {
			situation: decision.Situation{WantedVersion: "4.3.1", WantedMetadata: "4.2-IV7", Nodes: running("4.2.0"), Finalized: finalized(29)},
			want:      made{Outcome: refused, Direction: up, From: "4.2.0", To: "4.3.1", Reason: decision.ReasonMetadataVersionInvalid},
			says:      []string{"spec.kafka.metadataVersion", `"4.2-IV7"`, "4.2-IV0, 4.2-IV1", "4.3-IV0"},
		},
		"a pinned level below what the version runs": {
			table:     "- {version: 4.1.0, supported: true, default: true, metadata: '4.1', minMetadata: 4.0-IV0}\n",
			situation: decision.Situation{WantedMetadata: "3.9", Nodes: running("4.1.0"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: stay, From: "4.1.0", To: "4.1.0", Reason: decision.ReasonMetadataVersionInvalid},
			says:      []string{"3.9-IV0", "4.1.0", "set 4.0-IV0 or later"},
		},
		"no desired version and a default that cannot be: the table says no": {
			situation: decision.Situation{Nodes: running("4.3.1"), Finalized: finalized(33)},
			want:      made{Outcome: refused, Direction: stay, From: "4.3.1", To: "4.3.1", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"4.4-IV2 (level 33)", "correct the levels of metadata.version in row 4.3.1"},
		},
	})
}

func TestDecideLevels(t *testing.T) {
	runSituations(t, map[string]situationCase{
		"down below a level that can still be lowered": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("4.1.2"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: down, From: "4.1.2", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
			says: []string{"4.1-IV1 (level 27)", "3.3-IV3 (level 7) to 4.0-IV3 (level 25)", "on the binaries that run now",
				`spec.kafka.version to "4.1.2"`, `spec.kafka.metadataVersion to "4.0-IV3" or earlier`},
		},
		"down and lower at once: the version comes first and lowers nothing": {
			situation: decision.Situation{WantedVersion: "4.0.2", WantedMetadata: "4.0", Nodes: running("4.1.2"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: down, From: "4.1.2", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
		},
		"down below a level that cannot be lowered any more": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: finalized(30)},
			want:      made{Outcome: refused, Direction: down, From: "4.3.1", To: "4.2.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"can no longer be lowered", "4.3-IV0 (level 30) changed the metadata records", "4.3.0, 4.3.1"},
		},
		"down within one minor, where only the sub-version differs": {
			table:     "- {version: 4.1.0, supported: true, metadata: 4.1-IV0}\n- {version: 4.1.1, supported: true, default: true, metadata: 4.1-IV1}\n",
			situation: decision.Situation{WantedVersion: "4.1.0", Nodes: running("4.1.1"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: down, From: "4.1.1", To: "4.1.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{`"4.1-IV0" or earlier`},
		},
		"down from an unknown version at a level that is too high: Kafka's tool is the way": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("99.0.0"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: down, From: "99.0.0", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"kafka-features.sh", "downgrade --feature metadata.version=25"},
		},
		"down from a level without a name": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("99.0.0"), Finalized: finalized(40)},
			want:      made{Outcome: refused, Direction: down, From: "99.0.0", To: "4.3.1", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"level 40", "No version in the version table supports it"},
		},
		"down from a level without a name to one that may still be reached": {
			table:     "- {version: 4.4.0, supported: true, default: true, metadata: '4.4'}\n- {version: 4.5.0, supported: true, features: {metadata.version: [7, 34]}}\n",
			situation: decision.Situation{WantedVersion: "4.4.0", Nodes: running("4.5.0"), Finalized: finalized(34)},
			want:      made{Outcome: refused, Direction: down, From: "4.5.0", To: "4.4.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"at level 34", `spec.kafka.version to "4.5.0"`, `"4.4-IV2" or earlier`, "Kafka decides whether"},
		},
		"down to a level without a name: only Kafka's tool can ask for it": {
			table:     "- {version: 5.0.0, supported: true, default: true, features: {metadata.version: [22, 40]}}\n- {version: 5.1.0, supported: true, features: {metadata.version: [22, 41]}}\n",
			situation: decision.Situation{WantedVersion: "5.0.0", Nodes: running("5.1.0"), Finalized: finalized(41)},
			want:      made{Outcome: refused, Direction: down, From: "5.1.0", To: "5.0.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"downgrade --feature metadata.version=40"},
		},
		"down to a version without a feature that is finalized": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("4.1.2"), Finalized: finalized(25, "share.version", 1)},
			want:      made{Outcome: refused, Direction: down, From: "4.1.2", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"share.version is finalized at level 1", "supports level 0 only", "downgrade --feature share.version=0"},
		},
		"two features at once are both named": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("4.3.1"), Finalized: finalized(26, "share.version", 1)},
			want:      made{Outcome: refused, Direction: down, From: "4.3.1", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"metadata.version is finalized at 4.1-IV0", "share.version is finalized at level 1"},
		},
		"a feature that no row names is not judged": {
			situation: decision.Situation{WantedVersion: "4.1.2", Nodes: running("4.3.1"), Finalized: finalized(27, "acme.version", 9)},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.1.2", Target: 27, Wanted: 27},
		},
		"up to a version that dropped the level": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("3.9.2"), Finalized: finalized(4)},
			want:      made{Outcome: refused, Direction: up, From: "3.9.2", To: "4.0.2", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"3.3-IV0 (level 4)", "Raise metadata.version first", `spec.kafka.version to "3.9.2"`, `"3.3-IV3" or later`},
		},
		"up with a feature below what the version runs": {
			table:     "- {version: 5.0.0, supported: true, default: true, metadata: '4.4', features: {group.version: [1, 2]}}\n- {version: 4.3.0, supported: true, metadata: '4.3'}\n",
			situation: decision.Situation{Nodes: running("4.3.0"), Finalized: finalized(30, "group.version", 0)},
			want:      made{Outcome: refused, Direction: up, From: "4.3.0", To: "5.0.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"upgrade --feature group.version=1"},
		},
		"up where the old version could not run the level, which is no spec error": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.2.0"), Finalized: finalized(30)},
			want:      made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 30, Wanted: 30},
		},
		"a build whose row runs less": {
			table:     "- {version: 4.1.1, supported: true, default: true, metadata: '4.1'}\n- {version: 4.1.1-acme-2, supported: true, metadata: 4.1-IV0}\n",
			situation: decision.Situation{WantedVersion: "4.1.1-acme-2", Nodes: running("4.1.1"), Finalized: finalized(27)},
			want:      made{Outcome: refused, Direction: build, From: "4.1.1", To: "4.1.1-acme-2", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"downgrade --feature metadata.version=26"},
		},
		"Kafka goes before the status": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: finalized(29), RecordedMetadata: "4.3-IV0"},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29},
		},
		"a cluster that was upgraded keeps its features at 0 and may go back": {
			situation: decision.Situation{WantedVersion: "3.9.2", Nodes: running("4.3.1", "3.9.2"), Finalized: finalized(21)},
			want:      made{Outcome: allowed, Direction: down, From: "4.3.1", To: "3.9.2", Target: 21, Wanted: 21},
		},
		"a cluster that was formatted by the new version may not": {
			situation: decision.Situation{WantedVersion: "3.9.2", Nodes: running("4.1.2"),
				Finalized: finalized(21, "group.version", 1, "transaction.version", 2, "eligible.leader.replicas.version", 1)},
			want: made{Outcome: refused, Direction: down, From: "4.1.2", To: "3.9.2", Reason: decision.ReasonFeatureOutOfRange},
			says: []string{"group.version=0", "transaction.version=0", "eligible.leader.replicas.version=0"},
		},
	})
}

// The words go into messages, logs and metrics.
func TestDecisionStrings(t *testing.T) {
	want := []string{"unknown", "install", "none", "up", "down", "build", "undecided", "allowed", "refused", "none", "raise", "lower", "unreadable"}
	got := []string{decision.DirectionUnknown.String(), install.String(), stay.String(), up.String(), down.String(), build.String(),
		undecided.String(), allowed.String(), refused.String(), decision.MetadataKeep.String(), decision.MetadataRaise.String(),
		decision.MetadataLower.String(), decision.MetadataUnreadable.String()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if d := decision.Decide(decision.Situation{Table: embeddedTable(t), WantedVersion: "x"}); d.Direction != decision.DirectionUnknown {
		t.Errorf("direction %s of no version", d.Direction)
	}
}
