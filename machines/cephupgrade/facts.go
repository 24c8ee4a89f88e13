package cephupgrade

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/transitions"
)

// Needs of the machine.
const (
	// NeedCluster is one reading of the maps of the cluster.
	NeedCluster transitions.Need = "cluster"
	// NeedHealth is the health of the cluster.
	NeedHealth transitions.Need = "health"
	// NeedPermission is Ceph's answer to whether the selected daemon may be stopped.
	NeedPermission transitions.Need = "ok-to-stop"
	// NeedSelf is the version that the selected daemon itself reports.
	NeedSelf transitions.Need = "self"
	// NeedMemory is what the upgrade stored in the monitors' key store.
	NeedMemory transitions.Need = "keys"
	// NeedOrphans is the sessions of clients that have ended.
	NeedOrphans transitions.Need = "sessions"
)

// Facts of one cluster.
type Facts struct {
	// Spec is what the spec requests. Daemons, Back, Named and Released are empty: they follow from the other facts.
	Spec decision.Situation
	// Daemons are all daemons that the operator launched, as Kubernetes shows them.
	Daemons []Daemon
	// Missing are the OSDs that the operator launched and that have no Deployment now.
	Missing []Missing
	// IgnoreHealth is the annotation detent.dev/ignore-health.
	IgnoreHealth string
	// Attempt in progress; nil without one.
	Attempt *lifecyclev1.Attempt
	// Command is the last command that this process sent to Ceph.
	Command Command

	Cluster transitions.Fact[Cluster]     `need:"cluster"`
	Health  transitions.Fact[ceph.Health] `need:"health"`
	// Permission to stop the daemon in Data.
	Permission transitions.Fact[ceph.OKToStop] `need:"ok-to-stop"`
	// Self is the version that the daemon in Data reports when it is asked directly. A gateway reports it by answering: its version is
	// then that of its image.
	Self   transitions.Fact[versions.Version] `need:"self"`
	Memory transitions.Fact[Memory]           `need:"keys"`
	// Orphans are the sessions at the metadata server in Data whose client's pod is gone. They would delay its successor.
	Orphans transitions.Fact[[]int64] `need:"sessions"`
}

// Command is a command that may change what is read.
type Command struct {
	// UnderWay is true while it has no outcome.
	UnderWay bool
	// Ended is when it ended; zero while it is under way, or if none was sent.
	Ended time.Time
}

// commanded reports whether a command may have an effect that the maps and the memory do not show.
func (f *Facts) commanded() bool {
	return f.Command.UnderWay || f.Cluster.At().Before(f.Command.Ended) || f.Memory.At().Before(f.Command.Ended)
}

// Daemon is a daemon as its Deployment shows it.
type Daemon struct {
	Name ceph.Daemon
	// Filesystem of a metadata server.
	Filesystem string
	// Image in its Deployment, as the spec wrote it, and Reference as its pods use it.
	Image     string
	Reference string
	// Launched is the version of that image; zero for a development build.
	Launched versions.Version
	// Newest is the newest version that it was ever started on, by its record.
	Newest versions.Version
	// ByHand is the image of its Deployment if that is not known, since an administrator set it there, and the daemon has not reported its
	// version from its present pod yet; empty otherwise. Launched is then the version from before, and what it reported later.
	ByHand string
	// Outdated is true if its pod differs from the desired one for another reason than the version.
	Outdated bool
	// Stopped is true if the upgrade stopped it: its Deployment has no replicas.
	Stopped bool
	// Ready is true if its pod is ready. That is evidence of its role for gateways only; no daemon is back without it.
	Ready bool
	// Pod is the name of its pod of the present template, and StartedAt the time when its container started; empty without one, although a
	// pod of an earlier template may still serve.
	Pod       string
	StartedAt time.Time
	// Restarted is true if that container has run in the pod before.
	Restarted bool
	// Trouble is why a container of that pod does not start, or what it said when it ended with an error; nil if there is none.
	Trouble *transitions.Problem
	// Ending is why no pod of the present template is started: the pod from before does not end; nil if that is not so.
	Ending *transitions.Problem
	// Idle is true for an OSD of which nothing runs or is about to, whether Trouble says why or not: its Deployment has no replicas, its pod from
	// before does not end, or no container of its pod has run for minutes.
	Idle bool
	// Unpulled is true if the image of that pod cannot be pulled, and no container of it has ever run.
	Unpulled bool
	// Held is why its pod must not be ended, with what to do: its claim is being deleted; nil if it may be.
	Held *transitions.Problem
}

// Missing is an OSD that was launched and has no Deployment.
type Missing struct {
	Name ceph.Daemon
	// Declared is true if the spec has it, so that its Deployment is created again.
	Declared bool
}

// Cluster is one reading of the maps.
type Cluster struct {
	Quorum      ceph.Quorum
	Managers    ceph.Managers
	OSDs        ceph.OSDMap
	PGs         ceph.PGs
	Filesystems ceph.Filesystems
	// Metadata of the daemons of all types but gateways, which report none.
	Metadata []ceph.Metadata
}

// Memory is what the upgrade stored in the monitors' key store.
type Memory struct {
	Upgrade Upgrade
	// NoOut are the OSDs whose flag noout the upgrade set.
	NoOut []string
	// Settings of filesystems before the upgrade reduced them.
	Settings []Settings
}

// Upgrade is the record of an attempt, stored before its first daemon is replaced.
type Upgrade struct {
	// Attempt is its id.
	Attempt string
	// Toward is the version that it changes to; zero if it changes none.
	Toward versions.Version
	// Codes are the health codes that were raised before.
	Codes []string
	// Named are the images that the spec asked for.
	Named []string
	// Back are the older versions that it changes daemons back to, until none is left.
	Back []versions.Version
	// Builds are the references of the images that it replaces by another build of their version, until none is left.
	Builds []string
}

// Settings are the settings of a filesystem that an upgrade reduces.
type Settings struct {
	Filesystem    string
	MaxMDS        int
	StandbyReplay bool
}

// find returns the daemon of a name; nil if the operator did not launch it.
func (f *Facts) find(name ceph.Daemon) *Daemon {
	at := slices.IndexFunc(f.Daemons, func(d Daemon) bool { return d.Name == name })
	if at < 0 {
		return nil
	}
	return &f.Daemons[at]
}

// recorded reports whether the attempt in progress is recorded.
func (f *Facts) recorded(m *Memory) bool {
	return f.Attempt != nil && m.Upgrade.Attempt == f.Attempt.ID
}

// Warnings are about what is permitted and unusual.
func (f *Facts) Warnings(c *Cluster, m *Memory) []transitions.Problem { return f.decide(c, m).Warnings }

// Reported returns the version that a daemon reported when it last started, and false if it did not report one from the pod.
func (c *Cluster) Reported(name ceph.Daemon, pod string) (v versions.Version, reported bool) {
	m, known := c.metadata(name)
	return m.Version, known && pod != "" && m.Pod == pod
}

// decide decides on the version of every daemon.
func (f *Facts) decide(c *Cluster, m *Memory) decision.Decision {
	s := f.Spec
	s.Back, s.Named, s.Unnamed, s.Builds = m.Upgrade.Back, m.Upgrade.Named, f.unnamed(m), m.Upgrade.Builds
	s.Released = decision.Released{Known: true, OSD: c.OSDs.RequireRelease, Mon: c.Quorum.MinRelease}
	s.Daemons = nil
	for i := range f.Daemons {
		d := &f.Daemons[i]
		one := decision.Daemon{Name: d.Name, Filesystem: d.Filesystem, Runs: f.touched(c, d), Launched: d.launched(), Newest: d.Newest, Outdated: d.Outdated}
		m, reported := c.metadata(d.Name)
		one.Unversioned = reported && m.Unversioned
		one.Development = one.Unversioned || d.Image != "" && d.Launched.IsZero()
		s.Daemons = append(s.Daemons, one)
	}
	return decision.Decide(s)
}

// launched is the image of its Deployment.
func (d *Daemon) launched() decision.Image {
	return decision.Image{Name: d.Image, Reference: d.Reference, Version: d.Launched}
}

// metadata returns what the daemon reported when it last started, and false if it never did.
func (c *Cluster) metadata(name ceph.Daemon) (ceph.Metadata, bool) {
	at := slices.IndexFunc(c.Metadata, func(m ceph.Metadata) bool { return m.Daemon == name && (!m.Version.IsZero() || m.Unversioned) })
	if at < 0 {
		return ceph.Metadata{}, false
	}
	return c.Metadata[at], true
}

// runs returns the version that the daemon runs, or ran last; zero for a development build without one.
func (c *Cluster) runs(d *Daemon) versions.Version {
	if m, reported := c.metadata(d.Name); reported {
		return m.Version
	}
	return d.Launched
}

// unreported is how long after its start a process is taken for what its Deployment launches although it has not reported itself. One that hangs
// for longer counts as what ran before.
const unreported = time.Minute

// touched returns the version of a daemon for the decision: what its Deployment launches if that is newer and has just started. Without that an
// image that was set by hand would be taken back before its process reports itself.
func (f *Facts) touched(c *Cluster, d *Daemon) versions.Version {
	runs := c.runs(d)
	if d.Pod == "" || d.Launched.IsZero() || d.Launched.Compare(runs) < 0 || f.Cluster.At().After(d.StartedAt.Add(unreported)) {
		return runs
	}
	return d.Launched
}

// started reports whether the daemon has started on the image of its Deployment. Of a gateway, which reports no version, only the pod shows
// that. Ceph has no report of a daemon that never started, and forgets that of a manager or a metadata server that is gone: such a daemon has
// not started if a container of its pod does not. Nor has one whose image an administrator set if that cannot be pulled: what Ceph reports is
// about the image from before.
func (c *Cluster) started(d *Daemon) bool {
	m, reported := c.metadata(d.Name)
	switch {
	case d.ByHand != "" && d.Unpulled:
		return false
	case d.Name.Type == ceph.TypeRGW:
		return d.Ready
	case !reported:
		return d.Trouble == nil && !d.Idle
	}
	return m.Version.Same(d.Launched)
}

// failing reports whether the daemon does not serve, because it never started on the image of its Deployment. An OSD that the map lacks was
// removed from Ceph: no image would start it.
func (c *Cluster) failing(d *Daemon) bool {
	serving, _, _ := c.role(d)
	_, known := c.osd(d.Name)
	return !serving && !c.started(d) && (known || d.Name.Type != ceph.TypeOSD)
}

// unstarted reports whether the daemon does not serve, and runs nothing in a pod of its Deployment, which the spec wants otherwise. It last
// ran the version of that Deployment: a start of the version by another pod is no other risk than the start that is awaited.
func (c *Cluster) unstarted(d *Daemon) bool {
	serving, _, _ := c.role(d)
	_, known := c.osd(d.Name)
	return !serving && d.Outdated && !d.Stopped && d.Pod == "" && c.runs(d).Same(d.Launched) && (known || d.Name.Type != ceph.TypeOSD)
}

// ailing reports whether the daemon does not serve on the version that it ran before: its container does not start, or has ended and runs again.
// One that crashes runs for seconds at a time.
func (c *Cluster) ailing(d *Daemon) bool {
	serving, _, _ := c.role(d)
	_, known := c.osd(d.Name)
	return !serving && (d.Trouble != nil || d.Restarted) && !d.Stopped && d.ByHand == "" && c.runs(d).Same(d.Launched) && (known || d.Name.Type != ceph.TypeOSD)
}

// role reports whether the daemon has its role, and whether it leads or follows another one. A metadata server that the monitors do not hear from
// may still lead: it has its rank, and does not serve.
func (c *Cluster) role(d *Daemon) (serving, leading, following bool) {
	id := d.Name.ID
	switch d.Name.Type {
	case ceph.TypeMon:
		return slices.Contains(c.Quorum.Members, id), c.Quorum.Leader == id, false
	case ceph.TypeMgr:
		leading = c.Managers.Active == id && c.Managers.Available
		return leading || slices.Contains(c.Managers.Standbys, id), leading, false
	case ceph.TypeOSD:
		o, mapped := c.osd(d.Name)
		return mapped && o.Up, false, false
	case ceph.TypeMDS:
		m, listed := c.mds(id)
		following = listed && m.State == ceph.MDSStandbyReplay
		leading = listed && m.Rank >= 0 && !following
		return listed && !m.Laggy && (m.State == ceph.MDSActive || m.State == ceph.MDSStandby || following), leading, following
	default:
		return d.Ready, false, false
	}
}

// mds returns the metadata server of a name, and false if the map has none.
func (c *Cluster) mds(name string) (ceph.MDS, bool) {
	all := slices.Clone(c.Filesystems.Standbys)
	for i := range c.Filesystems.Filesystems {
		all = append(all, c.Filesystems.Filesystems[i].MDS...)
	}
	at := slices.IndexFunc(all, func(m ceph.MDS) bool { return m.Name == name })
	if at < 0 {
		return ceph.MDS{}, false
	}
	return all[at], true
}

// osd returns the OSD of a name, and false if the map has none.
func (c *Cluster) osd(name ceph.Daemon) (ceph.OSD, bool) { return c.OSDs.Of(name) }

// filesystem returns the filesystem of a name; nil if there is none.
func (c *Cluster) filesystem(name string) *ceph.Filesystem {
	at := slices.IndexFunc(c.Filesystems.Filesystems, func(f ceph.Filesystem) bool { return f.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Filesystems.Filesystems[at]
}
