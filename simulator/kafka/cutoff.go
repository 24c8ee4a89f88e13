package kafka

import "slices"

// Outdated is the stale metadata of a broker that is cut off. It is shared and never modified in place.
type Outdated struct {
	Partitions    []Partition
	Registrations []Registration
	Finalized     []FeatureLevel
}

// CutOff cuts a node off from the controllers of all other nodes, but not from clients. Its broker still answers with the
// metadata that it has, cannot forward a request to the leader, and is fenced when its session times out. Its controller, if
// it has one, cannot vote. The only voter of a cluster still reaches its own controller.
func (c *Cluster) CutOff(id int32) {
	i := c.nodeIndex(id)
	if i < 0 || c.Nodes[i].CutOff {
		return
	}
	c.settle()
	n := &c.Nodes[i]
	n.CaughtUpTo = c.caughtUpTo(n)
	n.CutOff = true
	if !c.isolated(n) {
		return
	}
	if n.Process == Running {
		n.Known = &Outdated{Partitions: slices.Clone(c.Partitions), Registrations: slices.Clone(c.Registrations), Finalized: c.Finalized}
		for r := range n.Known.Registrations {
			n.Known.Registrations[r].SessionEnds = 0 // brokers do not track sessions
		}
	}
	if r := c.heldRegistration(n); r != nil && !r.Fenced {
		r.SessionEnds = c.Now + c.Settings.Session
	}
	if c.Leader == id {
		c.loseLeader()
	}
	c.Tick(c.Now)
}

// Reconnect ends the effect of CutOff: the broker's next heartbeat unfences it, and its replicas catch up.
func (c *Cluster) Reconnect(id int32) {
	i := c.nodeIndex(id)
	if i < 0 || !c.Nodes[i].CutOff {
		return
	}
	n := &c.Nodes[i]
	n.CutOff, n.Known = false, nil
	if n.Up() {
		n.SyncedAt = c.Now + c.Settings.CatchUp
	}
	if r := c.heldRegistration(n); r != nil {
		r.SessionEnds, r.Fenced = 0, false
	}
	c.Tick(c.Now)
}

// isolated reports whether the node cannot reach any leader.
func (c *Cluster) isolated(n *Node) bool {
	return n.CutOff && !(len(c.Voters) == 1 && c.Voters[0] == n.ID)
}

// heldRegistration returns the registration that the node's process holds, nil if it holds none.
func (c *Cluster) heldRegistration(n *Node) *Registration {
	if r := c.registrationIndex(n.ID); r >= 0 && n.Epoch != 0 && c.Registrations[r].Epoch == n.Epoch {
		return &c.Registrations[r]
	}
	return nil
}

// asKnownBy returns the cluster as the node's broker knows it. The result must not be modified.
func (c *Cluster) asKnownBy(n *Node) *Cluster {
	if n.Known == nil {
		return c
	}
	known := *c
	known.Partitions, known.Registrations, known.Finalized = n.Known.Partitions, n.Known.Registrations, n.Known.Finalized
	return &known
}

// imageOffset is the offset of the newest record that the node's broker has applied, -1 if there is none.
func (c *Cluster) imageOffset(n *Node) int64 { return logEnd(c.caughtUpTo(n)) - 1 }
