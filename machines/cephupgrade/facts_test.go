package cephupgrade_test

import (
	"errors"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row    = machinetest.Row[cu.Facts, cu.Data, cu.Effect]
	want   = machinetest.Want[cu.Data, cu.Effect]
	change = func(f *cu.Facts, c *cu.Cluster, m *cu.Memory)
)

var (
	v16       = versions.Version{Major: 16, Minor: 2, Patch: 15}
	v18       = versions.Version{Major: 18, Minor: 2, Patch: 7}
	errSilent = errors.New("the ceph command ended with exit code 1: timed out")
	mgrA      = ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}
	mgrB      = ceph.Daemon{Type: ceph.TypeMgr, ID: "b"}
	monB      = ceph.Daemon{Type: ceph.TypeMon, ID: "b"}
	osd0      = ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	osd1      = ceph.Daemon{Type: ceph.TypeOSD, ID: "1"}
	rgw       = ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"}
	mdsA      = ceph.Daemon{Type: ceph.TypeMDS, ID: "myfs-a"}
	mdsB      = ceph.Daemon{Type: ceph.TypeMDS, ID: "myfs-b"}
)

func replaces(d ceph.Daemon) cu.Data {
	return cu.Data{Step: order.Step{Kind: order.Replace, Daemon: d}}
}
func stops(d ceph.Daemon) cu.Data { return cu.Data{Step: order.Step{Kind: order.Stop, Daemon: d}} }

var (
	failsOver = cu.Data{Step: order.Step{Kind: order.Failover, Daemon: mgrA}}
	reduces   = cu.Data{Step: order.Step{Kind: order.Reduce, Filesystem: "myfs"}}
)

// with returns the facts of a cluster that runs 18.2.7 as desired, with the changes.
func with(changes ...change) cu.Facts {
	d, err := cu.Domain()
	if err != nil {
		panic(err) // the embedded table is tested where it is
	}
	f := d.Base()
	c, _ := f.Cluster.Get()
	m, _ := f.Memory.Get()
	at := f.Cluster.At()
	for _, one := range changes {
		one(&f, &c, &m)
	}
	if _, known := f.Cluster.Get(); known {
		if f.Cluster.At().Before(at) {
			at = f.Cluster.At()
		}
		f.Cluster = transitions.Known(c, at)
	}
	if _, known := f.Memory.Get(); known {
		f.Memory = transitions.Known(m, at)
	}
	return f
}

// trouble is a container that does not start.
func trouble(message string) *transitions.Problem {
	return &transitions.Problem{Reason: "ContainerFailed", Message: message}
}

func daemon(f *cu.Facts, name ceph.Daemon) *cu.Daemon {
	return &f.Daemons[slices.IndexFunc(f.Daemons, func(d cu.Daemon) bool { return d.Name == name })]
}

// old makes daemons run 16.2.15.
func old(names ...ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		for _, name := range names {
			daemon(f, name).Launched, daemon(f, name).Newest = v16, v16
			for i := range c.Metadata {
				if c.Metadata[i].Daemon == name {
					c.Metadata[i].Version = v16
				}
			}
			if name.Type == ceph.TypeOSD {
				c.OSDs.RequireRelease = "pacific"
			}
		}
	}
}

// launched has a Deployment of 18.2.7, and its process has not started yet.
func launched(name ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		old(name)(f, c, m)
		daemon(f, name).Launched = v18
	}
}

func mapsSilent(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Cluster = transitions.Unreadable[cu.Cluster](errSilent)
}
func keysSilent(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Memory = transitions.Unreadable[cu.Memory](errSilent)
}
func selfSilent(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Self = transitions.Unreadable[versions.Version](errSilent)
}
func healthSilent(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Health = transitions.Unreadable[ceph.Health](errSilent)
}
func askingFails(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Permission = transitions.Unreadable[ceph.OKToStop](errSilent)
}
func sessionsSilent(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Orphans = transitions.Unreadable[[]int64](errSilent)
}
func undetected(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Detected = false }
func refused(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Spec.Wanted.Problem = transitions.Problemf("ImageNotFound", "the image ceph:v18 cannot be pulled")
}
func removed(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	old(mgrA, mgrB)(f, c, m)
	f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: v16}
}

// development has the daemons launched on a build without a version; those that are named run it.
func development(names ...ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		f.Spec.Wanted = decision.Image{Name: "ceph:dev", Detected: true, AllowUnsupported: true}
		for _, name := range names {
			daemon(f, name).Image, daemon(f, name).Launched = "ceph:dev", versions.Version{}
			for i := range c.Metadata {
				if c.Metadata[i].Daemon == name {
					c.Metadata[i].Version, c.Metadata[i].Unversioned = versions.Version{}, true
				}
			}
		}
	}
}

// everyone are all daemons.
func everyone() (names []ceph.Daemon) {
	f := with()
	for i := range f.Daemons {
		names = append(names, f.Daemons[i].Name)
	}
	return names
}

func unnamed(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted = decision.Image{} }
func policy(f *cu.Facts, c *cu.Cluster, m *cu.Memory)  { policyTo(ceph.TypeMon)(f, c, m) }

// policyTo is a policy that has the types change to 18.2.7, and the others stay.
func policyTo(types ...ceph.Type) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Spec.Policy = &decision.Policy{Image: f.Spec.Wanted, Components: types}
		f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: v16}
	}
}
func onlyMonitors(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	old(mgrA, mgrB, osd0, osd1, rgw, mdsA, mdsB)(f, c, m)
	policy(f, c, m)
}
func oldAll(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	for _, d := range f.Daemons {
		old(d.Name)(f, c, m)
	}
}

// earlier is the record of an earlier attempt.
func earlier(toward versions.Version) change {
	return func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) {
		m.Upgrade = cu.Upgrade{Attempt: "00000001", Toward: toward, Codes: []string{"TEST_BEFORE"}}
	}
}
func unrecorded(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade = cu.Upgrade{} }
func unrequired(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.RequireRelease = "pacific" }
func noOut(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory)      { c.OSDs.OSDs[0].NoOut = true }
func ours(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory)       { m.NoOut = []string{"0"} }
func unclean(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
	c.PGs.States = map[string]int{"active+undersized": 1}
}
func twoActive(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
	c.Filesystems.Filesystems[0].MaxMDS = 2
	c.Filesystems.Standbys = nil
	c.Filesystems.Filesystems[0].MDS = append(c.Filesystems.Filesystems[0].MDS, ceph.MDS{Name: "myfs-b", Rank: 1, State: ceph.MDSActive})
}
func settings(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) {
	m.Settings = []cu.Settings{{Filesystem: "myfs", MaxMDS: 2}}
}
func leadsB(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
	c.Managers.Active, c.Managers.Standbys = "b", []string{"a"}
}
func orphaned(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	f.Orphans = transitions.Known([]int64{7}, f.Health.At())
}
func stale(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	for i := range f.Daemons {
		f.Daemons[i].StartedAt = f.Cluster.At().Add(-time.Second)
	}
}
func future(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
	for i := range f.Daemons {
		f.Daemons[i].StartedAt = f.Cluster.At().Add(time.Second)
	}
}

// setByHand has the Deployment of an OSD have an unknown image, which does not start.
func setByHand(unpulled bool) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		one := daemon(f, osd0)
		one.ByHand, one.Pod, one.Unpulled, one.Trouble = "ceph:rebuilt", "", unpulled, trouble("ImagePullBackOff")
	}
}

// podDiffers has the spec want another pod of the daemon.
func podDiffers(name ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, name).Outdated = true }
}

// notReady has a pod in which nothing runs.
func notReady(name ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		daemon(f, name).Ready, daemon(f, name).Pod = false, ""
	}
}

// started: every daemon started that long before the reading.
func started(before time.Duration) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		for i := range f.Daemons {
			f.Daemons[i].StartedAt = f.Cluster.At().Add(-before)
		}
	}
}
func electedWithin(age time.Duration) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.Quorum.Age = age }
}

// formerPod has the daemon report the pod that it had before.
func formerPod(name ceph.Daemon) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.Metadata = slices.Clone(c.Metadata)
		for i := range c.Metadata {
			if c.Metadata[i].Daemon == name {
				c.Metadata[i].Pod = "before"
			}
		}
	}
}

// restarted: the container of the daemon ran in its pod before.
func restarted(name ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, name).Restarted = true }
}

// outsideQuorum has the other monitors be the quorum.
func outsideQuorum(monitor ceph.Daemon) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.Quorum.Members = slices.DeleteFunc(slices.Clone(c.Quorum.Members), func(id string) bool { return id == monitor.ID })
	}
}
func podless(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd0).Pod = "" }

// purged: the OSD map lacks the OSD.
func purged(osd ceph.Daemon) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.OSDs.OSDs = slices.DeleteFunc(slices.Clone(c.OSDs.OSDs), func(o ceph.OSD) bool { return o.Daemon() == osd })
	}
}

// crashing: the container of the daemon does not start.
func crashing(name ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		daemon(f, name).Pod, daemon(f, name).Trouble = "", trouble("CrashLoopBackOff")
	}
}

// fresh: the first OSD was never in.
func fresh(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs[0].New = true }

// silent: Ceph has no report of the daemon.
func silent(name ceph.Daemon) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.Metadata = slices.DeleteFunc(slices.Clone(c.Metadata), func(m ceph.Metadata) bool { return m.Daemon == name })
	}
}
func gone(name ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Daemons = slices.DeleteFunc(f.Daemons, func(d cu.Daemon) bool { return d.Name == name })
	}
}
func halted(name ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		daemon(f, name).Stopped = true
		c.Filesystems.Standbys = nil
	}
}
func down(out bool) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs[0].Up, c.OSDs.OSDs[0].In = false, !out }
}

// outTogether: both OSDs were taken out, and their pods do not start.
func outTogether(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
	for i, name := range []ceph.Daemon{osd0, osd1} {
		c.OSDs.OSDs[i].Up, c.OSDs.OSDs[i].In = false, false
		one := daemon(f, name)
		one.Ready, one.Pod, one.Trouble = false, "", trouble("Unschedulable: node(s) had untolerated taint")
	}
}
func raised(code string) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Health = transitions.Known(ceph.Health{Status: ceph.HealthWarn, Checks: []ceph.Check{{Code: code, Severity: ceph.HealthWarn}}}, f.Health.At())
	}
}
func answers(p ceph.Permission) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Permission = transitions.Known(ceph.OKToStop{Permission: p}, f.Health.At())
	}
}
func reports(v versions.Version) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Self = transitions.Known(v, f.Health.At()) }
}

func goes(name, state string, f cu.Facts, event, to string) row {
	return row{Name: name, State: state, Facts: f, Want: want{Event: event, To: to}}
}

func stays(name, state string, f cu.Facts, waiting ...string) row {
	return row{Name: name, State: state, Facts: f, Want: want{WaitingFor: waiting}}
}

// commanding is a command that is under way, or ended some time after the reading.
func commanding(underWay bool, after time.Duration) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		if f.Command.UnderWay = underWay; !underWay {
			f.Command.Ended = f.Cluster.At().Add(after)
		}
	}
}
