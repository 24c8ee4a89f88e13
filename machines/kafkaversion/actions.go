package kafkaversion

import (
	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Effect is one request of a version change. Exactly one of its fields is set.
type Effect struct {
	// Restart changes a node to the version and evicts its pod.
	Restart *Restart
	// Update changes a feature level.
	Update *kafka.FeatureUpdate
}

// Restart is the restart of one node on one version.
type Restart struct {
	Node    int32
	Version string
}

// included is the roll as part of this machine.
var included = roll.Inclusion[Facts, Effect]{
	Facts: func(f *Facts) *roll.Facts { return &f.Roll },
	Restart: func(f *Facts, n *roll.Node) Effect {
		return Effect{Restart: &Restart{Node: n.ID, Version: f.direction().To.String()}}
	},
	Permit:         transitions.All(sound, pathAllowed, transitions.Any(selectedStuck, snapshotsTaken)),
	OnTargetChange: Checking, OnPreconditionFailed: Checking, Done: Verifying, FirstStart: true,
}

// setMetadata changes metadata.version by one request. A raise cannot be undone, so its precondition repeats everything that was
// required on the way to it.
var setMetadata = &machines.Action[Facts, roll.Data, Effect]{
	Name: "set-metadata", Doc: "requests the desired level of metadata.version from Kafka; lowers it by safe downgrade only",
	Needs: features(), ResolvedBy: NeedFeatures,
	Precondition: transitions.All(sound, pathAllowed, onVersion, allReady, levelsRecorded,
		transitions.Any(lowerDue, transitions.All(noStaleRegistrations, binariesProven, soaked, approved))),
	OnPreconditionFailed: Verifying,
	Effects: func(f *Facts, _ roll.Data) []Effect {
		d := f.decide()
		update := kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: d.Metadata.Target}
		switch {
		case f.Answer.Status != NoAnswer:
			return nil // already requested in this visit of the state: the answer or the level itself triggers the next transition
		case d.Metadata.Step == decision.MetadataRaise:
			update.Kind = kafka.Upgrade
		case d.Metadata.Step == decision.MetadataLower:
			update.Kind = kafka.SafeDowngrade
		default:
			return nil
		}
		return []Effect{{Update: &update}}
	},
}
