package kraftscaledown

import (
	"github.com/detent-dev/detent/machines/kraftscaledown/drain"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Reasons for which a drain may not go on by itself.
const (
	// reasonDeadTarget: replicas are being moved to brokers that are down or leave. Such moves are replaced as soon as other brokers can get
	// the replicas.
	reasonDeadTarget transitions.Reason = "MovesToDeadBrokers"
	// reasonOtherMoves: reassignments that are not of this drain take all places.
	reasonOtherMoves transitions.Reason = "OtherReassignments"
	// reasonUnplaced: too few of the brokers that stay are alive.
	reasonUnplaced transitions.Reason = "TooFewBrokersAlive"
	// reasonLeaderless: nothing can be copied without a leader.
	reasonLeaderless transitions.Reason = "PartitionsWithoutLeader"
)

// delays returns why partitions of the broker may not be moved now; none if there is no reason, or if that is not known.
func (f *Facts) delays(id int32) (out []*transitions.Problem) {
	_, moves := f.Moves.Get()
	if _, brokers := f.Brokers.Get(); !moves || !brokers {
		return nil
	}
	in := f.inProgress(id)
	w := drain.WaitsOf(in)
	if dead := drain.DeadTargets(in); len(dead) > 0 {
		out = append(out, transitions.Problemf(reasonDeadTarget, "moves to %s do not end, since these brokers are down or leave: they are replaced once other brokers can get the replicas", roll.Names(f.names(dead))))
	}
	if w.Others > 0 {
		out = append(out, transitions.Problemf(reasonOtherMoves, "%d reassignments that are not of this drain are in progress, of at most %d: wait for them, or cancel those that do not end", w.Others, drain.MaxMoving))
	}
	if len(w.Unplaced) > 0 {
		out = append(out, transitions.Problemf(reasonUnplaced, "too few of the brokers that stay are alive to get %s: make the others ready", roll.Names(w.Unplaced)))
	}
	if len(w.Leaderless) > 0 {
		out = append(out, transitions.Problemf(reasonLeaderless, "%s cannot be moved without a leader: bring a broker with a replica in sync back, or delete the topics", roll.Names(w.Leaderless)))
	}
	return out
}

// names of brokers for users.
func (f *Facts) names(ids []int32) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = f.name(id)
	}
	return names
}
