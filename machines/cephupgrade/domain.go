package cephupgrade

import (
	"errors"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

var errDomainSilent = errors.New("the ceph command ended with exit code 1: timed out")

const domainAttempt = "5f2c91a0"

// Domain returns the domain over which the machine is verified: a cluster with one filesystem and one gateway changes from 16.2.15 to
// 18.2.7. It fails only if the binary contains an invalid table of releases.
func Domain() (domain.Domain[Facts, Data], error) {
	table, err := versions.Embedded()
	if err != nil {
		return domain.Domain[Facts, Data]{}, err
	}
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	return domain.Domain[Facts, Data]{
		Base:       func() Facts { return domainFacts(table, now) },
		Dimensions: domainDimensions(now),
		Data:       domainData,
		Enter:      func(f *Facts, entry *lifecyclev1.Lifecycle) { f.Attempt = entry.Attempt },
		Held:       domainHeld,
	}, nil
}

func domainHeld(f *Facts) (held []string) {
	m, _ := f.Memory.Get()
	if len(m.NoOut) > 0 {
		held = append(held, NoOut)
	}
	if len(m.Settings) > 0 {
		held = append(held, FilesystemSettings)
	}
	if slices.ContainsFunc(f.Daemons, func(d Daemon) bool { return d.Stopped && d.Name.Type == ceph.TypeMDS }) {
		held = append(held, StoppedStandbys)
	}
	return held
}

func domainData(state string) []Data {
	osd, mds := order.Step{Kind: order.Replace, Daemon: ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}}, ceph.Daemon{Type: ceph.TypeMDS, ID: "myfs-a"}
	failover := order.Step{Kind: order.Failover, Daemon: ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}}
	switch state {
	case AwaitingHealth, AwaitingOkToStop, PreparingDaemon, ReplacingDaemon:
		return []Data{{Step: osd}, {Step: failover}, {Step: order.Step{Kind: order.Replace, Daemon: mds}}, {Step: order.Step{Kind: order.Reduce, Filesystem: "myfs"}}}
	case AwaitingDaemon:
		return []Data{{Step: osd}, {Step: order.Step{Kind: order.Stop, Daemon: mds}}}
	}
	return []Data{{}}
}

// domainFacts returns a cluster in which every daemon is as desired.
func domainFacts(table *versions.Table, now time.Time) Facts {
	target := versions.Version{Major: 18, Minor: 2, Patch: 7}
	f := Facts{
		Spec:    decision.Situation{Table: table, Wanted: decision.Image{Name: "ceph:v18", Detected: true, Version: target}},
		Attempt: &lifecyclev1.Attempt{ID: domainAttempt},
		Health:  transitions.Known(ceph.Health{Status: ceph.HealthOK}, now), Permission: transitions.Known(ceph.OKToStop{Permission: ceph.Permitted}, now),
		Self: transitions.Known(target, now), Memory: transitions.Known(Memory{Upgrade: Upgrade{Attempt: domainAttempt, Toward: target, Named: []string{"ceph:v18"}}}, now),
		Orphans: transitions.Known([]int64(nil), now),
	}
	c := Cluster{
		Quorum:   ceph.Quorum{Leader: "a", Members: []string{"a", "b", "c"}, Monitors: []string{"a", "b", "c"}, MinRelease: 16},
		Managers: ceph.Managers{Active: "a", Available: true, Standbys: []string{"b"}},
		OSDs:     ceph.OSDMap{RequireRelease: "reef", OSDs: []ceph.OSD{{Number: 0, Up: true, In: true}, {Number: 1, Up: true, In: true}}},
		PGs:      ceph.PGs{Total: 1, States: map[string]int{"active+clean": 1}},
		Filesystems: ceph.Filesystems{
			Filesystems: []ceph.Filesystem{{Name: "myfs", ID: 1, MaxMDS: 1, MDS: []ceph.MDS{{Name: "myfs-a", State: ceph.MDSActive}}}},
			Standbys:    []ceph.MDS{{Name: "myfs-b", Rank: -1, State: ceph.MDSStandby}},
		},
	}
	for _, name := range []ceph.Daemon{
		{Type: ceph.TypeMon, ID: "a"}, {Type: ceph.TypeMon, ID: "b"}, {Type: ceph.TypeMon, ID: "c"}, {Type: ceph.TypeMgr, ID: "a"}, {Type: ceph.TypeMgr, ID: "b"},
		{Type: ceph.TypeOSD, ID: "0"}, {Type: ceph.TypeOSD, ID: "1"}, {Type: ceph.TypeRGW, ID: "store.a"}, {Type: ceph.TypeMDS, ID: "myfs-a"}, {Type: ceph.TypeMDS, ID: "myfs-b"},
	} {
		d := Daemon{Name: name, Image: "ceph:v18", Launched: target, Newest: target, Ready: true, Pod: name.String(), StartedAt: now.Add(-time.Hour)}
		if name.Type == ceph.TypeMDS {
			d.Filesystem = "myfs"
		}
		f.Daemons = append(f.Daemons, d)
		if name.Type != ceph.TypeRGW {
			c.Metadata = append(c.Metadata, ceph.Metadata{Daemon: name, Version: target, Pod: d.Pod})
		}
	}
	f.Cluster = transitions.Known(c, now)
	return f
}

// domainOld puts daemons back to the version from which the cluster changes.
func domainOld(f *Facts, types ...ceph.Type) {
	old := versions.Version{Major: 16, Minor: 2, Patch: 15}
	c, _ := f.Cluster.Get()
	for i := range f.Daemons {
		d := &f.Daemons[i]
		if !slices.Contains(types, d.Name.Type) {
			continue
		}
		d.Launched, d.Newest = old, old
		for n := range c.Metadata {
			if c.Metadata[n].Daemon == d.Name {
				c.Metadata[n].Version = old
			}
		}
	}
	if slices.Contains(types, ceph.TypeOSD) {
		c.OSDs.RequireRelease = "pacific"
	}
	f.Cluster = transitions.Known(c, f.Cluster.At())
}

func domainDimensions(now time.Time) []domain.Dimension[Facts] {
	type value = domain.Value[Facts]
	set := func(name string, change func(f *Facts)) value { return value{Name: name, Set: change} }
	cluster := func(name string, change func(f *Facts, c *Cluster)) value {
		return set(name, func(f *Facts) {
			c, _ := f.Cluster.Get()
			change(f, &c)
			f.Cluster = transitions.Known(c, now)
		})
	}
	memory := func(name string, change func(m *Memory)) value {
		return set(name, func(f *Facts) {
			m, _ := f.Memory.Get()
			change(&m)
			f.Memory = transitions.Known(m, now)
		})
	}
	old := func(name string, types ...ceph.Type) value {
		return set(name, func(f *Facts) { domainOld(f, types...) })
	}
	return []domain.Dimension[Facts]{
		domain.Of(value{}, old("everything old", ceph.Types()...), old("OSDs and later old", ceph.TypeOSD, ceph.TypeRGW, ceph.TypeMDS),
			old("metadata servers old", ceph.TypeMDS), old("all but the monitors old", ceph.TypeMgr, ceph.TypeOSD, ceph.TypeRGW, ceph.TypeMDS),
			cluster("the release not required", func(_ *Facts, c *Cluster) { c.OSDs.RequireRelease = "pacific" }),
			cluster("osd.0 down in a pod that does not start and is to be another one", func(f *Facts, c *Cluster) {
				one := f.find(ceph.Daemon{Type: ceph.TypeOSD, ID: "0"})
				one.Outdated, one.Pod, one.Ready, c.OSDs.OSDs[0].Up = true, "", false, false
			}),
			cluster("osd.0 old, down and out, in a pod that does not start", func(f *Facts, c *Cluster) {
				old := versions.Version{Major: 16, Minor: 2, Patch: 15}
				at := slices.IndexFunc(f.Daemons, func(d Daemon) bool { return d.Name.Type == ceph.TypeOSD })
				f.Daemons[at].Launched, c.Metadata[at].Version = old, old
				f.Daemons[at].Pod, f.Daemons[at].Ready, f.Daemons[at].Trouble = "", false, transitions.Problemf("CrashLoopBackOff", "CrashLoopBackOff")
				c.OSDs.RequireRelease, c.OSDs.OSDs[0].Up, c.OSDs.OSDs[0].In = "pacific", false, false
			})),
		domain.Of(value{}, cluster("two metadata servers active", func(_ *Facts, c *Cluster) { c.Filesystems.Filesystems[0].MaxMDS = 2 }),
			cluster("noout set", func(_ *Facts, c *Cluster) { c.OSDs.OSDs[0].NoOut = true }),
			set("the maps cannot be read", func(f *Facts) { f.Cluster = transitions.Unreadable[Cluster](errDomainSilent) })),
		domain.Of(value{}, memory("no record", func(m *Memory) { m.Upgrade = Upgrade{} }), memory("noout recorded", func(m *Memory) { m.NoOut = []string{"0"} }),
			memory("settings recorded", func(m *Memory) { m.Settings = []Settings{{Filesystem: "myfs", MaxMDS: 2}} }),
			set("a standby stopped", func(f *Facts) { f.Daemons[len(f.Daemons)-1].Stopped = true }),
			set("the keys cannot be read", func(f *Facts) { f.Memory = transitions.Unreadable[Memory](errDomainSilent) })),
		domain.Of(value{}, set("the image not detected", func(f *Facts) { f.Spec.Wanted.Detected = false }),
			set("the spec refused", func(f *Facts) {
				f.Spec.Wanted.Problem = transitions.Problemf("ImageNotFound", "the image ceph:v18 cannot be pulled")
			}),
			set("the policy for monitors", func(f *Facts) {
				f.Spec.Policy = &decision.Policy{Image: f.Spec.Wanted, Components: []ceph.Type{ceph.TypeMon}}
				f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: versions.Version{Major: 16, Minor: 2, Patch: 15}}
			}),
			set("an older image", func(f *Facts) {
				f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: versions.Version{Major: 16, Minor: 2, Patch: 15}}
			})),
		domain.Of(value{}, set("a stop", func(f *Facts) {
			f.Health = transitions.Known(ceph.Health{Status: ceph.HealthWarn, Checks: []ceph.Check{{Code: "MON_DOWN", Severity: ceph.HealthWarn}}}, now)
		}), set("the health cannot be read", func(f *Facts) { f.Health = transitions.Unreadable[ceph.Health](errDomainSilent) }),
			set("Ceph denies", func(f *Facts) {
				f.Permission, f.Self = transitions.Known(ceph.OKToStop{Permission: ceph.Denied}, now), transitions.Unreadable[versions.Version](errDomainSilent)
			}),
			set("an ended client", func(f *Facts) { f.Orphans = transitions.Known([]int64{7}, now) })),
	}
}
