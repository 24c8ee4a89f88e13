// Package kafkaversion is the lifecycle of a Kafka cluster's version: from which version to which its nodes change, and which level of
// metadata.version the cluster ends at. Package decision decides whether they may.
package kafkaversion

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "kafka-version-change"

// States of the machine itself. Package roll declares those of the roll.
const (
	Settled                = "Settled"
	Checking               = "Checking"
	Refusing               = "Refused"
	AwaitingSnapshot       = "AwaitingSnapshot"
	Verifying              = "Verifying"
	AwaitingUnregistration = "AwaitingUnregistration"
	Soaking                = "Soaking"
	AwaitingApproval       = "AwaitingApproval"
	SettingMetadata        = "SettingMetadata"
	MetadataRefused        = "MetadataRefused"
)

type (
	state = machines.State[Facts, roll.Data, Effect]
	row   = machines.Transition[Facts, roll.Data]
)

var always = transitions.AlwaysBecause[Facts, roll.Data]("its transitions judge the cluster as it is observed, and one of them is due in any cluster that changed")

// Definition returns the machine: Settled -> Checking -> the roll -> Verifying -> SettingMetadata -> Settled.
//
//nolint:funlen // the complete graph is readable in one place
func Definition() machines.Definition[Facts, roll.Data, Effect] {
	not := transitions.Not[Facts, roll.Data]
	all := transitions.All[Facts, roll.Data]
	wait := func(name string, deadline time.Duration, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline}, Invariant: always, OnTargetChange: Checking}
	}
	hold := func(name string, holdReason states.HoldReason, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: holdReason, Doc: doc, Poll: states.DefaultPoll}, OnTargetChange: Checking}
	}
	awaitingSnapshot := wait(AwaitingSnapshot, 0, "logs may still hold a lowered level that the older version cannot read; each controller's next snapshot is waited for")
	awaitingSnapshot.DeadlineAt = func(f *Facts, _ roll.Data, entered time.Time) time.Time {
		if end := f.snapshotsDone(); end.After(entered) {
			return end.Add(snapshotGrace)
		}
		return entered.Add(snapshotGrace)
	}
	soaking := hold(Soaking, states.Planned, "the new binaries run for the soaking time before the metadata level is raised")
	soaking.DeadlineAt = func(f *Facts, _ roll.Data, _ time.Time) time.Time { return f.soakedAt() }

	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "moves a Kafka cluster from one version to another: binaries one node at a time, then the metadata level",
		States: slices.Concat([]state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every node runs the wanted version and the metadata level is the wanted one"}},
			wait(Checking, 2*time.Minute, "whether and how the wanted version can be reached is being decided"),
			awaitingSnapshot,
		}, included.States(), []state{
			wait(Verifying, 30*time.Minute, "every node runs the wanted version; what is left to do is being decided"),
			wait(AwaitingUnregistration, time.Hour, "brokers that are gone are still registered and bind the metadata level"),
			soaking,
			hold(AwaitingApproval, states.Planned, "raising the metadata level, which closes the way back, awaits approval"),
			{State: states.State{Name: SettingMetadata, Kind: states.Work, Doc: "the metadata level is being changed", Deadline: 5 * time.Minute}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: setMetadata},
			hold(Refusing, states.Refusal, "the wanted version cannot be reached from here; the nodes stay as they are"),
			hold(MetadataRefused, states.Advice, "Kafka refused to change the metadata level; it is asked again after a pause"),
		}),
		Transitions: slices.Concat([]row{
			{Event: "install", From: Settled, To: Checking, NewAttempt: true, When: not(started, "a cluster that never ran"), Doc: "a new cluster"},
			{Event: "version-changed", From: Settled, To: Checking, NewAttempt: true, When: not(onVersion, "a node on another version"), Doc: "a node runs another version than the wanted one"},
			{Event: "declaration-broken", From: Settled, To: Checking, NewAttempt: true, When: not(sound, "pools, node ids or disks that do not fit"), Doc: "the declaration cannot be acted upon"},
			{Event: "path-closed", From: Settled, To: Checking, NewAttempt: true, When: not(pathAllowed, "a wanted version that is not allowed"), Doc: "the wanted version is not allowed"},
			{Event: "level-changed", From: Settled, To: Checking, NewAttempt: true, When: not(onLevel, "metadata.version at another level"), Doc: "the metadata level is not the wanted one"},

			{Event: "declaration-refused", From: Checking, To: Refusing, When: not(sound, "pools, node ids or disks that do not fit"), Outranks: true, Doc: "the declaration cannot be acted upon"},
			{Event: "path-forbidden", From: Checking, To: Refusing, When: not(pathAllowed, "a wanted version that is not allowed"), EvenIfUnknown: true, Doc: "the wanted version is not allowed"},
			{Event: "snapshots-off", From: Checking, To: Refusing, When: not(snapshotsPossible, "a node that never snapshots"), EvenIfUnknown: true, Outranks: true, Doc: "a wait for snapshots would never end"},
			{Event: "settled", From: Checking, To: Settled, When: all(sound, started, onVersion, pathAllowed, onLevel), Awaited: true, Outranks: true, Doc: "there is nothing to do"},
			{Event: "pods-starting", From: Checking, To: roll.AwaitingReady, When: all(not(started, "a cluster that never ran"), pathAllowed), Doc: "the pods of a new cluster start on the wanted version", ClearData: true},
			{Event: "snapshots-needed", From: Checking, To: AwaitingSnapshot, When: all(not(onVersion, "a node on another version"), pathAllowed, not(snapshotsTaken, "a log that holds a level too high")), Doc: "an older binary might not survive on the nodes' logs yet"},
			{Event: "path-clear", From: Checking, To: roll.SelectingNode, When: all(not(onVersion, "a node on another version"), pathAllowed), Doc: "the roll may begin"},
			{Event: "binaries-done", From: Checking, To: Verifying, When: all(onVersion, pathAllowed), Doc: "only the metadata level is left"},

			{Event: "snapshots-off", From: AwaitingSnapshot, To: Refusing, When: not(snapshotsPossible, "a node that never snapshots"), Outranks: true, Doc: "a node came up that never snapshots: the wait would never end"},
			{Event: "node-stuck", From: AwaitingSnapshot, To: roll.RestartingNode, Choose: &machines.Choice[Facts, roll.Data]{Guard: stuckGuard, Pick: pickStuck}, Outranks: true, Doc: "a node whose process dies anyway goes first, as the test"},
			{Event: "snapshots-taken", From: AwaitingSnapshot, To: roll.SelectingNode, When: snapshotsTaken, Awaited: true, Doc: "no log holds a level that the older version does not know"},
		}, included.Transitions(), []row{
			{Event: "declaration-broken", From: roll.AwaitingReady, To: Checking, When: all(firstStart, not(sound, "pools, node ids or disks that do not fit")), Doc: "the declaration of a new cluster cannot be acted upon any more"},
			{Event: "node-outdated", From: Verifying, To: Checking, When: not(onVersion, "a node on another version"), Doc: "a node came back on another version"},
			{Event: "declaration-broken", From: Verifying, To: Checking, When: not(sound, "pools, node ids or disks that do not fit"), Outranks: true, Doc: "the declaration cannot be acted upon any more"},
			{Event: "build-rolled", From: Verifying, To: Settled, When: all(otherBuild, allReady), Outranks: true, Doc: "another build of the same version leaves the metadata alone"},
			{Event: "path-closed", From: Verifying, To: Checking, When: not(pathAllowed, "a wanted version that is not allowed"), Doc: "the wanted version is not allowed any more"},
			{Event: "verified", From: Verifying, To: Settled, When: all(allReady, onLevel, noStaleRegistrations, binariesProven), Awaited: true, Doc: "binaries and metadata are where the spec wants them"},
			{Event: "registrations-stale", From: Verifying, To: AwaitingUnregistration, When: not(noStaleRegistrations, "a stale registration"), Outranks: true, Doc: "Kafka would refuse the level because of brokers that are gone"},
			{Event: "soak", From: Verifying, To: Soaking, When: all(raiseDue, transitions.Any(not(soaked, "soaking"), not(soakReadable, "a soaking time that cannot be read"))), Doc: "the soaking time has not passed, or cannot be read"},
			{Event: "approval-needed", From: Verifying, To: AwaitingApproval, When: all(raiseDue, not(approved, "no approval")), Doc: "the step has not been approved"},
			{Event: "finalize", From: Verifying, To: SettingMetadata, When: all(raiseDue, allReady, noStaleRegistrations, binariesProven, soaked, approved), OneWay: true, Doc: "everything that was asked for has happened: the level may be raised"},
			{Event: "lower", From: Verifying, To: SettingMetadata, When: all(lowerDue, allReady), Doc: "a lower level is wanted"},

			{Event: "unregistered", From: AwaitingUnregistration, To: Verifying, When: noStaleRegistrations, Awaited: true, Doc: "no stale registration is left"},
			{Event: "soaked", From: Soaking, To: Verifying, When: soaked, Awaited: true, Doc: "the soaking time has passed"},
			{Event: "nothing-to-raise", From: Soaking, To: Verifying, When: not(raiseDue, "a level that is not to be raised"), EvenIfUnknown: true, Doc: "the level is not to be raised any more"},
			{Event: "approved", From: AwaitingApproval, To: Verifying, When: approved, Awaited: true, Doc: "a person approved the step"},
			{Event: "nothing-to-raise", From: AwaitingApproval, To: Verifying, When: not(raiseDue, "a level that is not to be raised"), Doc: "the level is not to be raised any more"},

			{Event: "level-reached", From: SettingMetadata, To: Settled, When: all(onLevel, answered), Awaited: true, Outranks: true, Doc: "Kafka reports the wanted level"},
			{Event: "refused", From: SettingMetadata, To: MetadataRefused, When: answerRefused, EvenIfUnknown: true, Outranks: true, Doc: "Kafka refused"},
			{Event: "answer-lost", From: SettingMetadata, To: Verifying, When: answerUnknown, EvenIfUnknown: true, Doc: "the level itself tells what became of the request"},
			{Event: "overtaken", From: SettingMetadata, To: Verifying, When: overtaken, EvenIfUnknown: true, Doc: "what is wanted changed while the level was being set"},
			{Event: "ask-again", From: MetadataRefused, To: Verifying, When: askAgain, Awaited: true, Doc: "the pause has passed"},

			{Event: "path-open", From: Refusing, To: Checking, When: all(sound, pathAllowed, snapshotsPossible), Awaited: true, Doc: "what stood in the way is gone"},
		}),
		Needs: append(roll.Needs(), machines.Need{
			Name: NeedFeatures, Doc: "the finalized feature levels (ApiVersions)",
		}),
		Target: func(f *Facts) machines.Target {
			d := f.direction()
			return machines.Target{From: d.From.String(), To: f.wantedText(&d)}
		},
		// Every other situation is reached from Settled by its transitions: a repeated decision costs a reconcile, never a
		// restart. Only a roll must not look settled in between, because the persisted state may be lost while its generation is
		// being applied.
		Infer: machines.Inference[Facts, roll.Data]{States: []string{Settled, Checking}, Find: func(f *Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
			place := machines.InferredState[roll.Data]{State: Settled, Data: roll.NoNode()}
			if !f.onVersion() || f.SpecError != "" || f.Incomplete != "" {
				place.State = Checking
			}
			return place, transitions.Allow()
		}},
		Progress: progress(),
		Data:     roll.Codec(),
		Records: []machines.Record{
			{Name: "node", Home: "ConfigMap <pod>-record", Doc: "the version each disk was last started with, whether it may be formatted, and the highest feature levels its log may still hold"},
		},
	}
}

var stuckGuard = guard{
	Name: "node-stuck", Doc: "a node on another version dies or cannot start as it is", Expected: "a node that dies or cannot start", Needs: roll.ServingNeeds(),
}

// pickStuck chooses the first node that is demonstrably stuck. If that is unknown of a node, the answer is unknown.
func pickStuck(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	verdict := transitions.Deny("every node on another version serves, starts or is away for a moment")
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		if !n.Outdated {
			continue
		}
		switch stuck := f.stuck(n); stuck.Answer {
		case transitions.Yes:
			return stuck, roll.Data{Node: n.ID}
		case transitions.Unknown:
			verdict = stuck
		case transitions.No:
		}
	}
	return verdict, roll.NoNode()
}

// wantedText returns the desired version, as written if it is invalid.
func (f *Facts) wantedText(d *decision.Decision) string {
	if d.To.IsZero() {
		return f.Situation.WantedVersion
	}
	return d.To.String()
}
