package kafka

import "slices"

// SetVoterLag keeps a voter that many milliseconds behind the leader while it follows; 0
// permits it to catch up.
func (c *Cluster) SetVoterLag(id int32, lag int64) {
	lags := slices.DeleteFunc(slices.Clone(c.VoterLag), func(v VoterLag) bool { return v.ID == id })
	if lag > 0 {
		lags = append(lags, VoterLag{ID: id, Lag: lag})
	}
	slices.SortFunc(lags, func(a, b VoterLag) int { return int(a.ID) - int(b.ID) })
	c.VoterLag = lags
}

// VoterLag is a voter that is kept behind, by Lag milliseconds.
type VoterLag struct {
	ID  int32
	Lag int64
}

func (c *Cluster) lagOf(id int32) int64 {
	for _, v := range c.VoterLag {
		if v.ID == id {
			return v.Lag
		}
	}
	return 0
}

// caughtUpTo is the time of the newest record in the node's metadata log.
func (c *Cluster) caughtUpTo(n *Node) int64 {
	switch {
	case n.ID == c.Leader:
		return c.Now
	case c.Leader == None || !n.Up() || c.Now < n.SyncedAt || c.isolated(n):
		return n.CaughtUpTo
	default:
		return max(n.CaughtUpTo, c.Now-c.lagOf(n.ID))
	}
}

// settleQuorum removes a leader without a majority, and schedules an election if there is a
// majority without a leader.
func (c *Cluster) settleQuorum() {
	up := 0
	for _, id := range c.Voters {
		if i := c.nodeIndex(id); i >= 0 && c.votes(&c.Nodes[i]) {
			up++
		}
	}
	majority := len(c.Voters) > 0 && up > len(c.Voters)/2
	switch {
	case !majority:
		c.ElectionAt = 0
		if c.Leader != None {
			c.loseLeader()
		}
	case c.Leader == None && c.ElectionAt == 0:
		c.ElectionAt = c.Now + c.Settings.Election
	}
}

func (c *Cluster) votes(n *Node) bool { return n.Up() && n.Controller && !c.isolated(n) }

// loseLeader leaves the quorum without a leader. Every log keeps its current end.
func (c *Cluster) loseLeader() {
	for i := range c.Nodes {
		c.Nodes[i].CaughtUpTo = c.caughtUpTo(&c.Nodes[i])
	}
	c.Leader = None
}

// elect makes the voter with the longest log the leader, and the lowest id among equals.
// The sessions of brokers restart with it.
func (c *Cluster) elect() {
	c.ElectionAt = 0
	for _, id := range c.Voters {
		i := c.nodeIndex(id)
		if i < 0 || !c.votes(&c.Nodes[i]) {
			continue
		}
		if c.Leader == None || c.Nodes[i].CaughtUpTo > c.Nodes[c.nodeIndex(c.Leader)].CaughtUpTo {
			c.Leader = id
		}
	}
	if c.Leader == None {
		return
	}
	c.LeaderEpoch++
	for i := range c.Registrations {
		if c.Registrations[i].SessionEnds > 0 {
			c.Registrations[i].SessionEnds = c.Now + c.Settings.Session
		}
	}
	c.generate()
}

// registerController stores the release of a controller in the quorum.
func (c *Cluster) registerController(n *Node) {
	i, found := slices.BinarySearchFunc(c.Controllers, n.ID, func(r ControllerRegistration, id int32) int { return int(r.ID) - int(id) })
	if found && c.Controllers[i].Binary == n.Binary {
		return
	}
	controllers := slices.Clone(c.Controllers)
	if found {
		controllers[i].Binary = n.Binary
	} else {
		controllers = slices.Insert(controllers, i, ControllerRegistration{ID: n.ID, Binary: n.Binary})
	}
	c.Controllers = controllers
}

// noOpInterval is the interval in milliseconds at which the leader appends a record
// although nothing changed: metadata.max.idle.interval.ms.
const noOpInterval = 500

// logEnd is the end offset of a log that has caught up to the given time.
func logEnd(caughtUpTo int64) int64 {
	if caughtUpTo == 0 {
		return 0
	}
	return caughtUpTo/noOpInterval + 1
}

// highWatermark is the offset up to which a majority of the voters has the log.
func (c *Cluster) highWatermark() int64 {
	ends := make([]int64, 0, len(c.Voters))
	for _, id := range c.Voters {
		end := int64(0)
		if i := c.nodeIndex(id); i >= 0 {
			end = logEnd(c.caughtUpTo(&c.Nodes[i]))
		}
		ends = append(ends, end)
	}
	slices.Sort(ends)
	return ends[(len(ends)-1)/2]
}
