// Package cephupgrade is the lifecycle of a Ceph cluster that changes its version, or the pods of its daemons: one daemon after the
// other, in the order of Ceph, while the cluster is healthy, and each only with Ceph's permission.
//
// What is permitted is decided in package decision, the next daemon in package order, and what the health means in package health. The
// kind that runs it is controllers/ceph.
package cephupgrade

import (
	"fmt"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "ceph-upgrade"

// States of the machine.
const (
	Settled          = "Settled"
	DetectingVersion = "DetectingVersion"
	Preflight        = "Preflight"
	Refusing         = "Refused"
	PolicyRemoved    = "PolicyRemoved"
	RecordingHealth  = "RecordingHealth"
	SelectingDaemon  = "SelectingDaemon"
	AwaitingHealth   = "AwaitingHealth"
	AwaitingOkToStop = "AwaitingOkToStop"
	PreparingDaemon  = "PreparingDaemon"
	ReplacingDaemon  = "ReplacingDaemon"
	AwaitingDaemon   = "AwaitingDaemon"
	RequiringRelease = "RequiringRelease"
	DeadOSD          = "DeadOSD"
	AwaitingAdmin    = "AwaitingAdmin"
)

// Held resources.
const (
	NoOut              = "noout"
	FilesystemSettings = "filesystem-settings"
	StoppedStandbys    = "stopped-standbys"
)

// shortPoll is the interval of the states in which Ceph, without an event of Kubernetes, lets the upgrade go on: it permits something, or
// shows the effect of a command.
const shortPoll = time.Second

type row = machines.Transition[Facts, Data]

// Definition returns the machine: Settled -> Preflight -> RecordingHealth -> SelectingDaemon -> AwaitingHealth -> AwaitingOkToStop ->
// PreparingDaemon -> ReplacingDaemon -> AwaitingDaemon -> SelectingDaemon -> ... -> Settled.
//
//nolint:funlen // the complete graph is readable in one place
func Definition() machines.Definition[Facts, Data, Effect] {
	type state = machines.State[Facts, Data, Effect]
	always := transitions.AlwaysBecause[Facts, Data]("its transitions read observed facts, and lead back to the selection whenever the step is not the next one any more")
	wait := func(name string, deadline time.Duration, onTargetChange, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline}, Invariant: always, OnTargetChange: onTargetChange}
	}
	work := func(name string, deadline time.Duration, onTargetChange string, do *action, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: deadline}, Invariant: always, OnTargetChange: onTargetChange, Action: do}
	}
	withShortPoll := func(s state) state {
		s.Poll = shortPoll
		return s
	}
	hold := func(name string, reason states.HoldReason, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: reason, Doc: doc, Poll: states.DefaultPoll}, OnTargetChange: Preflight}
	}
	everything, stale := []string{NoOut, FilesystemSettings, StoppedStandbys}, not(current, "another step")
	return machines.Definition[Facts, Data, Effect]{
		Name: Name, Doc: "changes the version and the pods of a Ceph cluster, daemon by daemon",
		States: []state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every daemon is as desired"}},
			wait(Preflight, 2*time.Minute, Preflight, "whether the change is possible is decided before the first daemon is replaced"),
			work(DetectingVersion, 10*time.Minute, Preflight, detect, "the version of a wanted image is being detected"),
			work(RecordingHealth, 2*time.Minute, Preflight, record, "the health from before the upgrade is being recorded"),
			withShortPoll(work(SelectingDaemon, 15*time.Minute, SelectingDaemon, restore, "what an earlier daemon needed is being restored, and the next daemon selected")),
			withShortPoll(wait(AwaitingHealth, time.Hour, SelectingDaemon, "the upgrade pauses until the cluster is healthy")),
			withShortPoll(wait(AwaitingOkToStop, 30*time.Minute, SelectingDaemon, "Ceph has to permit to stop the selected daemon")),
			withShortPoll(work(PreparingDaemon, 10*time.Minute, SelectingDaemon, prepare, "the cluster is being prepared for the change of the selected daemon")),
			work(ReplacingDaemon, 10*time.Minute, SelectingDaemon, change, "the selected daemon is being replaced"),
			withShortPoll(wait(AwaitingDaemon, 15*time.Minute, SelectingDaemon, "the selected daemon has to have its role on the wanted version")),
			withShortPoll(work(RequiringRelease, 5*time.Minute, SelectingDaemon, requireRelease, "OSDs of older releases are being excluded")),
			hold(DeadOSD, states.Refusal, "an OSD that is down for good holds up the upgrade: it must be repaired or removed"),
			hold(AwaitingAdmin, states.Planned, "the components of the policy are done; the others await a decision of the admin"),
			hold(Refusing, states.Refusal, "the spec asks for a change that is not possible; no daemon changes"),
			hold(PolicyRemoved, states.Refusal, "the spec contradicts what some daemons run already; none is moved back"),
		},
		Transitions: []row{
			{Event: "image-unknown", From: Settled, To: DetectingVersion, NewAttempt: true, When: not(detected, "an image to detect"), Outranks: true, Doc: "the version of a wanted image is not known"},
			{Event: "upgrade-due", From: Settled, To: Preflight, NewAttempt: true, When: due, Doc: "a daemon differs from what is desired"},

			{Event: "detected", From: DetectingVersion, To: Preflight, When: detected, Awaited: true},

			{Event: "image-unknown", From: Preflight, To: DetectingVersion, When: not(detected, "an image to detect"), Outranks: true, Doc: "the version of a wanted image is not known"},
			{Event: "nothing-due", From: Preflight, To: Settled, When: not(due, "no daemon that differs"), Outranks: true, Doc: "every daemon is as desired"},
			{Event: "permitted", From: Preflight, To: RecordingHealth, When: permitted, Awaited: true},
			{Event: "refused", From: Preflight, To: Refusing, When: not(acceptable, "a spec that is refused"), Doc: "the spec asks for what is not possible"},
			{Event: "held", From: Preflight, To: PolicyRemoved, When: not(consistent, "daemons that contradict the spec"), Doc: "daemons have changed already, and the spec neither finishes the change nor keeps it"},

			{Event: "corrected", From: Refusing, To: Preflight, When: acceptable, Awaited: true, Outranks: true, Doc: "the reason of the refusal is gone"},
			{Event: "corrected", From: PolicyRemoved, To: Preflight, When: consistent, Awaited: true, Outranks: true, Doc: "the spec agrees with the daemons"},

			{Event: "something-kept", From: Refusing, To: SelectingDaemon, When: kept, Doc: "a flag, settings or a stopped standby are left of an earlier daemon"},
			{Event: "something-kept", From: PolicyRemoved, To: SelectingDaemon, When: kept, Doc: "a flag, settings or a stopped standby are left of an earlier daemon"},

			{Event: "recorded", From: RecordingHealth, To: SelectingDaemon, When: recorded, Awaited: true},

			{Event: "check-again", From: SelectingDaemon, To: Preflight, When: turns("check-again", "a spec that is to be checked again", check), Releases: everything, ClearData: true},
			{Event: "osd-dead", From: SelectingDaemon, To: DeadOSD, When: turns("osd-dead", "an OSD that is dead", dead), Releases: everything, ClearData: true},
			{Event: "osds-upgraded", From: SelectingDaemon, To: RequiringRelease, When: turns("release-due", "OSDs that all run the release", require), OneWay: true, Releases: everything, ClearData: true},
			{Event: "policy-done", From: SelectingDaemon, To: AwaitingAdmin, When: turns("policy-done", "a policy whose components are done", approve), Releases: everything, ClearData: true},
			{Event: "upgraded", From: SelectingDaemon, To: Settled, When: turns("upgraded", "every daemon as desired", done), Releases: everything, ClearData: true},
			{Event: "daemon-selected", From: SelectingDaemon, To: AwaitingHealth, Choose: selected, Awaited: true, Releases: []string{NoOut}, Doc: "the next daemon is known, and nothing of the previous one is left"},

			{Event: "step-changed", From: AwaitingHealth, To: SelectingDaemon, When: stale, Outranks: true, ClearData: true, Doc: "another step comes first"},
			{Event: "healthy", From: AwaitingHealth, To: AwaitingOkToStop, When: healthy, Awaited: true, Quiet: true},

			{Event: "step-changed", From: AwaitingOkToStop, To: SelectingDaemon, When: stale, Outranks: true, ClearData: true, Doc: "another step comes first"},
			{Event: "unhealthy", From: AwaitingOkToStop, To: AwaitingHealth, When: not(healthy, "a health code that stops the upgrade"), Doc: "a health code was raised"},
			{Event: "ok-to-stop", From: AwaitingOkToStop, To: PreparingDaemon, When: all(healthy, stoppable), Awaited: true, Quiet: true, Doc: "Ceph permits to stop the daemon"},

			{Event: "step-changed", From: PreparingDaemon, To: SelectingDaemon, When: stale, Outranks: true, ClearData: true, Doc: "another step comes first, or the filesystem is reduced"},
			{Event: "prepared", From: PreparingDaemon, To: ReplacingDaemon, When: prepared, Awaited: true, OneWay: true},

			{Event: "replaced", From: ReplacingDaemon, To: AwaitingDaemon, When: changed, Awaited: true, Outranks: true},
			{Event: "step-changed", From: ReplacingDaemon, To: SelectingDaemon, When: stale, ClearData: true, Doc: "another step comes first, or the manager has failed over"},

			{Event: "daemon-back", From: AwaitingDaemon, To: SelectingDaemon, When: back, Awaited: true, ClearData: true},
			{Event: "osd-lost", From: AwaitingDaemon, To: SelectingDaemon, When: lost, ClearData: true, Doc: "the OSD does not come back"},
			{Event: "pod-outdated", From: AwaitingDaemon, To: SelectingDaemon, When: outdated, ClearData: true, Doc: "the daemon does not run, and the spec wants another pod"},

			{Event: "required", From: RequiringRelease, To: SelectingDaemon, When: required, Awaited: true},

			{Event: "revived", From: DeadOSD, To: Preflight, When: not(stuck, "no dead OSD"), Awaited: true, Doc: "the OSD is back or was removed, or something is left of an earlier daemon"},
			{Event: "go-on", From: AwaitingAdmin, To: Preflight, When: not(resting, "more to do"), Awaited: true, Doc: "the spec asks for more, a daemon differs, or something is left of an earlier daemon"},
		},
		Needs: []machines.Need{
			{Name: NeedCluster, Doc: "the quorum, the OSD map, the placement groups, the managers, the filesystems and the metadata of the daemons, in one reading (ceph)"},
			{Name: NeedHealth, Doc: "the health with its codes (ceph health detail)"},
			{Name: NeedPermission, Doc: "whether the selected daemon may be stopped (ceph <type> ok-to-stop)"},
			{Name: NeedSelf, Doc: "the version that the selected daemon reports (ceph tell version)"},
			{Name: NeedMemory, Doc: "what the upgrade stored (ceph config-key dump detent/)"},
			{Name: NeedOrphans, Doc: "the sessions at the selected metadata server of clients that have ended (ceph tell session ls)"},
		},
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.target()} },
		Infer: machines.Inference[Facts, Data]{Needs: maps(), States: []string{Settled, SelectingDaemon}, Sees: everything, Find: func(f *Facts) (machines.InferredState[Data], transitions.Verdict) {
			c, m, gap, known := f.read()
			switch {
			case !known:
				return machines.InferredState[Data]{}, gap
			case len(f.leftovers(&c, &m, plan{})) > 0:
				return machines.InferredState[Data]{State: SelectingDaemon}, transitions.Allow()
			}
			return machines.InferredState[Data]{State: Settled}, transitions.Allow()
		}},
		Progress: machines.Measure[Facts, Data]{Needs: maps(), Unit: "daemon", Of: count},
		Data:     codec(),
		HeldResources: []machines.HeldResource{
			{Name: NoOut, Doc: "an OSD is not marked out; while it is held, the data of an OSD that fails is not replicated again"},
			{Name: FilesystemSettings, Doc: "a filesystem has one active metadata server and no followers; it serves less while it is held"},
			{Name: StoppedStandbys, Doc: "standbys of a filesystem are stopped; no other metadata server takes over while it is held"},
		},
		Records: []machines.Record{
			{Name: "upgrade", Home: "config-key detent/upgrade", Doc: "the version that an attempt changes to and the health codes from before: what was raised before does not stop it, and a downgrade that was asked for is not taken for a removed policy"},
			{Name: "noout", Home: "config-key detent/noout/<osd>", Doc: "the flag of an OSD is the upgrade's, and not an admin's"},
			{Name: "settings", Home: "config-key detent/restore/<filesystem>", Doc: "the settings of a filesystem before they were reduced"},
			{Name: "newest-version", Home: "annotation detent.dev/newest-version of a Deployment", Doc: "the newest version that a daemon was ever started on, written with its image"},
		},
	}
}

// Resting reports whether the lifecycle has stopped in a state of that name: every path to it has restored what was changed for a time.
func Resting(name string) bool {
	all := Definition().States
	return slices.ContainsFunc(all, func(s machines.State[Facts, Data, Effect]) bool { return s.Name == name && s.Resting() })
}

// target names what the spec asks for. An image that the spec writes otherwise is another target, and another order of the components is none.
// A policy that is ignored does not count.
func (f *Facts) target() string {
	text := f.Spec.Wanted.Name
	if p := f.Spec.Policy; p != nil && f.Spec.PolicyApplies() {
		components := slices.SortedStableFunc(slices.Values(p.Components), func(a, b ceph.Type) int {
			return slices.Index(ceph.Types(), a) - slices.Index(ceph.Types(), b)
		})
		text += fmt.Sprintf(" with %s for %v", p.Image.Name, slices.Compact(components))
	}
	return text
}

// count counts the daemons that the attempt changes, and how many of them are as desired. With a policy, the others stay on what they run.
func count(f *Facts, d Data) machines.Count {
	c, m, _, known := f.read()
	decided := f.decide(&c, &m)
	if !known || decided.Outcome != decision.Permitted {
		return machines.Count{Unknown: true}
	}
	var out machines.Count
	for i := range f.Daemons {
		one := &f.Daemons[i]
		differs := f.differs(&c, one, decided.Targets)
		if !differs && !f.moves(one, decided.Targets) {
			continue
		}
		out.Total++
		if !differs && !f.starting(&c, one, decided.Targets) {
			out.Done++
		}
	}
	if d.Step.Daemon.ID != "" {
		out.Current = d.Step.Daemon.String()
	}
	return out
}
