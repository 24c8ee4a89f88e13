package kafkaversion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// NeedFeatures are the finalized feature levels. Which a binary supports is the version table's word: it must be known before a
// binary runs.
const NeedFeatures transitions.Need = "features"

// Facts of a version change.
type Facts struct {
	// Roll are the nodes. A node is outdated if it runs another version than the wanted one.
	Roll roll.Facts
	// Situation is what the decision rests on, without the levels: those come from Features.
	Situation Situation
	// Obstacle is why the cluster's declaration cannot be acted upon at all (two pools with one node id, another cluster's
	// disks); empty if nothing is wrong.
	Obstacle string
	// Incomplete is what a young cluster's declaration still lacks and may be on its way (its pools were applied after it), and
	// until when that is waited for; empty if nothing is lacking, or if Obstacle says so already.
	Incomplete string
	// Features are the finalized levels, and what the running binaries support.
	Features transitions.Fact[kafka.Features] `need:"features"`
	// Disks is what is known of each node's log of metadata.
	Disks []Disk
	// Wanted are the ids that are wanted as brokers; Leaving have a pod or are still being removed.
	Wanted, Leaving []int32
	// Finalize says who lets the metadata level be raised.
	Finalize Finalize
	// Answer to the last request to change a level.
	Answer Answer
	// Doubt about earlier requests to change a level.
	Doubt Doubt
	// Attempt under way.
	Attempt *lifecyclev1.Attempt
	// EnteredAt is when the state was entered.
	EnteredAt time.Time
	// Pause is how long MetadataRefused lets pass before it asks again.
	Pause time.Duration
}

// Finalize is what must have happened before the level is raised, beyond the roll itself.
type Finalize struct {
	// Soak is how long the new binaries must have run: detent.dev/soak.
	Soak time.Duration
	// SoakProblem is why detent.dev/soak cannot be read; then nobody knows how long.
	SoakProblem string
	// ByApproval demands detent.dev/approve.
	ByApproval bool
	// Approved is what was approved: <attempt id>/<level>, the level by its name, such as 4.1-IV1.
	Approved string
}

// Status of a request to an external system.
type Status uint8

// The states of an answer.
const (
	// NoAnswer: nothing was asked in this visit of the state.
	NoAnswer Status = iota
	// Asked and not answered yet.
	Asked
	// Done as asked.
	Done
	// Refused by the other side, with its words.
	Refused
	// Unknown whether it was done.
	Unknown
)

// Answer to the last request to change a level.
type Answer struct {
	Status Status
	// Text is the refusal in Kafka's own words, with its code's name.
	Text string
}

// Doubt is about requests to change a level that may take effect, or show it, whatever is read now and whoever remembers them:
// one that is under way or was carried out a moment ago, one whose answer was lost, one of a process that ended.
type Doubt struct {
	// Until is when none of them can take effect any more, and Kafka shows what has. Zero if there is none.
	Until time.Time
	// Sent says that one was sent for sure. Else one may have been.
	Sent bool
}

// Disk is what is known of one node's log of metadata: an older controller that replays a record of a level it does not know
// dies at start, although the level was lowered since. Its record remembers what no request tells.
type Disk struct {
	Node int32
	// Highest level per feature that was seen finalized since the log was last known to be free of higher ones.
	Highest map[string]int16
	// LoweredAt is when a lower level was first seen, per feature.
	LoweredAt map[string]time.Time
	// Interval after which a running process takes a snapshot; 0 means never by time.
	Interval time.Duration
}

// situation is what the decision rests on. A node that is neither wanted nor has a pod will never start again: what its disk
// last ran says nothing any more, unless nothing else says anything.
func (f *Facts) situation() Situation {
	s := f.Situation
	gone := func(n NodeVersions) bool {
		return !n.HasPod && !slices.ContainsFunc(f.Roll.Nodes, func(r roll.Node) bool { return r.Pod == n.Name })
	}
	if !slices.ContainsFunc(s.Nodes, gone) {
		return s
	}
	left := slices.DeleteFunc(slices.Clone(s.Nodes), gone)
	if slices.ContainsFunc(left, func(n NodeVersions) bool { return n.LastStarted != "" || n.Runs != "" }) {
		s.Nodes = left
	}
	return s
}

// decide is the decision on this pass's levels. It demands NeedFeatures.
func (f *Facts) decide() Decision {
	s := f.situation()
	if features, known := f.Features.Get(); known {
		s.Finalized = FinalizedLevels{Known: true, Levels: features.Finalized}
	} else {
		s.Finalized = FinalizedLevels{Problem: strings.TrimPrefix(f.Features.Gap().Saw, "cannot be read: ")}
	}
	return Decide(s)
}

// Refused says whether a person has to change something before any node may be restarted on the wanted version. It reads the
// levels if they were asked for, and says no while they are not known.
func (f *Facts) Refused() bool {
	d := f.direction()
	if f.Features.Asked() {
		d = f.decide()
	}
	return d.Outcome == OutcomeRefused || slices.ContainsFunc(f.pendingSnapshots(), func(p pendingSnapshot) bool { return p.never })
}

// direction is the decision as far as it needs no levels: where from, where to.
func (f *Facts) direction() Decision { return Decide(f.situation()) }

// onVersion says whether every node runs the wanted version.
func (f *Facts) onVersion() bool { return f.Roll.Done() == len(f.Roll.Nodes) }

// started says whether any node that is left ever ran, or may have. A status that remembers a version says where the cluster
// comes from, and starts no node.
func (f *Facts) started() bool {
	return slices.ContainsFunc(f.situation().Nodes, func(n NodeVersions) bool { return n.HasPod || !n.NeverStarted })
}

// notStarted names the pods whose disks were last started with another version than the wanted one: on their way.
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

// ghosts are registered brokers that are neither wanted nor about to leave in order: their binary binds the level.
func (f *Facts) ghosts(brokers kafka.Brokers) []int32 {
	var out []int32
	for _, id := range brokers.IDs() {
		if !slices.Contains(f.Wanted, id) && !slices.Contains(f.Leaving, id) {
			out = append(out, id)
		}
	}
	return out
}

// unproven says of which registered brokers, voters and pods it is not proven that they run the wanted version, and why. What
// Kafka itself reports of a broker's binary outranks what was written for it.
func (f *Facts) unproven(brokers kafka.Brokers, quorum kafka.Quorum) []string {
	d := f.decide()
	features, _ := f.Features.Get()
	var out []string
	said := map[int32]bool{}
	check := func(what string, id int32) {
		why := f.doubt(id, d.To.String())
		if runs, told := features.Supported[id][kafka.MetadataVersion]; told && !runs.Contains(d.Metadata.Target) {
			why = fmt.Sprintf("reports metadata.version %d to %d as what its binary runs", runs.Min, runs.Max)
		}
		if why != "" && !said[id] {
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

// doubt is why it is not proven that the node runs the version; empty if it is.
func (f *Facts) doubt(id int32, version string) string {
	for i := range f.Situation.Nodes {
		n := &f.Situation.Nodes[i]
		switch {
		case n.ID != id:
		case n.Unproven != "":
			return "(" + n.Name + ") is not proven to run Kafka " + version + ": " + n.Unproven
		case !n.HasPod:
			return "(" + n.Name + ") has no pod"
		case n.Runs != version || n.LastStarted != version:
			return "(" + n.Name + ") runs Kafka " + n.Runs
		default:
			return ""
		}
	}
	return "is no node of this cluster"
}

// soakedAt is when the newest process has run for the soaking time; zero if nobody can tell.
func (f *Facts) soakedAt() time.Time {
	if f.Finalize.SoakProblem != "" {
		return time.Time{}
	}
	newest := time.Time{}
	for i := range f.Roll.Nodes {
		if s := f.Roll.Nodes[i].StartedAt; s.After(newest) {
			newest = s
		}
	}
	return newest.Add(f.Finalize.Soak)
}
