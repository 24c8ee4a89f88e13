package kafka

import (
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// DescribeQuorum answers DescribeQuorum, which the broker forwards to the leader. It returns ErrNoAnswer without a leader.
func (c *Cluster) DescribeQuorum(via int32) (client.Quorum, error) {
	var answer client.Quorum
	err := c.forwarded(via, RequestDescribeQuorum, None, func(*Node) error {
		answer = c.quorum()
		return nil
	})
	return answer, err
}

func (c *Cluster) quorum() client.Quorum {
	q := client.Quorum{Leader: c.Leader, LeaderEpoch: c.LeaderEpoch, HighWatermark: c.highWatermark()}
	for _, id := range c.Voters {
		q.Voters = append(q.Voters, c.replica(id))
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Up() && !slices.Contains(c.Voters, n.ID) {
			q.Observers = append(q.Observers, c.replica(n.ID))
		}
	}
	return q
}

func (c *Cluster) replica(id int32) client.QuorumReplica {
	r := client.QuorumReplica{ID: id, LogEndOffset: client.NotReported, LastFetchMillis: client.NotReported, LastCaughtUpMillis: client.NotReported}
	i := c.nodeIndex(id)
	if i < 0 {
		return r
	}
	n := &c.Nodes[i]
	if at := c.caughtUpTo(n); at > 0 {
		r.LogEndOffset, r.LastFetchMillis, r.LastCaughtUpMillis = logEnd(at), at, at
	}
	if n.Up() && !c.isolated(n) {
		r.LastFetchMillis = c.Now
	}
	return r
}

// listening returns the controller whose own listener a request is sent to, or ErrUnreachable.
func (c *Cluster) listening(at int32) (*Node, error) {
	i := c.nodeIndex(at)
	if i < 0 || c.Unreachable || c.Nodes[i].Unreachable || !c.Nodes[i].Up() || !c.Nodes[i].Controller {
		return nil, ErrUnreachable
	}
	return &c.Nodes[i], nil
}

// ControllerAnswers reports whether the node's controller listener accepts connections.
func (c *Cluster) ControllerAnswers(id int32) bool {
	_, err := c.listening(id)
	return err == nil
}

// DescribeControllers answers DescribeCluster at a controller's listener: the leader that the controller knows. It is
// supported from metadata.version 3.7-IV0 on. Releases from 4.0 on still report the last leader when there is none; the model
// does not track which one it was.
func (c *Cluster) DescribeControllers(at int32) (leader int32, err error) {
	n, err := c.listening(at)
	if err != nil {
		return None, err
	}
	leader = None
	err = c.guarded(RequestDescribeCluster, at, func() error {
		if c.Level(client.MetadataVersion) < controllerRegistration {
			return refused(client.CodeUnsupportedVersion, "Direct-to-controller communication is not supported with the current MetadataVersion.")
		}
		switch {
		case c.Leader != None && !c.isolated(n):
			leader = c.Leader
		case c.LeaderEpoch > 0 && c.binary(n.Binary).atLeast(4, 0):
			leader = c.Voters[0]
		}
		return nil
	})
	return leader, err
}

// DescribeQuorumAt answers DescribeQuorum at a controller's listener, which only the leader does.
func (c *Cluster) DescribeQuorumAt(at int32) (client.Quorum, error) {
	if _, err := c.listening(at); err != nil {
		return client.Quorum{}, err
	}
	var answer client.Quorum
	err := c.guarded(RequestDescribeQuorum, at, func() error {
		if c.Leader != at {
			return refused(client.CodeNotLeaderOrFollower, "")
		}
		answer = c.quorum()
		return nil
	})
	return answer, err
}
