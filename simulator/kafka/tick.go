package kafka

// Tick advances time to now and executes every event that is due on the way, in the order
// of due times. Time never moves back: an earlier now changes nothing.
func (c *Cluster) Tick(now int64) {
	c.settle()
	for {
		at, ok := c.NextEvent()
		if !ok || at > now {
			break
		}
		c.Now = max(c.Now, at)
		c.due()
		c.settle()
	}
	c.Now = max(c.Now, now)
}

// NextEvent is the time of the next event if no request is made, so that a virtual clock
// can jump to it. It returns false if there is none.
func (c *Cluster) NextEvent() (int64, bool) {
	next := int64(-1)
	consider := func(at int64) {
		if at > 0 && (next < 0 || at < next) {
			next = at
		}
	}
	consider(c.ElectionAt)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		consider(n.UpAt)
		if n.SyncedAt > c.Now {
			consider(n.SyncedAt)
		}
		consider(n.SnapshotAt)
	}
	for i := range c.Partitions {
		if at := c.Partitions[i].CopiedAt; at > c.Now {
			consider(at)
		}
	}
	for i := range c.Registrations {
		if c.Leader != None {
			consider(c.Registrations[i].SessionEnds)
		}
	}
	return next, next >= 0
}

// due executes the events that are due.
func (c *Cluster) due() {
	for i := range c.Registrations {
		r := &c.Registrations[i]
		if c.Leader != None && r.SessionEnds > 0 && r.SessionEnds <= c.Now {
			r.SessionEnds, r.Fenced = 0, true
		}
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Process == Starting && n.UpAt <= c.Now {
			c.comeUp(n)
		}
		if n.SnapshotAt > 0 && n.SnapshotAt <= c.Now {
			n.SnapshotAt, n.Replays, n.Scripted = 0, nil, false
		}
	}
	if c.ElectionAt > 0 && c.ElectionAt <= c.Now {
		c.elect()
	}
}

// settle applies the consequences of the present state that take no time.
func (c *Cluster) settle() {
	c.settleQuorum()
	c.settlePartitions()
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if c.isolated(n) {
			if n.Process == Joining && !n.Broker {
				n.Process = Running
			}
			continue
		}
		if n.Up() && n.Controller && c.Leader != None {
			c.registerController(n)
		}
		if n.Process == Joining {
			c.join(n)
		}
	}
	c.settlePartitions()
}

// comeUp handles a starting process that has replayed its logs: the process joins or exits.
func (c *Cluster) comeUp(n *Node) {
	if words := c.cannotStart(n); words != "" {
		c.die(n, words)
		return
	}
	n.Process, n.UpAt, n.SyncedAt = Joining, 0, c.Now+c.Settings.CatchUp
	if len(n.Replays) > 0 && n.SnapshotInterval > 0 {
		n.SnapshotAt = c.Now + n.SnapshotInterval
	}
}

// join makes the roles of a process that is up take part in the cluster as far as they can.
func (c *Cluster) join(n *Node) {
	if !n.Broker || c.Leader != None && c.registerBroker(n) {
		n.Process = Running
	}
}

// registerBroker registers the process, unless the session of another process with the same
// id has not ended.
func (c *Cluster) registerBroker(n *Node) bool {
	i := c.registrationIndex(n.ID)
	if i >= 0 && !c.Registrations[i].Fenced {
		return false
	}
	c.LastEpoch++
	n.Epoch = c.LastEpoch
	n.SyncedAt = c.Now + c.Settings.CatchUp
	r := Registration{ID: n.ID, Epoch: n.Epoch, Binary: n.Binary}
	if i >= 0 {
		c.Registrations[i] = r
		return true
	}
	c.insertRegistration(r)
	return true
}

func (c *Cluster) insertRegistration(r Registration) {
	i := 0
	for i < len(c.Registrations) && c.Registrations[i].ID < r.ID {
		i++
	}
	c.Registrations = append(c.Registrations, Registration{})
	copy(c.Registrations[i+1:], c.Registrations[i:])
	c.Registrations[i] = r
}
