package kafkaversion

import (
	"fmt"
	"time"

	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, roll.Data]

func features() []transitions.Need { return []transitions.Need{NeedFeatures} }

var sound = guard{
	Name: "declaration-sound", Doc: "the spec is valid: pools, node ids and disks are consistent", Expected: "consistent pools, node ids and disks",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if f.SpecError == nil && f.Incomplete != nil {
			return f.Incomplete.Unknown()
		}
		return f.SpecError.Verdict()
	},
}

// firstStart reports whether the nodes of a new cluster are starting for the first time: there is no current node.
var firstStart = guard{
	Name: "first-start", Doc: "no node is selected and not every node of the new cluster is ready", Expected: "the first start of all nodes in progress",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		under := m.Node == roll.None && (len(f.Roll.Nodes) == 0 || len(roll.Troubles(&f.Roll)) > 0)
		return transitions.If(under, "a node is selected, or every node is ready")
	},
}

var started = guard{
	Name: "ever-started", Doc: "a node of the cluster ran before", Expected: "a node that ran before",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.started(), "no node ever ran")
	},
}

var onVersion = guard{
	Name: "on-version", Doc: "every node runs the desired version", Expected: "every node on the desired version",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if f.onVersion() {
			return transitions.Allow()
		}
		var other []string
		for i := range f.Roll.Nodes {
			if n := &f.Roll.Nodes[i]; n.Outdated {
				other = append(other, n.Name())
			}
		}
		return transitions.Deny(fmt.Sprintf("%d of %d nodes run the desired version; not yet: %s", f.Roll.Done(), len(f.Roll.Nodes), roll.Names(other)))
	},
}

// pathAllowed reports whether the nodes may run the desired version with the finalized levels.
var pathAllowed = guard{
	Name: "path-allowed", Doc: "the version change is allowed: every finalized feature level is in the range of the desired version", Needs: features(),
	Expected: "a supported version that can read every finalized feature level",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if gap, asked := f.asked(); asked {
			return gap // the status replaces Kafka's answer only after a read from Kafka has failed
		}
		d := f.decide()
		switch d.Outcome {
		case decision.OutcomeAllowed:
			return f.nothingInFlight(&d)
		case decision.OutcomeRefused:
			return transitions.Deny(d.Message)
		default:
			return transitions.Verdict{Observed: d.Message}
		}
	},
}

// nothingInFlight reports whether the observed level is final for a downgrade. A request to raise it whose answer was lost may
// still be carried out: an older binary that was started meanwhile would die of the new level.
func (f *Facts) nothingInFlight(d *decision.Decision) transitions.Verdict {
	if d.Direction != decision.DirectionDown || f.InFlight.Until.IsZero() {
		return transitions.Allow()
	}
	_, known := f.Features.Get()
	switch {
	case known && !f.Features.At().Before(f.InFlight.Until):
		return transitions.Allow()
	case !known && !f.InFlight.Sent && !f.Roll.Now.Before(f.InFlight.Until):
		return transitions.Allow() // Kafka does not answer, and there is no evidence of a request
	}
	return transitions.Verdict{Observed: "an earlier request to raise metadata.version may take effect until " +
		f.InFlight.Until.UTC().Format(time.RFC3339) + "; no later report of Kafka's levels yet"}
}

// asked reports whether the read of Kafka's levels is still pending: neither answered nor failed.
func (f *Facts) asked() (gap transitions.Verdict, asked bool) {
	if _, known := f.Features.Get(); known {
		return gap, false
	}
	gap = f.Features.Gap()
	return gap, gap.Pending
}

// onLevel is satisfied if metadata.version is at the desired level. That level is known only once every node has started on the
// desired version.
var onLevel = guard{
	Name: "on-level", Doc: "metadata.version is at the desired level", Needs: features(), Expected: "metadata.version at the desired level",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		d := f.decide()
		if _, known := f.Features.Get(); !known {
			return f.Features.Gap()
		}
		switch {
		case d.Outcome != decision.OutcomeAllowed:
			return transitions.Deny("the desired version is not allowed")
		case d.Direction != decision.DirectionStay:
			return transitions.Deny("not yet started on " + d.To.String() + ": " + roll.Names(f.notStarted(d.To.String())))
		case d.Metadata.Step == decision.MetadataKeep:
			return transitions.Allow()
		}
		text := decision.LevelName(d.Metadata.Current) + " instead of " + decision.LevelName(d.Metadata.Target)
		if d.Metadata.Step == decision.MetadataLower {
			text += f.unrecordedText()
		}
		return transitions.Deny(text)
	},
}

func step(name string, want decision.MetadataStep, doc string) guard {
	return guard{
		Name: name, Doc: doc, Expected: doc, Needs: features(),
		Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
			d := f.decide()
			if _, known := f.Features.Get(); !known {
				return f.Features.Gap()
			}
			return transitions.If(d.Metadata.Step == want, "metadata.version is at "+decision.LevelName(d.Metadata.Current))
		},
	}
}

var (
	raiseDue = step("raise-due", decision.MetadataRaise, "metadata.version is below the desired level")
	lowerDue = step("lower-due", decision.MetadataLower, "metadata.version is above the desired level")
)

// otherBuild is satisfied if this attempt only exchanges builds of one version: the metadata level does not change.
var otherBuild = guard{
	Name: "build-only", Doc: "this attempt changed only the build of one version on every node, and no metadata", Expected: "an attempt between builds of one version",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if f.Attempt == nil || f.Situation.Table == nil {
			return transitions.Deny("no attempt")
		}
		if d := f.direction(); d.Direction != decision.DirectionStay {
			return transitions.Deny("not yet started on " + d.To.String() + ": " + roll.Names(f.notStarted(d.To.String())))
		}
		from, errFrom := f.Situation.Table.Find(f.Attempt.From)
		to, errTo := f.Situation.Table.Find(f.Attempt.To)
		same := errFrom == nil && errTo == nil && from.Number().Compare(to.Number()) == 0 && !from.Number().SameBuild(to.Number())
		return transitions.If(same, f.Attempt.From+" and "+f.Attempt.To+" are different versions")
	},
}

// allReady leaves out brokers that are being removed: one that cannot start may never be ready. That its binary supports the level is
// proven separately.
var allReady = guard{
	Name: "nodes-ready", Doc: "every node that is not being removed has a ready pod", Expected: "a ready pod of every node that is not being removed",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		down := roll.Troubles(f.staying())
		return transitions.If(len(down) == 0, "not ready: "+roll.Names(down))
	},
}

var noStaleRegistrations = guard{
	Name: "no-stale-registration", Doc: "no raise is due, or every registered broker is desired or being removed",
	Needs:    []transitions.Need{NeedFeatures, roll.NeedBrokers},
	Expected: "no registration of a removed broker: its binary still limits the level",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		raise := raiseDue.Verdict(f, m)
		if raise.Answer == transitions.No {
			return transitions.Allow()
		}
		brokers, known := f.Roll.Brokers.Get()
		if !known {
			return f.Roll.Brokers.Gap()
		}
		ids := f.staleRegistrations(brokers)
		staleRegistrations := make([]string, len(ids))
		for i, id := range ids {
			staleRegistrations[i] = fmt.Sprintf("broker %d", id)
		}
		switch {
		case len(staleRegistrations) == 0:
			return transitions.Allow()
		case raise.Answer == transitions.Unknown:
			return transitions.Verdict{Observed: raise.Observed, Pending: raise.Pending}
		}
		return transitions.Deny("still registered: " + roll.Names(staleRegistrations) + UnregisteredBy)
	},
}

// binariesProven considers every node that may vote on the level or must read it. It requires positive evidence for each.
var binariesProven = guard{
	Name: "binaries-proven", Doc: "no raise is due, or every registered broker, voter and pod is proven to run the desired version",
	Needs:    []transitions.Need{NeedFeatures, roll.NeedBrokers, roll.NeedQuorum},
	Expected: "every registered broker and voter to be a node of this cluster that is proven to run the desired version",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		raise := raiseDue.Verdict(f, m)
		if raise.Answer == transitions.No {
			return transitions.Allow()
		}
		brokers, known := f.Roll.Brokers.Get()
		if !known {
			return f.Roll.Brokers.Gap()
		}
		quorum, known := f.Roll.Quorum.Get()
		if !known {
			return f.Roll.Quorum.Gap()
		}
		unproven := f.unproven(brokers, quorum)
		switch {
		case len(unproven) == 0:
			return transitions.Allow()
		case raise.Answer == transitions.Unknown:
			return transitions.Verdict{Observed: raise.Observed, Pending: raise.Pending}
		}
		return transitions.Deny(roll.Names(unproven))
	},
}

// approved is satisfied by the approval of exactly one level: the approval of a pinned level does not cover a higher one.
var approved = guard{
	Name: "approved", Doc: "raising the metadata level needs no approval, or was approved for this attempt and level", Needs: features(),
	Expected: "the annotation detent.dev/approve: raise-metadata=<attempt id>/<level>",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if !f.Finalize.ByApproval {
			return transitions.Allow()
		}
		if f.Attempt == nil {
			return transitions.Deny("no attempt to approve")
		}
		if _, known := f.Features.Get(); !known {
			return f.Features.Gap()
		}
		want := f.Attempt.ID + "/" + decision.LevelWord(f.decide().Metadata.Target)
		if f.Finalize.Approved == "" {
			return transitions.Deny("not approved; annotate with detent.dev/approve: raise-metadata=" + want)
		}
		return transitions.If(f.Finalize.Approved == want, "the approval is for "+f.Finalize.Approved+", not for "+want)
	},
}

var snapshotsTaken = guard{
	Name: "snapshots-taken", Doc: "no running controller's log holds a level that the desired version does not support",
	Expected: "a snapshot of the metadata log on every running controller, taken after the level was lowered",
	Needs:    roll.ServingNeeds(),
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		pending, verdict := f.awaitedSnapshots()
		if len(pending) == 0 {
			return transitions.Allow()
		}
		saw := mayHold(pending)
		if end := f.snapshotsDone(); !end.Before(f.Roll.Now) {
			saw += "; expected at " + end.UTC().Format(time.RFC3339)
		}
		verdict.Observed = saw + f.unprovenText(pending) + f.unrecordedText()
		return verdict
	},
}

// snapshotsPossible is not satisfied if the wait for a snapshot would never end.
var snapshotsPossible = guard{
	Name: "snapshots-possible", Doc: "every controller whose snapshot is awaited takes periodic snapshots",
	Expected: "metadata.log.max.snapshot.interval.ms above 0 on every controller",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		for _, p := range f.pendingSnapshots() {
			if p.never {
				return transitions.Deny(p.neverText(f.direction().From.String()))
			}
		}
		return transitions.Allow()
	},
}

// selectedStuck is satisfied if the current node serves no client anyway: its restart is then the test whether the older binary
// starts.
var selectedStuck = guard{
	Name: "selected-node-stuck", Doc: "the selected node crashes, or cannot start for two minutes", Expected: "a selected node that crashes or cannot start",
	Needs: roll.ServingNeeds(),
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Roll.Node(m.Node)
		if n == nil {
			return transitions.Deny("no selected node")
		}
		return f.stuck(n)
	},
}
