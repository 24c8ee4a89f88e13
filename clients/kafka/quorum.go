package kafka

import (
	"errors"
	"slices"
)

// NotReported is the value of an offset or a time that the cluster did not report.
const NotReported int64 = -1

// NoLeader is the leader of a quorum or a partition that has none.
const NoLeader int32 = -1

// QuorumReplica is one replica of the metadata log, as seen by the leader.
type QuorumReplica struct {
	ID int32 `json:"id"`
	// LogEndOffset is the end of its log, NotReported if the leader does not know it.
	LogEndOffset int64 `json:"logEndOffset"`
	// LastFetchMillis and LastCaughtUpMillis are Unix milliseconds on the leader's clock, NotReported if unknown. For the leader
	// itself both are the time of the answer.
	LastFetchMillis    int64 `json:"lastFetchMillis"`
	LastCaughtUpMillis int64 `json:"lastCaughtUpMillis"`
}

// Quorum is the state of the metadata log, by DescribeQuorum.
type Quorum struct {
	Leader        int32 `json:"leader"`
	LeaderEpoch   int32 `json:"leaderEpoch"`
	HighWatermark int64 `json:"highWatermark"`
	// Voters and Observers are sorted by ascending id. A node that is only a broker is an observer.
	Voters    []QuorumReplica `json:"voters"`
	Observers []QuorumReplica `json:"observers,omitempty"`
}

// Voter returns the voter with the id, and false if there is none.
func (q Quorum) Voter(id int32) (QuorumReplica, bool) {
	for _, v := range q.Voters {
		if v.ID == id {
			return v, true
		}
	}
	return QuorumReplica{}, false
}

// Demanding returns a copy of the quorum in which every voter whose log ends before its offset in logEnd counts as never
// caught up. A controller on ephemeral storage that restarted without its log must not count as caught up before it has
// replicated the log again: pass the high watermark at its restart.
func (q Quorum) Demanding(logEnd map[int32]int64) Quorum {
	q = q.Clone()
	for i, v := range q.Voters {
		if floor, ok := logEnd[v.ID]; ok && v.LogEndOffset < floor {
			q.Voters[i].LastCaughtUpMillis = NotReported
		}
	}
	return q
}

// Confirmed fails unless a majority of the voters, including the leader, has fetched from the leader within the fetch
// timeout before the answer. A leader that lost its majority still answers for a while, although another leader may have
// been elected.
func (q Quorum) Confirmed() error {
	leader, ok := q.Voter(q.Leader)
	if !ok || leader.LastFetchMillis == NotReported {
		return errors.New("the quorum has no leader that reports the time of its answer")
	}
	fetched := 0
	for _, v := range q.Voters {
		if v.LastFetchMillis != NotReported && leader.LastFetchMillis-v.LastFetchMillis <= DefaultQuorumFetchTimeout.Milliseconds() {
			fetched++
		}
	}
	if fetched <= len(q.Voters)/2 {
		return errors.New("the leader of the quorum has no fetch from a majority of the controllers within the fetch timeout")
	}
	return nil
}

// Covers reports whether a node that has applied the metadata log up to and including the offset has applied everything that
// was committed when the quorum was described.
func (q Quorum) Covers(applied int64) bool { return applied >= q.HighWatermark-1 }

// Clone returns a deep copy.
func (q Quorum) Clone() Quorum {
	q.Voters = slices.Clone(q.Voters)
	q.Observers = slices.Clone(q.Observers)
	return q
}
