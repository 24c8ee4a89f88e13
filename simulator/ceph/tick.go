package ceph

import (
	"math"
	"slices"

	client "github.com/detent-dev/detent/clients/ceph"
)

// Advance moves the clock. What is due on the way happens in order.
func (c *Cluster) Advance(to int64) {
	for c.Now < to {
		c.Now = min(to, c.next())
		c.progress()
	}
}

// next returns when the next change is due.
func (c *Cluster) next() int64 {
	at := int64(math.MaxInt64)
	due := func(when int64) {
		if when > c.Now {
			at = min(at, when)
		}
	}
	due((c.Now/c.Settings.Report + 1) * c.Settings.Report)
	due(c.ActiveSince + c.Settings.MgrStats)
	for i := range c.Daemons {
		d, s := &c.Daemons[i], &c.Settings
		for _, delay := range []int64{s.MonJoin, s.Stale, s.MgrTakeover, s.OSDBoot, s.OSDDown, s.OSDBoot + s.Recovery, s.MDSStart, s.RGWStart} {
			due(d.Since + delay)
		}
		due(d.ActiveAt)
	}
	return at
}

// progress lets happen what is due now.
func (c *Cluster) progress() {
	if c.quorate() {
		c.mons()
		c.mgrs()
		c.mdss()
	}
	active := c.find(client.Daemon{Type: client.TypeMgr, ID: c.Active})
	switch {
	case active == nil || c.Now < c.ActiveSince+c.Settings.MgrStats:
	case c.statsAt < 0 || c.Now >= c.statsAt+c.Settings.Report:
		c.stats, c.statsAt, c.counted = c.truth(), c.Now-c.Now%c.Settings.Report, c.Pools
	}
}

// joined reports whether a monitor takes part now.
func (c *Cluster) joined(d *Daemon) bool { return d.Running && c.Now >= d.Since+c.Settings.MonJoin }

func (c *Cluster) quorate() bool {
	all, in := 0, 0
	c.of(client.TypeMon, func(d *Daemon) {
		all++
		if c.joined(d) {
			in++
		}
	})
	return 2*in > all
}

// mons raises the oldest release that may join once every monitor in quorum runs a newer one, and all are in quorum.
func (c *Cluster) mons() {
	oldest, all := math.MaxInt, true
	c.of(client.TypeMon, func(d *Daemon) {
		oldest, all = min(oldest, d.Version.Major), all && c.joined(d)
	})
	if all && oldest > c.MinMonRelease {
		c.MinMonRelease = oldest
	}
}

// mgrs makes a manager active if the active one ended, after the takeover time. A restarted active manager becomes active again.
func (c *Cluster) mgrs() {
	active := c.find(client.Daemon{Type: client.TypeMgr, ID: c.Active})
	if active != nil && active.Running {
		if c.ActiveSince < active.Since {
			c.activate(active)
		}
		return
	}
	if active != nil && c.Now < active.Since+c.Settings.MgrTakeover {
		return
	}
	c.Active = ""
	c.of(client.TypeMgr, func(d *Daemon) {
		if c.Active == "" && d.Running && c.Now >= d.Since {
			c.activate(d)
		}
	})
}

func (c *Cluster) activate(d *Daemon) {
	c.Active, c.ActiveSince, c.statsAt, c.stats = d.Name.ID, c.Now, -1, nil
	for i := range c.Filesystems {
		c.nextID++
		c.sessions = append(c.sessions, session{id: c.nextID, host: d.Pod, entity: d.Name.ID, filesystem: c.Filesystems[i].Name})
	}
}

// fail makes the active manager a standby.
func (c *Cluster) fail(id string) bool {
	if c.Active != id {
		return false
	}
	next := ""
	c.of(client.TypeMgr, func(d *Daemon) {
		if next == "" && d.Running && d.Name.ID != id {
			next = d.Name.ID
		}
	})
	if next == "" {
		next = id
	}
	if d := c.find(client.Daemon{Type: client.TypeMgr, ID: next}); d != nil {
		c.activate(d)
	}
	return true
}

// mdss gives ranks to standbys.
func (c *Cluster) mdss() {
	for i := range c.Filesystems {
		f := &c.Filesystems[i]
		for rank := range f.MaxMDS {
			if c.holder(f.Name, rank) != nil {
				continue
			}
			if d := c.standby(f.Name); d != nil {
				if dead := c.laggy(f.Name, rank); dead != nil {
					dead.Laggy = false
				}
				d.Rank, d.ActiveAt = rank, c.Now+c.Settings.MDSTakeover
				if c.orphaned(f.Name) {
					d.ActiveAt += c.Settings.Reconnect
				}
			}
		}
		c.of(client.TypeMDS, func(d *Daemon) {
			if d.Filesystem == f.Name && (d.Rank >= f.MaxMDS || !d.Running && !d.Laggy) {
				d.Rank = -1
			}
		})
	}
}

func (c *Cluster) holder(filesystem string, rank int) (holder *Daemon) {
	c.of(client.TypeMDS, func(d *Daemon) {
		if d.Filesystem == filesystem && d.Rank == rank && d.Running {
			holder = d
		}
	})
	return holder
}

// laggy returns the metadata server that was killed with the rank.
func (c *Cluster) laggy(filesystem string, rank int) (dead *Daemon) {
	c.of(client.TypeMDS, func(d *Daemon) {
		if d.Filesystem == filesystem && d.Rank == rank && d.Laggy {
			dead = d
		}
	})
	return dead
}

func (c *Cluster) standby(filesystem string) (found *Daemon) {
	c.of(client.TypeMDS, func(d *Daemon) {
		if found == nil && d.Filesystem == filesystem && d.Rank < 0 && c.ready(d) {
			found = d
		}
	})
	return found
}

// ready reports whether a metadata server has registered.
func (c *Cluster) ready(d *Daemon) bool { return d.Running && c.Now >= d.Since+c.Settings.MDSStart }

// orphaned reports whether a client has a session although its pod is gone.
func (c *Cluster) orphaned(filesystem string) bool {
	return slices.ContainsFunc(c.sessions, func(s session) bool {
		return s.filesystem == filesystem && !slices.ContainsFunc(c.Daemons, func(d Daemon) bool { return d.Running && d.Pod == s.host })
	})
}

// up reports whether the map shows an OSD as up.
func (c *Cluster) up(d *Daemon) bool {
	if d.Running {
		return c.Now >= d.Since+c.Settings.OSDBoot
	}
	return d.Newest > 0 && c.Now < d.Since+c.Settings.OSDDown
}

// truth returns the states of the placement groups. Each is on as many consecutive OSDs as its pool has copies.
func (c *Cluster) truth() map[string]int {
	out := map[string]int{}
	c.eachPG(c.Pools, nil, func(present, recovering int, pool Pool) { out[state(present, recovering, pool)]++ })
	return out
}

func state(present, recovering int, pool Pool) string {
	switch {
	case present < pool.MinSize:
		return "undersized+degraded+peered"
	case present < pool.Size:
		return "active+undersized+degraded"
	case recovering > 0:
		return "active+recovering+degraded"
	default:
		return "active+clean"
	}
}

// eachPG calls visit for each placement group of the pools with the number of OSDs that serve it without those that are left out, and how many of
// them recover.
func (c *Cluster) eachPG(pools []Pool, without []client.Daemon, visit func(present, recovering int, pool Pool)) {
	var osds []*Daemon
	c.of(client.TypeOSD, func(d *Daemon) {
		if !d.Out { // the others have its data
			osds = append(osds, d)
		}
	})
	for _, pool := range pools {
		for pg := range pool.PGs {
			present, recovering := 0, 0
			for i := range min(pool.Size, len(osds)) {
				d := osds[(pg+i)%len(osds)]
				if !d.Running || c.Now < d.Since+c.Settings.OSDBoot || slices.Contains(without, d.Name) {
					continue
				}
				present++
				if c.Now < d.Since+c.Settings.OSDBoot+c.Settings.Recovery {
					recovering++
				}
			}
			visit(present, recovering, pool)
		}
	}
}
