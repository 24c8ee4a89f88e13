package ceph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// Settings are the durations of a cluster, in milliseconds. They do not change while it runs.
type Settings struct {
	// MonJoin is the time from the start of a monitor until it is in quorum.
	MonJoin int64
	// Stale is how long a monitor that ended is still reported.
	Stale int64
	// MgrTakeover is the time until another manager is active, and MgrStats until it has statistics.
	MgrTakeover, MgrStats int64
	// MgrGrace is how long a missing manager is not reported.
	MgrGrace int64
	// OSDBoot is the time from the start of an OSD until it is up, OSDDown from its end until it is down, and Recovery from up until
	// its placement groups are clean.
	OSDBoot, OSDDown, Recovery int64
	// Report is the interval of the statistics of placement groups.
	Report int64
	// MDSStart is the time until a metadata server is a standby, MDSTakeover until a standby serves a rank, and Reconnect what it takes
	// in addition while a session of a client that is gone remains.
	MDSStart, MDSTakeover, Reconnect int64
	// RGWStart is the time until a gateway reports itself.
	RGWStart int64
}

// DefaultSettings are times that were measured on small clusters.
func DefaultSettings() Settings {
	return Settings{
		MonJoin: 6_000, Stale: 5_000, MgrTakeover: 3_000, MgrStats: 3_000, MgrGrace: 120_000, OSDBoot: 5_700, OSDDown: 1_000, Recovery: 6_000,
		Report: 5_000, MDSStart: 2_000, MDSTakeover: 3_000, Reconnect: 45_000, RGWStart: 4_000,
	}
}

// Cluster is one Ceph cluster. Create it with New; the zero value is not usable. Copies made with Clone are independent.
type Cluster struct {
	FSID     string
	Settings Settings
	// Now is the time of the state below, in milliseconds.
	Now int64
	// Daemons sorted by type and id. Owned.
	Daemons []Daemon
	// Pools of the cluster. Never modified in place.
	Pools []Pool
	// Filesystems sorted by name. Owned.
	Filesystems []Filesystem
	// SeveralFilesystems permits more than one filesystem. In a cluster that was created before release 16 a flag has to be set.
	SeveralFilesystems bool
	// RequireRelease and MinMonRelease are majors.
	RequireRelease, MinMonRelease int
	// Active is the id of the active manager, empty for none, and ActiveSince when it became active.
	Active      string
	ActiveSince int64
	// stats are the states of placement groups as last reported, and statsAt when; negative for never since the manager is active.
	stats   map[string]int
	statsAt int64
	// counted are the pools at the time of the report.
	counted []Pool
	// sessions of clients at the metadata servers. Owned.
	sessions []session
	nextID   int64
	// Keys are the entries of the key store. Owned.
	Keys map[string]string
	// UUIDs are the numbers of the OSDs that were created with a UUID. Owned.
	UUIDs map[string]string
	// Codes are health codes that were raised from outside, in addition to those of the state. Owned.
	Codes []client.Check
	// Faults of commands. The first one that matches applies. Owned.
	Faults []Fault
	// Unreachable means that no monitor can be reached.
	Unreachable bool
}

// Pool is a pool of placement groups.
type Pool struct {
	Name               string
	PGs, Size, MinSize int
	// Used means that it contains objects of a filesystem, also after that was removed.
	Used bool `json:",omitempty"`
}

// Filesystem is a filesystem.
type Filesystem struct {
	Name           string
	ID, MaxMDS     int
	StandbyReplay  bool
	StandbysWanted int
}

// Daemon is a daemon with its data.
type Daemon struct {
	Name client.Daemon
	// Version that the process runs, or ran last.
	Version versions.Version
	// Pod that it runs in, or ran in last.
	Pod string
	// Reported and ReportedPod are the version and the pod of the process of a monitor that last left the quorum: what Ceph shows until another one
	// joins.
	Reported    versions.Version
	ReportedPod string
	// Filesystem of a metadata server.
	Filesystem string
	// Running means that the process runs; Since is when it started or ended.
	Running bool
	Since   int64
	// Newest is the newest major that wrote the data of a monitor or an OSD. Spoiled data was touched by a release that is more than
	// two newer: no release can use it.
	Newest  int
	Spoiled bool
	// InMemory means that an OSD keeps its data in memory, in no form of a release.
	InMemory bool
	// NoOut is the flag of an OSD, and Out means that no data is placed on it.
	NoOut, Out bool
	// Rank of a metadata server, -1 for none, and ActiveAt when it serves.
	Rank     int
	ActiveAt int64
	// Laggy means that a metadata server was killed: it keeps its rank until another one takes it over.
	Laggy bool
}

type session struct {
	id int64
	// host and entity are the pod and the id of the client.
	host, entity string
	filesystem   string
}

// New returns a running, healthy cluster: every daemon runs the version in a pod of its own, named like the daemon.
func New(version versions.Version, daemons ...client.Daemon) *Cluster {
	c := &Cluster{
		FSID: "11111111-2222-3333-4444-555555555555", Settings: DefaultSettings(), RequireRelease: version.Major, MinMonRelease: version.Major,
		Pools: []Pool{{PGs: 8, Size: 3, MinSize: 2}}, Keys: map[string]string{}, nextID: 4000, statsAt: -1,
	}
	for _, d := range daemons {
		c.Add(d)
		at := c.find(d)
		at.Version, at.Pod, at.Running, at.Newest, at.Since = version, d.String(), true, version.Major, -1_000_000
	}
	c.progress()
	c.ActiveSince = -1_000_000
	for i := range c.Daemons {
		c.Daemons[i].ActiveAt = 0
	}
	c.Advance(c.Settings.Report)
	return c
}

// Add adds a daemon that never ran. The filesystem of a metadata server is the part of its id before the last dash.
func (c *Cluster) Add(name client.Daemon) {
	d := Daemon{Name: name, Rank: -1}
	if name.Type == client.TypeMDS {
		d.Filesystem = filesystemOf(name.ID)
		if !slices.ContainsFunc(c.Filesystems, func(f Filesystem) bool { return f.Name == d.Filesystem }) {
			c.addFilesystem(d.Filesystem)
		}
	}
	c.Daemons = append(c.Daemons, d)
	slices.SortFunc(c.Daemons, func(a, b Daemon) int {
		return cmp.Or(cmp.Compare(a.Name.Type, b.Name.Type), cmp.Compare(a.Name.ID, b.Name.ID))
	})
}

func filesystemOf(id string) string {
	for i := len(id) - 1; i > 0; i-- {
		if id[i] == '-' {
			return id[:i]
		}
	}
	return id
}

// Clone returns an independent copy.
func (c *Cluster) Clone() *Cluster {
	out := *c
	out.Daemons, out.Filesystems, out.sessions = slices.Clone(c.Daemons), slices.Clone(c.Filesystems), slices.Clone(c.sessions)
	out.Keys, out.UUIDs, out.stats, out.Codes, out.Faults = maps.Clone(c.Keys), maps.Clone(c.UUIDs), maps.Clone(c.stats), slices.Clone(c.Codes), slices.Clone(c.Faults)
	return &out
}

// find returns the daemon of a name, or nil.
func (c *Cluster) find(name client.Daemon) *Daemon {
	i := slices.IndexFunc(c.Daemons, func(d Daemon) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Daemons[i]
}

// of calls visit with each daemon of the type.
func (c *Cluster) of(t client.Type, visit func(*Daemon)) {
	for i := range c.Daemons {
		if c.Daemons[i].Name.Type == t {
			visit(&c.Daemons[i])
		}
	}
}

// Daemon returns a copy of the daemon.
func (c *Cluster) Daemon(name client.Daemon) (Daemon, bool) {
	if d := c.find(name); d != nil {
		return *d, true
	}
	return Daemon{}, false
}

// Died is a process that ended while it was being started.
type Died struct {
	Daemon client.Daemon
	// Words are the log line that says why.
	Words string
}

func (d *Died) Error() string { return fmt.Sprintf("%s died: %s", d.Daemon, d.Words) }

// Start starts a daemon on a version in a pod. It returns *Died if the process ends because of its data.
func (c *Cluster) Start(name client.Daemon, version versions.Version, pod string) error {
	d := c.find(name)
	if d == nil {
		return fmt.Errorf("the cluster has no %s", name)
	}
	if name.Type == client.TypeMon || name.Type == client.TypeOSD {
		if words := c.refusedBy(d, version); words != "" {
			c.leaves(d)
			d.Running, d.Since, d.Pod = false, c.Now, pod
			return &Died{Daemon: name, Words: words}
		}
		d.Newest = max(d.Newest, version.Major)
	}
	c.leaves(d)
	d.Version, d.Pod, d.Running, d.Since, d.Rank, d.Out = version, pod, true, c.Now, -1, false
	d.Laggy = false
	c.progress()
	return nil
}

// refusedBy returns why the version cannot run on the data of the daemon. A start on data that is too old spoils it.
func (c *Cluster) refusedBy(d *Daemon, version versions.Version) string {
	switch {
	case d.Spoiled:
		return "the data was changed by a release that could not use it"
	case d.Newest == 0:
		return ""
	case version.Major > d.Newest+2:
		d.Spoiled = true
		return "you can only upgrade 2 releases at a time"
	case version.Major >= d.Newest, d.InMemory && version.Major >= c.RequireRelease:
		return ""
	case d.Name.Type == client.TypeMon && d.Newest <= 16 && c.MinMonRelease <= version.Major:
		return "" // until every monitor has run the newer release
	case d.Name.Type == client.TypeMon && d.Newest <= 16:
		return "unsupported on-disk features"
	case d.Newest > 16:
		return "rocksdb: Corruption: unknown checksum type 4"
	default:
		return "bluestore ondisk_format assert"
	}
}

// Stop ends the process of a daemon.
func (c *Cluster) Stop(name client.Daemon) {
	d := c.find(name)
	if d == nil || !d.Running {
		return
	}
	c.leaves(d)
	d.Running, d.Since = false, c.Now
	c.progress()
}

// leaves keeps what a monitor that was in the quorum has reported there.
func (c *Cluster) leaves(d *Daemon) {
	if d.Name.Type == client.TypeMon && c.joined(d) {
		d.Reported, d.ReportedPod = d.Version, d.Pod
	}
}

// Kill ends the process of a daemon that does not say goodbye: a metadata server keeps its rank, and is laggy, until another one takes over.
func (c *Cluster) Kill(name client.Daemon) {
	if d := c.find(name); d != nil && d.Running {
		d.Laggy = d.Rank >= 0
		c.Stop(name)
	}
}

// Flag sets or removes the flag noout of an OSD, as an admin does.
func (c *Cluster) Flag(osd client.Daemon, set bool) {
	if d := c.find(osd); d != nil {
		d.NoOut = set
	}
}

// Raise raises a health code from outside, and Clear clears it.
func (c *Cluster) Raise(check client.Check) { c.Clear(check.Code); c.Codes = append(c.Codes, check) }

// Clear clears a health code that was raised from outside.
func (c *Cluster) Clear(code string) {
	c.Codes = slices.DeleteFunc(c.Codes, func(k client.Check) bool { return k.Code == code })
}
