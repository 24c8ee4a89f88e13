package decision_test

import (
	"testing"

	"github.com/detent-dev/detent/machines/kafkaversion/decision"
)

func TestDecideUnreadableLevels(t *testing.T) {
	waits := func(from, to string, features ...string) made {
		return made{Outcome: undecided, Direction: down, From: from, To: to, Reason: decision.ReasonLevelsUnreadable, Unreadable: features}
	}
	runSituations(t, map[string]situationCase{
		"down waits": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1", "4.3.1"), Finalized: silent()},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
			says:      []string{"metadata.version", "connection refused", "waits until a broker answers", `"4.3.1"`},
		},
		"down waits, between versions with the same levels too": {
			situation: decision.Situation{WantedVersion: "4.3.0", Nodes: running("4.3.1"), Finalized: silent()},
			want:      waits("4.3.1", "4.3.0", "metadata.version"),
		},
		"down waits when Kafka answers without the level": {
			situation: decision.Situation{WantedVersion: "4.3.0", Nodes: running("4.3.1"), Finalized: decision.FinalizedLevels{Known: true}},
			want:      waits("4.3.1", "4.3.0", "metadata.version"),
			says:      []string{"Kafka does not report it"},
		},
		"down by the level that the status recorded": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "4.2-IV1"},
			want: made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29,
				Warnings: []decision.Reason{decision.ReasonLevelsFromStatus}},
			says: []string{"status.kafkaMetadataVersion", "4.2-IV1 (level 29)", "connection refused"},
		},
		"down against the level that the status recorded": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want:      made{Outcome: refused, Direction: down, From: "4.3.1", To: "4.2.0", Reason: decision.ReasonFeatureOutOfRange},
		},
		"down against a recorded level of the future": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "5.11-IV1"},
			want:      made{Outcome: refused, Direction: down, From: "4.3.1", To: "4.2.0", Reason: decision.ReasonFeatureOutOfRange},
			says:      []string{"5.11-IV1"},
		},
		"a recorded text that is no level is as good as none": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "old-metadata"},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"a recorded sub-version that never was is as good as none": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "4.2-IV9"},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"down waits for a feature that the status does not record and the new version may have finalized": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("4.1.2"), Finalized: silent(), RecordedMetadata: "4.0-IV3"},
			want:      waits("4.1.2", "4.0.2", "share.version"),
			says:      []string{"share.version"},
		},
		"down from an unknown version waits for every feature but the recorded one": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("99.0.0"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want: waits("99.0.0", "4.3.1", "eligible.leader.replicas.version", "group.version", "kraft.version", "share.version",
				"streams.version", "transaction.version"),
		},
		"a bad first install may be corrected downward: nothing was ever started": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: neverStarted("4.3.1", "4.3.1"), Finalized: silent()},
			want: made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29,
				Warnings: []decision.Reason{decision.ReasonLevelsUnreadable}},
		},
		"pods without a record count as started": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: adopted("4.3.1"), Finalized: silent()},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"one node that was started is enough to wait": {
			situation: decision.Situation{WantedVersion: "4.2.0", Finalized: silent(), Nodes: append(neverStarted("4.3.1"), moved("z", "4.3.1", "4.3.1"))},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"the status says that the cluster once ran: not a first install": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: neverStarted("4.3.1"), Finalized: silent(), RecordedVersion: "4.3.1"},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"the status says what the disks were started with, where no record does": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: neverStarted("4.2.0"), Finalized: silent(), RecordedVersion: "4.3.1"},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"what the status says was started bounds the other features too": {
			situation: decision.Situation{WantedVersion: "4.0.2", Finalized: silent(), RecordedVersion: "4.1.2", RecordedMetadata: "4.0-IV3"},
			want:      waits("4.1.2", "4.0.2", "share.version"),
		},
		"disks that were never started are formatted at the pinned level": {
			situation: decision.Situation{WantedVersion: "4.2.0", WantedMetadata: "4.0", Nodes: neverStarted("4.3.1"), Finalized: silent()},
			want: made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 25, Wanted: 25,
				Warnings: []decision.Reason{decision.ReasonLevelsUnreadable}},
		},
		"level 0 is no word on metadata.version": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.3.1"), Finalized: finalized(0)},
			want:      waits("4.3.1", "4.2.0", "metadata.version"),
		},
		"back to the version that last ran, since the newer one never started": {
			situation: decision.Situation{WantedVersion: "4.2.0", Finalized: silent(),
				Nodes: []decision.NodeVersions{moved("a", "4.3.1", "4.2.0"), moved("b", "4.2.0", "4.2.0")}},
			want: made{Outcome: allowed, Direction: down, From: "4.3.1", To: "4.2.0", Target: 29, Wanted: 29,
				Warnings: []decision.Reason{decision.ReasonLevelsUnreadable}},
		},
		"not back below the version that last ran": {
			situation: decision.Situation{WantedVersion: "4.1.2", Finalized: silent(), Nodes: []decision.NodeVersions{moved("a", "4.3.1", "4.2.0")}},
			want:      waits("4.3.1", "4.1.2", "metadata.version", "streams.version"),
			says:      []string{"Kafka 4.2.0 may be at a level that 4.1.2 does not support", `spec.kafka.version to "4.2.0"`},
		},
		"up goes on: every level of the old version is one of the new": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.2.0"), Finalized: silent()},
			want: made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30,
				Warnings: []decision.Reason{decision.ReasonLevelsUnreadable}},
			says: []string{"connection refused"},
		},
		"up waits where the new version dropped levels of the old": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("3.9.2"), Finalized: silent()},
			want: made{Outcome: undecided, Direction: up, From: "3.9.2", To: "4.0.2", Reason: decision.ReasonLevelsUnreadable,
				Unreadable: []string{"metadata.version"}},
			says: []string{"3.9.2 may be at a level that 4.0.2 no longer supports"},
		},
		"up goes on there by the level that the status recorded": {
			situation: decision.Situation{WantedVersion: "4.0.2", Nodes: running("3.9.2"), Finalized: silent(), RecordedMetadata: "3.9-IV0"},
			want: made{Outcome: allowed, Direction: up, From: "3.9.2", To: "4.0.2", Target: 21, Wanted: 25,
				Warnings: []decision.Reason{decision.ReasonLevelsFromStatus}},
		},
		"up from an unknown version waits when nothing says the level": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("3.99.0"), Finalized: silent()},
			want: made{Outcome: undecided, Direction: up, From: "3.99.0", To: "4.3.1", Reason: decision.ReasonLevelsUnreadable,
				Unreadable: []string{"metadata.version"}},
		},
		"up from an unknown version trusts the recorded level": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("3.99.0"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want: made{Outcome: allowed, Direction: up, From: "3.99.0", To: "4.3.1", Target: 30, Wanted: 30,
				Warnings: []decision.Reason{decision.ReasonLevelsFromStatus}},
		},
		"another build of the same sources goes on": {
			situation: decision.Situation{WantedVersion: "4.1.1", Nodes: running("4.1.1-acme-2"), Finalized: silent()},
			want: made{Outcome: allowed, Direction: build, From: "4.1.1-acme-2", To: "4.1.1", Target: 0, Wanted: 27,
				Warnings: []decision.Reason{decision.ReasonLevelsUnreadable}},
		},
		"at rest nothing hangs on it, only the metadata step waits": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.3.1"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want:      made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Step: decision.MetadataUnreadable, Target: 30, Wanted: 30},
		},
		"at rest a recorded level that the nodes cannot run is not believed": {
			situation: decision.Situation{WantedVersion: "4.2.0", Nodes: running("4.2.0"), Finalized: silent(), RecordedMetadata: "4.3-IV0"},
			want:      made{Outcome: allowed, Direction: stay, From: "4.2.0", To: "4.2.0", Step: decision.MetadataUnreadable, Target: 29, Wanted: 29},
		},
	})
}

func TestDecideMetadata(t *testing.T) {
	at := func(step decision.MetadataStep, target int16, warnings ...decision.Reason) made {
		return made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Step: step, Target: target, Wanted: target, Warnings: warnings}
	}
	on := func(pin string, level int16) decision.Situation {
		return decision.Situation{WantedVersion: "4.3.1", WantedMetadata: pin, Nodes: running("4.3.1"), Finalized: finalized(level)}
	}
	runSituations(t, map[string]situationCase{
		"at the highest level":                    {situation: on("", 30), want: at(decision.MetadataKeep, 30)},
		"raised to the highest level":             {situation: on("", 25), want: at(decision.MetadataRaise, 30)},
		"a lower pin is not unfinished":           {situation: on("4.0", 25), want: at(decision.MetadataKeep, 25)},
		"raised to a pin":                         {situation: on("4.1-IV0", 25), want: at(decision.MetadataRaise, 26)},
		"the sub-version of a pin counts":         {situation: on("4.1", 26), want: at(decision.MetadataRaise, 27)},
		"lowered to a pin":                        {situation: on("4.1-IV0", 27), want: at(decision.MetadataLower, 26)},
		"a pin of the future keeps the level":     {situation: on("5.11", 25), want: at(decision.MetadataKeep, 25, decision.ReasonMetadataVersionTooNew), says: []string{"stays at 4.0-IV3"}},
		"a pin above the version keeps the level": {situation: on("4.4-IV0", 25), want: at(decision.MetadataKeep, 25, decision.ReasonMetadataVersionTooNew), says: []string{"4.4-IV0", "4.3-IV0"}},
		"lowered across changed records, which Kafka will refuse": {
			situation: on("4.2", 30), want: at(decision.MetadataLower, 29, decision.ReasonLoweringLikelyRefused),
			says: []string{"from 4.3-IV0 (level 30) to 4.2-IV1 (level 29)", "spec.kafka.metadataVersion to 4.3-IV0 or later"},
		},
		"no step while the nodes are starting up": {
			situation: decision.Situation{WantedVersion: "4.3.1", WantedMetadata: "4.3", Nodes: running("4.3.1", "4.2.0"), Finalized: finalized(29)},
			want:      made{Outcome: allowed, Direction: up, From: "4.2.0", To: "4.3.1", Target: 29, Wanted: 30},
		},
		"no step while another build goes in": {
			situation: decision.Situation{WantedVersion: "4.1.1", WantedMetadata: "4.0", Nodes: running("4.1.1-acme-2"), Finalized: finalized(27)},
			want:      made{Outcome: allowed, Direction: build, From: "4.1.1-acme-2", To: "4.1.1", Target: 27, Wanted: 25},
		},
		"Kafka answers without the level: the step waits": {
			situation: decision.Situation{WantedVersion: "4.3.1", Nodes: running("4.3.1"), Finalized: decision.FinalizedLevels{Known: true}},
			want:      at(decision.MetadataUnreadable, 30),
		},
		"a row with levels that have no names": {
			table:     "- {version: 5.0.0, supported: true, default: true, features: {metadata.version: [22, 40]}}\n",
			situation: decision.Situation{Nodes: running("5.0.0"), Finalized: finalized(33)},
			want:      made{Outcome: allowed, Direction: stay, From: "5.0.0", To: "5.0.0", Step: decision.MetadataRaise, Target: 40, Wanted: 40},
		},
	})
}

func TestDecideWarnsAboutPodsWithoutVersion(t *testing.T) {
	situationCase{
		situation: decision.Situation{WantedVersion: "4.3.1", Nodes: adopted("4.3.1", "", "4.3.1"), Finalized: finalized(30)},
		want: made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Target: 30, Wanted: 30,
			Warnings: []decision.Reason{decision.ReasonPodVersionUnknown}},
		says: []string{"pod my-cluster-pool-1 is without the annotation strimzi.io/kafka-version"},
	}.run(t)
}

func TestDecideWarnsAboutPodsThatContradictWhatWasWritten(t *testing.T) {
	situationCase{
		situation: decision.Situation{WantedVersion: "4.3.1", Nodes: contradicted("4.3.1", "4.3.1"), Finalized: finalized(30)},
		want: made{Outcome: allowed, Direction: stay, From: "4.3.1", To: "4.3.1", Target: 30, Wanted: 30,
			Warnings: []decision.Reason{decision.ReasonPodContradicted}},
		says: []string{"my-cluster-pool-1 runs another image", "delete the pod"},
	}.run(t)
}

func TestDecisionSettled(t *testing.T) {
	cases := map[string]struct {
		situation decision.Situation
		want      bool
	}{
		"binaries and level are there": {decision.Situation{Nodes: running("4.3.1"), Finalized: finalized(30)}, true},
		"the level is still to come":   {decision.Situation{Nodes: running("4.3.1"), Finalized: finalized(29)}, false},
		"a node is still to come":      {decision.Situation{Nodes: running("4.3.1", "4.3.0"), Finalized: finalized(30)}, false},
		"another build is there":       {decision.Situation{WantedVersion: "4.1.1", Nodes: running("4.1.1-a"), Finalized: finalized(27)}, false},
		"the level is not known":       {decision.Situation{Nodes: running("4.3.1"), RecordedMetadata: "4.3", Finalized: silent()}, false},
		"nothing is there":             {decision.Situation{}, false},
		"refused":                      {decision.Situation{WantedVersion: "5.0.0", Nodes: running("5.0.0"), Finalized: finalized(30)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.situation.Table = embeddedTable(t)
			d := decision.Decide(tc.situation)
			if got := d.Settled(); got != tc.want {
				t.Errorf("settled %t, want %t: %+v", got, tc.want, summary(d))
			}
		})
	}
}
