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

var always = transitions.AlwaysBecause[Facts, roll.Data]("its transitions read observed facts, and one of them is due whenever the cluster has changed")

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
	awaitingSnapshot := wait(AwaitingSnapshot, 0, "logs may still hold a lowered level that the older version cannot read; the next snapshot of each controller is awaited")
	awaitingSnapshot.DeadlineAt = func(f *Facts, _ roll.Data, entered time.Time) time.Time {
		if end := f.snapshotsDone(); end.After(entered) {
			return end.Add(snapshotGrace)
		}
		return entered.Add(snapshotGrace)
	}
	soaking := hold(Soaking, states.Planned, "the new binaries run for the soaking time before the metadata level is raised")
	soaking.DeadlineAt = func(f *Facts, _ roll.Data, _ time.Time) time.Time { return f.soakedAt() }

	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "changes the version of a Kafka cluster: binaries one node at a time, then the metadata level",
		States: slices.Concat([]state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every node runs the desired version and metadata.version is at the desired level"}},
			wait(Checking, 2*time.Minute, "whether the version change is allowed is being checked"),
			awaitingSnapshot,
		}, included.States(), []state{
			wait(Verifying, 30*time.Minute, "every node runs the desired version; the metadata level is being checked"),
			wait(AwaitingUnregistration, time.Hour, "removed brokers are still registered and limit the metadata level; scale-down unregisters them"),
			soaking,
			hold(AwaitingApproval, states.Planned, "raising the metadata level, which cannot be undone, awaits approval"),
			{State: states.State{Name: SettingMetadata, Kind: states.Work, Doc: "the metadata level is being changed", Deadline: 5 * time.Minute}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: setMetadata},
			hold(Refusing, states.Refusal, "the version change is not allowed; the nodes keep their version"),
			hold(MetadataRefused, states.Advice, "Kafka refused to change the metadata level; retried after a back-off"),
		}),
		Transitions: slices.Concat([]row{
			{Event: "install", From: Settled, To: Checking, NewAttempt: true, When: not(started, "a cluster that never ran"), Doc: "a new cluster"},
			{Event: "version-changed", From: Settled, To: Checking, NewAttempt: true, When: not(onVersion, "a node on another version"), Doc: "a node runs another version than the desired one"},
			{Event: "declaration-broken", From: Settled, To: Checking, NewAttempt: true, When: not(sound, "inconsistent pools, node ids or disks"), Doc: "the spec cannot be applied"},
			{Event: "path-closed", From: Settled, To: Checking, NewAttempt: true, When: not(pathAllowed, "a desired version that is not allowed"), Doc: "the desired version is not allowed"},
			{Event: "level-changed", From: Settled, To: Checking, NewAttempt: true, When: not(onLevel, "metadata.version at another level"), Doc: "metadata.version is not at the desired level"},

			{Event: "declaration-refused", From: Checking, To: Refusing, When: not(sound, "inconsistent pools, node ids or disks"), Outranks: true, Doc: "the spec cannot be applied"},
			{Event: "path-forbidden", From: Checking, To: Refusing, When: not(pathAllowed, "a desired version that is not allowed"), EvenIfUnknown: true, Doc: "the desired version is not allowed"},
			{Event: "snapshots-off", From: Checking, To: Refusing, When: not(snapshotsPossible, "a node without periodic snapshots"), EvenIfUnknown: true, Outranks: true, Doc: "a wait for snapshots would never end"},
			{Event: "settled", From: Checking, To: Settled, When: all(sound, started, onVersion, pathAllowed, onLevel), Awaited: true, Outranks: true, Doc: "there is nothing to do"},
			{Event: "pods-starting", From: Checking, To: roll.AwaitingReady, When: all(not(started, "a cluster that never ran"), pathAllowed), Doc: "the pods of a new cluster start on the desired version", ClearData: true},
			{Event: "snapshots-needed", From: Checking, To: AwaitingSnapshot, When: all(not(onVersion, "a node on another version"), pathAllowed, not(snapshotsTaken, "a log that holds too high a level")), Doc: "an older binary might crash on the nodes' logs"},
			{Event: "path-clear", From: Checking, To: roll.SelectingNode, When: all(not(onVersion, "a node on another version"), pathAllowed), Doc: "the roll may begin"},
			{Event: "binaries-done", From: Checking, To: Verifying, When: all(onVersion, pathAllowed), Doc: "only the metadata level remains"},

			{Event: "snapshots-off", From: AwaitingSnapshot, To: Refusing, When: not(snapshotsPossible, "a node without periodic snapshots"), Outranks: true, Doc: "a started node takes no periodic snapshots: the wait would never end"},
			{Event: "node-stuck", From: AwaitingSnapshot, To: roll.RestartingNode, Choose: &machines.Choice[Facts, roll.Data]{Guard: stuckGuard, Pick: pickStuck}, Outranks: true, Doc: "a node that crashes anyway is restarted first, as a test"},
			{Event: "snapshots-taken", From: AwaitingSnapshot, To: roll.SelectingNode, When: snapshotsTaken, Awaited: true, Doc: "no log holds a level that the older version does not support"},
		}, included.Transitions(), []row{
			{Event: "declaration-broken", From: roll.AwaitingReady, To: Checking, When: all(firstStart, not(sound, "inconsistent pools, node ids or disks")), Doc: "the spec of a new cluster cannot be applied any more"},
			{Event: "node-outdated", From: Verifying, To: Checking, When: not(onVersion, "a node on another version"), Doc: "a node runs another version again"},
			{Event: "declaration-broken", From: Verifying, To: Checking, When: not(sound, "inconsistent pools, node ids or disks"), Outranks: true, Doc: "the spec cannot be applied any more"},
			{Event: "build-rolled", From: Verifying, To: Settled, When: all(otherBuild, allReady), Outranks: true, Doc: "another build of the same version changes no metadata"},
			{Event: "path-closed", From: Verifying, To: Checking, When: not(pathAllowed, "a desired version that is not allowed"), Doc: "the desired version is not allowed any more"},
			{Event: "verified", From: Verifying, To: Settled, When: all(allReady, onLevel, noStaleRegistrations, binariesProven), Awaited: true, Doc: "binaries and metadata level match the spec"},
			{Event: "registrations-stale", From: Verifying, To: AwaitingUnregistration, When: not(noStaleRegistrations, "a stale registration"), Outranks: true, Doc: "Kafka would refuse the level because of removed brokers"},
			{Event: "soak", From: Verifying, To: Soaking, When: all(raiseDue, transitions.Any(not(soaked, "soaking"), not(soakReadable, "an invalid soaking time"))), Doc: "the soaking time has not passed, or is invalid"},
			{Event: "approval-needed", From: Verifying, To: AwaitingApproval, When: all(raiseDue, not(approved, "no approval")), Doc: "the raise has not been approved"},
			{Event: "finalize", From: Verifying, To: SettingMetadata, When: all(raiseDue, allReady, noStaleRegistrations, binariesProven, soaked, approved), OneWay: true, Doc: "every precondition of the raise holds"},
			{Event: "lower", From: Verifying, To: SettingMetadata, When: all(lowerDue, allReady, levelsRecorded), Doc: "a lower level is desired"},

			{Event: "unregistered", From: AwaitingUnregistration, To: Verifying, When: noStaleRegistrations, Awaited: true, Doc: "no stale registration is left"},
			{Event: "soaked", From: Soaking, To: Verifying, When: soaked, Awaited: true, Doc: "the soaking time has passed"},
			{Event: "nothing-to-raise", From: Soaking, To: Verifying, When: not(raiseDue, "no raise due"), EvenIfUnknown: true, Doc: "no raise is due any more"},
			{Event: "approved", From: AwaitingApproval, To: Verifying, When: approved, Awaited: true, Doc: "a user approved the raise"},
			{Event: "nothing-to-raise", From: AwaitingApproval, To: Verifying, When: not(raiseDue, "no raise due"), Doc: "no raise is due any more"},

			{Event: "level-reached", From: SettingMetadata, To: Settled, When: all(onLevel, answered), Awaited: true, Outranks: true, Doc: "Kafka reports the desired level"},
			{Event: "refused", From: SettingMetadata, To: MetadataRefused, When: answerRefused, EvenIfUnknown: true, Outranks: true, Doc: "Kafka refused"},
			{Event: "answer-lost", From: SettingMetadata, To: Verifying, When: answerUnknown, EvenIfUnknown: true, Doc: "the level shows whether the request took effect"},
			{Event: "overtaken", From: SettingMetadata, To: Verifying, When: overtaken, EvenIfUnknown: true, Doc: "the target changed while the level was being set"},
			{Event: "ask-again", From: MetadataRefused, To: Verifying, When: askAgain, Awaited: true, Doc: "the back-off has passed"},

			{Event: "path-open", From: Refusing, To: Checking, When: all(sound, pathAllowed, snapshotsPossible), Awaited: true, Doc: "what blocked the change is resolved"},
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
			if !f.onVersion() || f.SpecError != nil || f.Incomplete != nil {
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
	Name: "node-stuck", Doc: "a node on another version crashes, or cannot start for two minutes", Expected: "a node that crashes or cannot start", Needs: roll.ServingNeeds(),
}

// pickStuck chooses the first node that is demonstrably stuck. If that is unknown of a node, the answer is unknown.
func pickStuck(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	verdict := transitions.Deny("every node on another version serves, is starting or is being recreated")
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		if !n.Outdated || n.Held != nil {
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
