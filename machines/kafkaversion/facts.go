package kafkaversion

import (
	"fmt"
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// NeedFeatures are the finalized feature levels. The levels that a binary supports come from the version table: they must be known
// before the binary runs.
const NeedFeatures transitions.Need = "features"

// Facts of a version change.
type Facts struct {
	// Roll are the nodes. A node is outdated if it runs another version than the desired one.
	Roll roll.Facts
	// Situation is the input of the decision without the levels, which come from Features.
	Situation decision.Situation
	// SpecError is why the cluster's spec cannot be applied at all (two pools with one node id, the disks of another cluster);
	// nil if the spec is valid.
	SpecError *transitions.Problem
	// Incomplete is what the spec of a young cluster still lacks and may be created soon (such as pools that are applied after
	// it), and the end of that wait; or a value that Kafka is being asked about, with which a node is about to be restarted. It is nil
	// if there is neither, or if SpecError reports it already.
	Incomplete *transitions.Problem
	// Features are the finalized levels, and the ranges that the running binaries support.
	Features transitions.Fact[kafka.Features] `need:"features"`
	// Disks is what is known of each node's metadata log.
	Disks []Disk
	// Unrecorded are the pods of controllers whose records do not say which levels their logs hold, and are about to be written. A write
	// may be refused.
	Unrecorded []string
	// Wanted are the ids of the desired brokers. Leaving are nodes with a pod or whose removal is in progress.
	Wanted, Leaving []int32
	// Finalize are the conditions for raising the metadata level.
	Finalize Finalize
	// Answer to the last request to change a level.
	Answer Answer
	// InFlight is the uncertain outcome of earlier requests to change a level.
	InFlight InFlight
	// Attempt in progress.
	Attempt *lifecyclev1.Attempt
	// EnteredAt is when the state was entered.
	EnteredAt time.Time
	// Pause is the delay before MetadataRefused repeats the request.
	Pause time.Duration
}

// Finalize are the conditions for raising the level in addition to the roll.
type Finalize struct {
	// Soak is how long the new binaries must have run: detent.dev/soak.
	Soak time.Duration
	// SoakProblem is why detent.dev/soak cannot be parsed; nil if it can. With a problem, the soaking time is unknown.
	SoakProblem *transitions.Problem
	// ByApproval requires the annotation detent.dev/approve.
	ByApproval bool
	// Approved is the value of the approval: <attempt id>/<level>, with the name of the level, such as 4.1-IV1.
	Approved string
}

// Status of a request to an external system.
type Status uint8

// The states of a request.
const (
	// NoAnswer: nothing was requested in this visit of the state.
	NoAnswer Status = iota
	// Asked: the request was sent and has no answer yet.
	Asked
	// Done: the request succeeded.
	Done
	// Refused: the other system rejected the request, with a message.
	Refused
	// Unknown: it is uncertain whether the request was carried out.
	Unknown
)

// Answer to the last request to change a level.
type Answer struct {
	Status Status
	// Text is Kafka's message of a refusal, with the name of its error code.
	Text string
}

// InFlight describes requests to change a level that may still take effect, or may not be visible yet, independently of what is
// read now and of which process sent them: a request in flight or just carried out, one whose answer was lost, or one of a
// process that ended.
type InFlight struct {
	// Until is when no such request can take effect any more and Kafka shows the effect of each. Zero if there is none.
	Until time.Time
	// Sent is true if a request was certainly sent. Otherwise one may have been sent.
	Sent bool
}

// Disk is what is known of one node's metadata log. An older controller that replays a record of a level that it does not support
// dies at start, although the level was lowered since. The node's record stores this because no request to Kafka returns it.
type Disk struct {
	Node int32
	// Highest finalized level per feature since the log was last known to be free of higher ones.
	Highest map[string]int16
	// LoweredAt is when a lower level was first observed, per feature.
	LoweredAt map[string]time.Time
	// Interval between snapshots of a running process; 0 means that it takes none by time.
	Interval time.Duration
}

// situation returns the input of the decision. A node that is not desired and has no pod never starts again: the version on its
// disk is ignored, unless there is no other evidence.
func (f *Facts) situation() decision.Situation {
	s := f.Situation
	gone := func(n decision.NodeVersions) bool {
		return !n.HasPod && !slices.ContainsFunc(f.Roll.Nodes, func(r roll.Node) bool { return r.Pod == n.Name })
	}
	if !slices.ContainsFunc(s.Nodes, gone) {
		return s
	}
	left := slices.DeleteFunc(slices.Clone(s.Nodes), gone)
	if slices.ContainsFunc(left, func(n decision.NodeVersions) bool { return n.LastStarted != "" || n.Runs != "" }) {
		s.Nodes = left
	}
	return s
}

// decide computes the decision with the levels of this reconcile. It requires NeedFeatures.
func (f *Facts) decide() decision.Decision {
	s := f.situation()
	if features, known := f.Features.Get(); known {
		s.Finalized = decision.FinalizedLevels{Known: true, Levels: features.Finalized}
	} else {
		s.Finalized = decision.FinalizedLevels{Err: f.Features.Err()}
	}
	return decision.Decide(s)
}

// Refused reports whether a user must change something before any node may be restarted on the desired version. It uses the levels
// if they were observed, and returns false while they are unknown.
func (f *Facts) Refused() bool {
	d := f.direction()
	if f.Features.Asked() {
		d = f.decide()
	}
	return d.Outcome == decision.OutcomeRefused || slices.ContainsFunc(f.pendingSnapshots(), func(p pendingSnapshot) bool { return p.never })
}

// direction computes the decision without levels: it provides From, To and Direction.
func (f *Facts) direction() decision.Decision { return decision.Decide(f.situation()) }

// onVersion reports whether every node runs the desired version.
func (f *Facts) onVersion() bool { return f.Roll.Done() == len(f.Roll.Nodes) }

// staying returns the nodes that are not being removed.
func (f *Facts) staying() *roll.Facts {
	if len(f.Leaving) == 0 {
		return &f.Roll
	}
	left := f.Roll
	left.Nodes = slices.DeleteFunc(slices.Clone(left.Nodes), func(n roll.Node) bool { return slices.Contains(f.Leaving, n.ID) })
	return &left
}

// started reports whether any remaining node ever ran, or may have run. A version in the status does not count: it shows from
// which version the cluster comes, not that a node started.
func (f *Facts) started() bool {
	return slices.ContainsFunc(f.situation().Nodes, func(n decision.NodeVersions) bool { return n.HasPod || !n.NeverStarted })
}

// notStarted returns the pods whose disks were last started with another version than the desired one.
func (f *Facts) notStarted(to string) []string {
	var out []string
	s := f.situation()
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.LastStarted != "" && n.LastStarted != to {
			out = append(out, n.Name)
		}
	}
	return out
}

// staleRegistrations returns registered brokers that are neither desired nor being removed. Their binaries limit the level.
func (f *Facts) staleRegistrations(brokers kafka.Brokers) []int32 {
	var out []int32
	for _, id := range brokers.IDs() {
		if !slices.Contains(f.Wanted, id) && !slices.Contains(f.Leaving, id) {
			out = append(out, id)
		}
	}
	return out
}

// unproven returns the registered brokers, voters and pods that are not proven to run the desired version, with the reasons. What
// Kafka reports about a broker's binary takes precedence over what the operator recorded.
func (f *Facts) unproven(brokers kafka.Brokers, quorum kafka.Quorum) []string {
	d := f.decide()
	features, _ := f.Features.Get()
	var out []string
	said := map[int32]bool{}
	check := func(what string, id int32) {
		why, proven := f.evidence(id, d.To.String())
		if runs, reported := features.Supported[id][kafka.MetadataVersion]; reported && !runs.Contains(d.Metadata.Target) {
			why, proven = fmt.Sprintf("reports that its binary supports metadata.version %d to %d", runs.Min, runs.Max), false
		}
		if !proven && !said[id] {
			said[id] = true
			out = append(out, fmt.Sprintf("%s %d %s", what, id, why))
		}
	}
	for i := range f.Situation.Nodes {
		if n := &f.Situation.Nodes[i]; n.HasPod {
			check("node", n.ID)
		}
	}
	for _, id := range brokers.IDs() {
		check("broker", id)
	}
	for i := range quorum.Voters {
		check("voter", quorum.Voters[i].ID)
	}
	if len(quorum.Voters) == 0 {
		out = append(out, "Kafka lists no voters")
	}
	return out
}

// evidence reports whether it is proven that the node runs the version, and otherwise what is known of it.
func (f *Facts) evidence(id int32, version string) (text string, proven bool) {
	for i := range f.Situation.Nodes {
		n := &f.Situation.Nodes[i]
		switch {
		case n.ID != id:
		case n.Unproven != nil:
			return "(" + n.Name + ") is not proven to run Kafka " + version + ": " + n.Unproven.Message, false
		case !n.HasPod:
			return "(" + n.Name + ") has no pod", false
		case n.Runs != version || n.LastStarted != version:
			return "(" + n.Name + ") runs Kafka " + n.Runs, false
		default:
			return "", true
		}
	}
	return "is not a node of this cluster", false
}
