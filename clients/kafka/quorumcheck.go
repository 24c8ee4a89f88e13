package kafka

import "time"

// DefaultQuorumFetchTimeout is how far a voter may lag behind the leader and still count as
// caught up, unless the cluster configures another value. It is the default of
// controller.quorum.fetch.timeout.ms.
const DefaultQuorumFetchTimeout = 2 * time.Second

// QuorumCheck reports whether the quorum tolerates the loss of one node, and why not.
type QuorumCheck struct {
	Safe bool `json:"safe"`
	// Leader is the leader of the quorum, NoLeader if there is none. Safe is false without a
	// leader.
	Leader int32 `json:"leader"`
	// Need is how many voters other than the node must be caught up.
	Need int `json:"need"`
	// CaughtUp and Behind are the other voters, in the order they were reported.
	CaughtUp []int32 `json:"caughtUp,omitempty"`
	Behind   []int32 `json:"behind,omitempty"`
}

// QuorumSafeWithout reports whether the node may be stopped without losing the quorum: a
// majority of all voters must be caught up without it. A quorum of one or two voters loses
// its majority with any of them; then every remaining voter must be caught up, so that
// nothing is lost and the quorum is only unavailable during the restart. A node that is not
// a voter is always safe to stop.
//
// A voter is caught up if it is the leader, or if it was level with the leader less than
// limit ago. Both times are taken from the leader's clock; now, in Unix milliseconds,
// replaces the leader's time if the leader does not report it. A voter whose time is not
// reported is behind.
//
// The rule is the one by which Strimzi rolls controllers.
func QuorumSafeWithout(q Quorum, id int32, now int64, limit time.Duration) QuorumCheck {
	check := QuorumCheck{Leader: q.Leader}
	if q.Leader == NoLeader {
		return check
	}
	reference := now
	if leader, ok := q.Voter(q.Leader); ok && leader.LastCaughtUpMillis > 0 {
		reference = leader.LastCaughtUpMillis
	}
	voter := false
	for _, v := range q.Voters {
		switch {
		case v.ID == id:
			voter = true
		case v.ID == q.Leader || caughtUp(v, reference, limit):
			check.CaughtUp = append(check.CaughtUp, v.ID)
		default:
			check.Behind = append(check.Behind, v.ID)
		}
	}
	if !voter {
		check.Safe = true
		return check
	}
	check.Need = neededWithoutOne(len(q.Voters))
	check.Safe = len(check.CaughtUp) >= check.Need
	return check
}

func caughtUp(v QuorumReplica, reference int64, limit time.Duration) bool {
	return v.LastCaughtUpMillis > 0 && reference-v.LastCaughtUpMillis < limit.Milliseconds()
}

// neededWithoutOne is how many of the other voters must be caught up.
func neededWithoutOne(voters int) int {
	if voters <= 2 {
		return voters - 1
	}
	return voters/2 + 1
}
