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

// Process is what runs in the pod of a daemon.
type Process struct {
	// Pod is the name of its pod.
	Pod string
	// Restarted is true if the container of that pod has run another process before.
	Restarted bool
	// StartedAt is when it started.
	StartedAt time.Time
}

// Elected returns the version that a monitor reported in an election since its process started, as the maps of the time show it. The process
// from before took no part in that election: it had another pod, whose name a monitor reports there, too, or it had ended. False without such an
// election, and for other daemons.
func (c *Cluster) Elected(d ceph.Daemon, p Process, read time.Time) (versions.Version, bool) {
	if d.Type != ceph.TypeMon || !slices.Contains(c.Quorum.Members, d.ID) {
		return versions.Version{}, false
	}
	m, known := c.metadata(d)
	since := c.Quorum.Age > 0 && !read.Add(-c.Quorum.Age).Before(p.StartedAt.Add(skew))
	own := p.Pod != "" && m.Pod == p.Pod && !p.Restarted
	return m.Version, known && (since || own)
}

// Undecided reports whether only an answer of the monitor itself shows that it is back: it is in the quorum, no longer because of the process
// from before, and no election since its start is known.
func (c *Cluster) Undecided(monitor ceph.Daemon, p Process, read time.Time) bool {
	_, elected := c.Elected(monitor, p, read)
	return !elected && slices.Contains(c.Quorum.Members, monitor.ID) && !read.Before(p.StartedAt.Add(settle))
}

// elected returns what Elected does of the process of a daemon.
func (f *Facts) elected(c *Cluster, d *Daemon) (versions.Version, bool) {
	return c.Elected(d.Name, Process{Pod: d.Pod, Restarted: d.Restarted, StartedAt: d.StartedAt}, f.Cluster.At())
}

// settled reports whether the maps no longer show the process from before.
func (f *Facts) settled(c *Cluster, d *Daemon) bool {
	_, elected := f.elected(c, d)
	return elected || !f.Cluster.At().Before(d.StartedAt.Add(settles(d.Name.Type)))
}
