package cephupgrade_test

import (
	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

const (
	oldBuild = "ceph:v18@sha256:1"
	newBuild = "ceph:v18-2@sha256:2"
)

// build has the spec ask for an image by a new name.
func build(name, reference string) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Spec.Wanted.Name, f.Spec.Wanted.Reference = name, reference
	}
}

// runs has daemons run an image.
func runs(name, reference string, daemons ...ceph.Daemon) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		for _, d := range daemons {
			daemon(f, d).Image, daemon(f, d).Reference = name, reference
		}
	}
}

// replacesBuilds has the attempt replace the images.
func replacesBuilds(references ...string) change {
	return func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Builds = references }
}

// away has the maps show that a monitor or an OSD does not serve.
func away(name ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		outsideQuorum(name)(f, c, m)
		for i := range c.OSDs.OSDs {
			c.OSDs.OSDs[i].Up = c.OSDs.OSDs[i].Up && c.OSDs.OSDs[i].Daemon() != name
		}
	}
}

// unpulled has the image of a daemon that has started on it before not be pulled.
func unpulled(name ceph.Daemon) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		away(name)(f, c, m)
		one := daemon(f, name)
		one.Pod, one.Ready, one.Unpulled, one.Trouble = "", false, true, trouble("ImagePullBackOff")
	}
}

// together are several changes.
func together(changes ...change) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		for _, one := range changes {
			one(f, c, m)
		}
	}
}

// badBuild has a daemon run an image on which its container crashes. It runs again for seconds at a time.
func badBuild(name ceph.Daemon, image, reference string, running bool) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		runs(image, reference, name)(f, c, m)
		one := daemon(f, name)
		if one.Ready, one.Restarted = false, running; !running {
			one.Pod, one.Trouble = "", trouble("CrashLoopBackOff")
		}
		away(name)(f, c, m)
	}
}

// builds are requests for another build of the version that runs.
func builds() []row {
	const s = cu.SelectingDaemon
	all, none := runs("ceph:v18", oldBuild, everyone()...), cu.Upgrade{Attempt: "5f2c91a0", Named: []string{"ceph:v18-2"}}
	rebuilt := build("ceph:v18-2", newBuild)
	after := func(changes ...change) cu.Facts { // recorded
		return with(append([]change{all, rebuilt, recorded("ceph:v18-2"), replacesBuilds(oldBuild)}, changes...)...)
	}
	before := func(changes ...change) cu.Facts {
		return with(append([]change{all, rebuilt, func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Attempt = "00000001" }}, changes...)...)
	}
	records := func(name string, f cu.Facts, toward versions.Version, builds ...string) row {
		u := none
		u.Toward, u.Builds = toward, builds
		return row{Name: "recording: " + name, State: cu.RecordingHealth, Facts: f, Want: want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: u}}}}
	}
	picks := func(name string, f cu.Facts, d ceph.Daemon) row {
		data := replaces(d)
		return row{Name: "selecting: " + name, State: s, Facts: f, Want: want{Event: "daemon-selected", To: cu.AwaitingHealth, Data: &data}}
	}
	ended := cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Named: []string{"ceph:v18-2"}}
	to := decision.Image{Name: "ceph:v18-2", Reference: newBuild, Detected: true, Version: v18}
	hand := runs("ceph:hand", "ceph:hand", mgrB)
	newest := runs("ceph:v18-2", newBuild, everyone()...)
	crashes := func(d ceph.Daemon, running bool) change { return badBuild(d, "ceph:v18-2", newBuild, running) }
	withdrawn := func(bad change) cu.Facts { // the spec has the image from before again
		return with(all, build("ceph:v18", oldBuild), recorded("ceph:v18"), replacesBuilds(newBuild), bad)
	}
	third := func(changes ...change) cu.Facts {
		return with(append([]change{all, build("ceph:v18-3", "ceph:v18-3@sha256:3"), recorded("ceph:v18-3"), replacesBuilds(newBuild, oldBuild)}, changes...)...)
	}
	excused := func(name string, f cu.Facts, d ceph.Daemon) row {
		data := replaces(d)
		return row{Name: "health: " + name, State: cu.AwaitingHealth, Data: &data, Facts: f, Want: want{Event: "healthy", To: cu.AwaitingOkToStop, Data: &data}}
	}
	unhealthy := func(name string, f cu.Facts, d ceph.Daemon) row {
		data := replaces(d)
		return row{Name: "health: " + name, State: cu.AwaitingHealth, Data: &data, Facts: f, Want: want{WaitingFor: []string{"cluster-healthy"}}}
	}
	elsewhere := func(changes ...change) cu.Facts { // the spec has another name of the image
		return with(append([]change{all, build("ceph:v18-2", "ceph:v18-2@sha256:1"), recorded("ceph:v18-2")}, changes...)...)
	}
	monC := replaces(ceph.Daemon{Type: ceph.TypeMon, ID: "c"})
	return []row{
		picks("a monitor crashes on a build, and the spec has the one from before again", withdrawn(crashes(monB, false)), monB),
		picks("the container of that monitor runs for a moment", withdrawn(crashes(monB, true)), monB),
		picks("an OSD crashes on a build, and the spec has the one from before again", withdrawn(crashes(osd0, false)), osd0),
		picks("a monitor crashes on a build, and the spec has a third one", third(crashes(monB, false)), monB),
		picks("an OSD crashes on a build, and the spec has a third one", third(crashes(osd0, true)), osd0),
		picks("a monitor crashes on the build that the spec has", after(crashes(monB, false)), monC.Step.Daemon),
		{Name: "selecting: a monitor without a process for another reason is waited for", State: s, Facts: withdrawn(together(runs("ceph:v18-2", newBuild, monB), outsideQuorum(monB))), Want: want{WaitingFor: []string{"daemon-selected"}}},
		excused("a monitor that crashes on a build is replaced", withdrawn(together(crashes(monB, true), raised("MON_DOWN"))), monB),
		excused("an OSD that crashes on a build is replaced", withdrawn(together(crashes(osd0, false), raised("OSD_DOWN"))), osd0),
		unhealthy("a monitor that crashes on the build that the spec has", after(crashes(monB, false), raised("MON_DOWN")), monC.Step.Daemon),
		goes("settled: another build", cu.Settled, before(), "upgrade-due", cu.Preflight),
		goes("settled: the end of a change to another build is not recorded", cu.Settled, after(newest), "upgrade-due", cu.Preflight),
		goes("preflight: another build of the only manager", cu.Preflight, before(gone(mgrB)), "refused", cu.Refusing),
		records("another build", before(), versions.Version{}, oldBuild),
		records("another name of the same content", before(build("ceph:v18-2", "ceph:v18-2@sha256:1")), versions.Version{}),
		records("an image without a digest", before(runs("ceph:v18", "ceph:v18", everyone()...)), versions.Version{}, "ceph:v18"),
		records("an image that was set by hand before", before(hand), versions.Version{}, "ceph:hand", oldBuild),
		records("an image of the wanted version that was set by hand before an upgrade", before(hand, old(osd0)), v18, oldBuild),
		records("nothing of an earlier record is known", with(all, rebuilt, unrecorded), versions.Version{}),
		records("the attempt before was lost", after(func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Attempt = "00000001" }), versions.Version{}, oldBuild),
		records("another build comes before the last one is everywhere", before(recorded("ceph:v18-1"), replacesBuilds("ceph:v18-0@sha256:0"), runs("ceph:v18-1", "ceph:v18-1@sha256:7", monB)), versions.Version{}, "ceph:v18-1@sha256:7", oldBuild),
		{Name: "recording: a third build comes while an upgrade goes on and the second one is half way", State: cu.RecordingHealth,
			Facts: third(runs("ceph:v18-2", newBuild, monB), old(osd0), hand, recorded("ceph:v18-2"), replacesBuilds(oldBuild), func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Attempt = "00000001" }),
			Want:  want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Named: []string{"ceph:v18-3"}, Builds: []string{newBuild, oldBuild}}}}}},
		picks("another build", after(), monB),
		picks("the next daemon of the old build", after(runs("ceph:v18-2", newBuild, monB)), ceph.Daemon{Type: ceph.TypeMon, ID: "c"}),
		picks("the components of a policy have a build of their own", after(runs("ceph:v18", oldBuild, everyone()...), func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
			old(osd0, osd1, rgw, mdsA, mdsB)(f, c, m)
			f.Spec.Policy = &decision.Policy{Image: to, Components: []ceph.Type{ceph.TypeMon, ceph.TypeMgr}}
			f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: v16}
			m.Upgrade.Named = []string{"ceph:v16", "ceph:v18-2"}
		}), monB),
		goes("selecting: an image that was set by hand later stays", s, after(newest, hand, replacesBuilds()), "upgraded", cu.Settled),
		goes("selecting: a tag that was moved", s, with(runs("ceph:v18", oldBuild, everyone()...), build("ceph:v18", "ceph:v18@sha256:2")), "upgraded", cu.Settled),
		{Name: "selecting: the last daemon has the build", State: s, Facts: after(newest), Want: want{WaitingFor: []string{"daemon-selected"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: ended}}}},
		picks("a daemon that cannot pull its image any more, by another name of it", with(all, build("ceph:v18-2", "ceph:v18-2@sha256:1"), recorded("ceph:v18-2"), unpulled(monB)), monB),
		excused("daemons of several types are corrected one after the other", elsewhere(unpulled(monB), unpulled(osd0), raised("OSD_DOWN")), monB),
		unhealthy("another daemon is down for another reason", elsewhere(unpulled(monB), away(osd0), raised("OSD_DOWN")), monB),
		unhealthy("the selected daemon serves", after(away(osd0), raised("OSD_DOWN")), monB),
		{Name: "selecting: it is not replaced by the name that it has", State: s, Facts: with(old(monB), runs("ceph:v18", oldBuild, monB), unpulled(monB)), Want: want{WaitingFor: []string{"daemon-selected"}}},
	}
}
