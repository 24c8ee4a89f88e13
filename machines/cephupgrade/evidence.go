package cephupgrade

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// settle is how long after the start of a process a map may show the one before, which has ended by then, and how old the states of the
// placement groups may be: five seconds, one for the resolution of the time of the start, and one for clocks that differ.
const settle = 7 * time.Second

// settles is how long after the start of a daemon the maps are evidence of its role. A manager is named by its pod, a metadata server is
// asked through the map itself, and a gateway has no entry: what the maps show of them is the new process. A monitor that has taken part in an
// election since counts at once, and an OSD counts with the placement groups.
func settles(t ceph.Type) time.Duration {
	if t == ceph.TypeMon || t == ceph.TypeOSD {
		return settle
	}
	return 0
}

// skew is how much earlier than its container the start of a process may be reported: one second for the resolution of the time, and one
// for clocks that differ.
const skew = 2 * time.Second

// Elected returns the version that a monitor reported in an election since it started, as the maps of the time show it. The process from
// before took no part in that election. False without such an election, and for other daemons.
func (c *Cluster) Elected(d ceph.Daemon, started, read time.Time) (versions.Version, bool) {
	elected := d.Type == ceph.TypeMon && c.Quorum.Age > 0 && !read.Add(-c.Quorum.Age).Before(started.Add(skew))
	if !elected || !slices.Contains(c.Quorum.Members, d.ID) {
		return versions.Version{}, false
	}
	m, known := c.metadata(d)
	return m.Version, known
}

// Undecided reports whether only an answer of the monitor itself shows that it is back: it is in the quorum, no longer because of the process
// from before, and no election since its start is known.
func (c *Cluster) Undecided(monitor ceph.Daemon, started, read time.Time) bool {
	_, elected := c.Elected(monitor, started, read)
	return !elected && slices.Contains(c.Quorum.Members, monitor.ID) && !read.Before(started.Add(settle))
}

// elected reports whether the monitor has taken part in an election since it started.
func (f *Facts) elected(c *Cluster, d *Daemon) bool {
	_, elected := c.Elected(d.Name, d.StartedAt, f.Cluster.At())
	return elected
}
