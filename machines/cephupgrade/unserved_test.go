package cephupgrade_test

import (
	cu "github.com/detent-dev/detent/machines/cephupgrade"
)

// neverServed has the second OSD be new, down and without a report, in a pod that does not start.
func neverServed(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	crashing(osd1)(f, c, m)
	silent(osd1)(f, c, m)
	daemon(f, osd1).Ready = false
	c.OSDs.OSDs[1].New, c.OSDs.OSDs[1].Up, c.OSDs.OSDs[1].In = true, false, false
}

// unserved are clusters with an OSD that never served: it has no data, and excuses nothing of the others.
func unserved() []row {
	in := func(state, name string, d cu.Data, f cu.Facts, w want) row {
		return row{Name: state + ": " + name, State: state, Data: &d, Facts: f, Want: w}
	}
	const health, await = cu.AwaitingHealth, cu.AwaitingDaemon
	first, second := replaces(osd0), replaces(osd1)
	unhealthy, healthy := want{WaitingFor: []string{"cluster-healthy"}}, want{Event: "healthy", To: cu.AwaitingOkToStop, Data: &second}
	back, waits := want{Event: "daemon-back", To: cu.SelectingDaemon}, want{WaitingFor: []string{"daemon-back"}}
	failing := func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		launched(osd1)(f, c, m)
		crashing(osd1)(f, c, m)
		c.OSDs.OSDs[1].Up = false
	}
	idle := func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		neverServed(f, c, m)
		daemon(f, osd1).Trouble, daemon(f, osd1).Idle = nil, true
	}
	scaled := func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		daemon(f, osd0).Idle, daemon(f, osd0).Stopped = true, true
	}
	renamed := together(runs("ceph:v18", oldBuild, osd1), runs("ceph:v18-2", "ceph:v18-2@sha256:1", osd0), build("ceph:v18-2", "ceph:v18-2@sha256:1"), recorded("ceph:v18-2"))
	lost := want{Event: "osd-lost", To: cu.SelectingDaemon}
	return []row{
		in(await, "nothing runs in its pod, and nothing says why", second, with(idle), lost),
		in(await, "an administrator scaled it to zero", second, with(idle, func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd1).Stopped = true }), lost),
		in(await, "its Deployment is refused", second, with(neverServed, gone(osd1)), lost),
		in(await, "nothing runs in the pod of an OSD that was taken out", first, with(down(true), podless, func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd0).Idle = true }), lost),
		in(await, "an administrator scaled an OSD with data to zero", first, with(down(true), podless, scaled), waits),
		{Name: "selecting: it is replaced although nothing says why it does not start", State: cu.SelectingDaemon, Facts: with(old(osd1), idle), Want: want{Event: "daemon-selected", To: health, Data: &second}},
		goes("selecting: its Deployment is missing", cu.SelectingDaemon, with(unrequired, neverServed, lostDeployment(osd1, true)), "osds-upgraded", cu.RequiringRelease),
		in(await, "another OSD that has served does not start", first, with(unclean, failing), back),
		in(await, "another OSD that never served does not start", first, with(neverServed), back),
		in(await, "the placement groups are not clean, and another OSD never served", first, with(unclean, neverServed), waits),
		in(await, "that OSD is replaced next", first, with(unclean, neverServed, podDiffers(osd1)), back),
		in(await, "whether it is replaced next is not known", first, with(unclean, neverServed, podDiffers(osd1), keysSilent), waits),
		in(await, "another daemon is replaced next", first, with(unclean, neverServed, podDiffers(osd1), podDiffers(mgrB), notReady(mgrB), func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.Managers.Standbys = nil }), waits),
		in(await, "another OSD cannot pull its image, of which the spec has another name", first, with(unclean, renamed, unpulled(osd1)), back),
		in(await, "the spec has the name that cannot be pulled", first, with(unclean, unpulled(osd1)), waits),
		in(await, "another OSD crashes on a build, and the spec has the one from before again", first, with(unclean, build("ceph:v18", oldBuild), runs("ceph:v18", oldBuild, everyone()...), replacesBuilds(newBuild), badBuild(osd1, "ceph:v18-2", newBuild, true)), back),
		in(await, "another OSD is down for another reason", first, with(unclean, renamed, func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs[1].Up = false }), waits),
		in(health, "placement groups are not available, and another OSD never served", first, with(old(osd0), neverServed, raised("PG_AVAILABILITY")), unhealthy),
		in(health, "an OSD is down, and another one never served", first, with(old(osd0), neverServed, raised("OSD_DOWN")), unhealthy),
		in(health, "the OSD that never served is selected", second, with(old(osd1), neverServed, raised("OSD_DOWN")), healthy),
	}
}
