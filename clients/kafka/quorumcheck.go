package kafka

import "time"

// DefaultQuorumFetchTimeout is how far behind the leader a voter may be and still
// count as caught up, unless the cluster says otherwise: the default of
// controller.quorum.fetch.timeout.ms.
const DefaultQuorumFetchTimeout = 2 * time.Second

// QuorumCheck says whether the quorum can spare a voter, and why not.
type QuorumCheck struct {
	Safe bool `json:"safe"`
	// Leader is the leader of the quorum, NoLeader when there is none; then nothing is safe.
	Leader int32 `json:"leader"`
	// Need is how many caught-up voters other than the node in question are wanted.
	Need int `json:"need"`
	// CaughtUp and Behind are the other voters, in the order they were reported.
	CaughtUp []int32 `json:"caughtUp,omitempty"`
	Behind   []int32 `json:"behind,omitempty"`
}

// QuorumSafeWithout tells whether the node may be taken away without breaking the
// quorum: a majority of all voters must be caught up without it. A quorum of one or
// two cannot keep a majority without one of them; there, the one that stays must be
// caught up, so that nothing is lost and only the wait is felt. A node that is no
// voter is not missed.
//
// A voter is caught up when it is the leader, or was level with the leader less than
// limit ago. Both times are the leader's own clock; now, in Unix milliseconds, stands
// in when the leader does not report its own. A time that is not told is behind.
//
// The rule is the one Strimzi rolls controllers by.
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
