//test:norace
package cephupgrade_test

import (
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/machinetest"
)

func resting() []row {
	return []row{
		stays("settled: every daemon is as desired", cu.Settled, with()),
		goes("settled: an image is not known", cu.Settled, with(undetected), "image-unknown", cu.DetectingVersion),
		goes("settled: a daemon is older", cu.Settled, with(old(monB)), "upgrade-due", cu.Preflight),
		goes("settled: a pod differs", cu.Settled, with(podDiffers(monB)), "upgrade-due", cu.Preflight),
		goes("settled: a flag is left", cu.Settled, with(ours, noOut), "upgrade-due", cu.Preflight),
		goes("settled: no attempt recorded what the spec asks for", cu.Settled, with(unrecorded), "upgrade-due", cu.Preflight),
		stays("settled: the spec asks for nothing", cu.Settled, with(unrecorded, unnamed)),
		goes("settled: several versions run, and the spec names none", cu.Settled, with(old(monB), unnamed), "upgrade-due", cu.Preflight),
		stays("settled: one version runs, and the spec names none", cu.Settled, with(unnamed)),
		stays("settled: a development build runs", cu.Settled, with(development(everyone()...), recorded("ceph:dev"))),
		goes("settled: a development build is wanted", cu.Settled, with(development(monB)), "upgrade-due", cu.Preflight),
		stays("settled: the cluster is silent", cu.Settled, with(mapsSilent), "upgrade-due"),
		stays("settled: the keys cannot be read", cu.Settled, with(keysSilent), "upgrade-due"),

		{Name: "detecting: the image runs once", State: cu.DetectingVersion, Facts: with(undetected), Want: want{WaitingFor: []string{"versions-detected"}, Effects: []cu.Effect{{Verb: cu.Detect, Image: "ceph:v18"}}}},
		goes("detecting: the version is known", cu.DetectingVersion, with(), "detected", cu.Preflight),
		goes("detecting: it cannot be detected", cu.DetectingVersion, with(undetected, refused), "detected", cu.Preflight),

		goes("preflight: another image", cu.Preflight, with(undetected), "image-unknown", cu.DetectingVersion),
		goes("preflight: refused", cu.Preflight, with(refused), "refused", cu.Refusing),
		goes("preflight: the policy was removed", cu.Preflight, with(removed), "held", cu.PolicyRemoved),
		goes("preflight: the version was removed half way", cu.Preflight, with(old(monB), unnamed), "held", cu.PolicyRemoved),
		goes("preflight: a development build is left for a release", cu.Preflight, with(development(monB), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
			f.Spec.Wanted = decision.Image{Name: "ceph:v18", Detected: true, Version: v18}
		}), "refused", cu.Refusing),
		goes("preflight: so is one that never reported itself", cu.Preflight, with(func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
			daemon(f, monB).Image, daemon(f, monB).Launched = "ceph:dev", versions.Version{}
		}), "refused", cu.Refusing),
		goes("preflight: the change was withdrawn", cu.Preflight, with(), "nothing-due", cu.Settled),
		goes("preflight: permitted", cu.Preflight, with(old(monB)), "permitted", cu.RecordingHealth),
		stays("preflight: the cluster is silent", cu.Preflight, with(mapsSilent), "change-permitted"),

		stays("refused: still", cu.Refusing, with(refused), "spec-acceptable"),
		goes("refused: corrected", cu.Refusing, with(), "corrected", cu.Preflight),
		stays("refused: the cluster is silent", cu.Refusing, with(mapsSilent), "spec-acceptable"),
		stays("policy removed: still", cu.PolicyRemoved, with(removed), "spec-consistent"),
		stays("policy removed: the version, too", cu.PolicyRemoved, with(old(monB), unnamed), "spec-consistent"),
		goes("policy removed: corrected", cu.PolicyRemoved, with(), "corrected", cu.Preflight),
		stays("policy removed: the cluster is silent", cu.PolicyRemoved, with(mapsSilent), "spec-consistent"),

		goes("refused: a flag is left", cu.Refusing, with(refused, ours), "something-kept", cu.SelectingDaemon),
		goes("refused: settings are left", cu.Refusing, with(refused, settings), "something-kept", cu.SelectingDaemon),
		goes("refused: a stopped standby is left", cu.Refusing, with(refused, halted(mdsB)), "something-kept", cu.SelectingDaemon),
		stays("refused: a filesystem of several versions stays reduced", cu.Refusing, with(refused, settings, old(mdsB)), "spec-acceptable"),
		goes("policy removed: a flag is left", cu.PolicyRemoved, with(removed, ours, noOut), "something-kept", cu.SelectingDaemon),

		{Name: "recording: the codes are stored", State: cu.RecordingHealth, Facts: with(old(monB), unrecorded, raised("MON_DISK_LOW")), Want: want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Codes: []string{"MON_DISK_LOW"}, Named: []string{"ceph:v18"}}}}}},
		{Name: "recording: what was raised before the first daemon changed stays", State: cu.RecordingHealth, Facts: with(old(monB), earlier(v18), raised("TEST_LATER")), Want: want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Codes: []string{"TEST_BEFORE"}, Named: []string{"ceph:v18"}}}}}},
		{Name: "recording: an earlier attempt changed to another version", State: cu.RecordingHealth, Facts: with(old(monB), earlier(v16), raised("TEST_LATER")), Want: want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Codes: []string{"TEST_LATER"}, Named: []string{"ceph:v18"}}}}}},
		{Name: "recording: no daemon has changed yet", State: cu.RecordingHealth, Facts: with(oldAll, earlier(v18), raised("TEST_LATER")), Want: want{WaitingFor: []string{"attempt-recorded"}, Effects: []cu.Effect{{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Codes: []string{"TEST_LATER"}, Named: []string{"ceph:v18"}}}}}},
		stays("recording: the health cannot be read", cu.RecordingHealth, with(old(monB), unrecorded, healthSilent), "attempt-recorded"),
		goes("recording: stored", cu.RecordingHealth, with(old(monB)), "recorded", cu.SelectingDaemon),
		stays("recording: the keys cannot be read", cu.RecordingHealth, with(old(monB), keysSilent), "attempt-recorded"),

		goes("dead OSD: it is back", cu.DeadOSD, with(old(osd0)), "revived", cu.Preflight),
		stays("dead OSD: still", cu.DeadOSD, with(old(osd0), down(true)), "not(osd-stuck)"),
		goes("dead OSD: the spec corrects the pods of two", cu.DeadOSD, with(podDiffers(osd0), podDiffers(osd1), outTogether), "revived", cu.Preflight),
		goes("dead OSD: a flag is left", cu.DeadOSD, with(old(osd0), down(true), ours, noOut), "revived", cu.Preflight),
		stays("dead OSD: the cluster is silent", cu.DeadOSD, with(mapsSilent), "not(osd-stuck)"),
		stays("awaiting an admin: still", cu.AwaitingAdmin, with(onlyMonitors), "not(policy-satisfied)"),
		goes("awaiting an admin: more is asked for", cu.AwaitingAdmin, with(old(mdsB)), "go-on", cu.Preflight),
		goes("awaiting an admin: a flag is left", cu.AwaitingAdmin, with(onlyMonitors, ours, noOut), "go-on", cu.Preflight),
		stays("awaiting an admin: the cluster is silent", cu.AwaitingAdmin, with(mapsSilent), "not(policy-satisfied)"),

		{Name: "no persisted state: nothing is held", Facts: with(old(monB)), Want: want{Event: machines.EventInferred, To: cu.Settled}},
		{Name: "no persisted state: a flag is held", Facts: with(ours, noOut), Want: want{Event: machines.EventInferred, To: cu.SelectingDaemon}},
		{Name: "no persisted state: the cluster is silent", Facts: with(mapsSilent), Want: want{Event: machines.EventInferred, To: machines.Inferring}},
		{Name: "a step of another release", State: cu.ReplacingDaemon, Coded: map[string]string{"step": "Jump"}, Facts: with(), Want: want{Event: machines.EventInferred, To: cu.Settled}},
		{Name: "a daemon of another release", State: cu.ReplacingDaemon, Coded: map[string]string{"step": "Replace", "daemon": "nfs.a"}, Facts: with(), Want: want{Event: machines.EventInferred, To: cu.Settled}},
	}
}

func selecting() []row {
	const s = cu.SelectingDaemon
	picks := func(name string, f cu.Facts, d cu.Data) row {
		return row{Name: "selecting: " + name, State: s, Facts: f, Want: want{Event: "daemon-selected", To: cu.AwaitingHealth, Data: &d}}
	}
	restores := func(name string, f cu.Facts, effects ...cu.Effect) row {
		return row{Name: "selecting: " + name, State: s, Facts: f, Want: want{WaitingFor: []string{"daemon-selected"}, Effects: effects}}
	}
	full := cu.Settings{Filesystem: "myfs", MaxMDS: 2}
	return []row{
		picks("a monitor that does not lead", with(old(monB, mgrA, mgrB)), replaces(monB)),
		picks("the standby before the active manager", with(old(mgrA, mgrB)), replaces(mgrB)),
		picks("the active manager fails over", with(old(mgrA)), failsOver),
		picks("an OSD", with(old(osd0, osd1)), replaces(osd0)),
		picks("two active metadata servers are reduced", with(old(mdsA, mdsB), twoActive), reduces),
		picks("a standby of a reduced filesystem", with(old(mdsA, mdsB), settings), replaces(mdsB)),
		picks("an image that did not start is replaced by another", with(old(osd0), down(false), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
			daemon(f, osd0).Launched = versions.Version{Major: 18, Minor: 2, Patch: 4}
		}), replaces(osd0)),
		picks("an image that did not start is replaced by another of the same version", with(launched(osd0), down(false), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Name = "ceph:v18-rebuilt" }), replaces(osd0)),
		picks("a gateway that is not ready", with(old(rgw), notReady(rgw)), replaces(rgw)),
		picks("the next daemon after one of a development build", with(development(monB)), replaces(ceph.Daemon{Type: ceph.TypeMon, ID: "c"})),
		picks("a daemon of another development build", with(development(everyone()...), wantsBuild("ceph:dev2", "")), replaces(monB)),
		picks("a pod that does not start is replaced by the one that the spec wants now", with(podDiffers(osd0), down(false), podless), replaces(osd0)),
		picks("also if the spec names no version", with(podDiffers(osd0), down(false), podless, unnamed), replaces(osd0)),
		picks("the first of two OSDs that are out, as their pods do not start", with(podDiffers(osd0), podDiffers(osd1), outTogether), replaces(osd0)),
		picks("an image that did not start is replaced beside an OSD that is out", with(launched(osd0), outTogether, func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Name = "ceph:v18-rebuilt" }), replaces(osd0)),
		picks("a stopped standby is started beside an OSD that is out", with(old(mdsB), halted(mdsB), down(true)), replaces(mdsB)),
		picks("a manager whose pod does not start, beside an OSD that is out", with(podDiffers(mgrB), notReady(mgrB), down(true), func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.Managers.Standbys = nil }), replaces(mgrB)),
		picks("a gateway whose pod does not start comes before the rest", with(oldAll, policyTo(ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD), podDiffers(rgw), notReady(rgw)), replaces(rgw)),
		restores("a new OSD has not come up yet", with(old(osd0), fresh, down(true), silent(osd0))),
		restores("a daemon that does not serve, and whose container runs, is repaired first", with(podDiffers(osd0), down(false))),
		restores("a pod that does not start is no reason to start another version", with(old(osd0), podDiffers(osd0), down(false), podless)),
		restores("an OSD that the map lacks is not started by another pod", with(podDiffers(osd0), podless, func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs = c.OSDs.OSDs[1:] })),
		restores("a downgrade has ended", with(func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Back = []versions.Version{v18} }), cu.Effect{Verb: cu.Record, Upgrade: cu.Upgrade{Attempt: "5f2c91a0", Toward: v18, Named: []string{"ceph:v18"}}}),
		restores("a flag is removed", with(old(osd1), ours, noOut), cu.Effect{Verb: cu.UnsetNoOut, Daemon: osd0}),
		restores("a flag that is gone is forgotten", with(old(osd1), ours), cu.Effect{Verb: cu.UnsetNoOut, Daemon: osd0}),
		restores("the flag of an OSD that was replaced stays until it has started", with(launched(osd0), ours, noOut)),
		goes("selecting: the attempt is not recorded while an OSD that was replaced starts", s, with(launched(osd0), ours, noOut, unrecorded), "check-again", cu.Preflight),
		restores("settings are restored before a monitor", with(old(monB), settings), cu.Effect{Verb: cu.RestoreSettings, Settings: full}),
		restores("restored settings are forgotten", with(old(monB), settings, func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.Filesystems.Filesystems[0].MaxMDS = 2 }), cu.Effect{Verb: cu.RestoreSettings, Settings: full}),
		restores("a standby is started before a monitor", with(old(monB, mdsA, mdsB), halted(mdsB)), cu.Effect{Verb: cu.Start, Daemon: mdsB}),
		picks("a monitor, while a standby of the older release stays stopped", with(old(monB, mdsB), halted(mdsB)), replaces(monB)),
		picks("a monitor, while the metadata servers of a reduced filesystem have several versions", with(old(monB, mdsB), settings), replaces(monB)),
		restores("a daemon has not started yet", with(launched(monB))),
		restores("an OSD that is down is repaired first", with(old(osd0), down(false))),
		restores("an unknown image that was set by hand is not replaced before it has started", with(old(osd0), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd0).ByHand = "ceph:rebuilt" })),
		restores("nor if its container does not start", with(old(osd0), down(false), setByHand(false))),
		picks("an unknown image that was set by hand and cannot be pulled is replaced", with(old(osd0), down(false), setByHand(true)), replaces(osd0)),
		picks("also by another image of the version", with(down(false), setByHand(true), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Name = "ceph:v18-rebuilt" }), replaces(osd0)),
		restores("it is not replaced by the image from before", with(down(false), setByHand(true))),
		restores("nor before the types before it run the release", with(old(monB, osd0), down(false), setByHand(true))),
		restores("an OSD that the map lacks is awaited", with(old(osd0), func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs = c.OSDs.OSDs[1:] })),
		restores("an OSD that is down, and that a flag keeps in, is repaired first", with(old(osd0), down(false), noOut)),
		stays("selecting: the cluster is silent", s, with(mapsSilent), "daemon-selected"),
		stays("selecting: the keys cannot be read", s, with(keysSilent), "daemon-selected"),
		goes("selecting: the attempt is not recorded", s, with(old(monB), unrecorded), "check-again", cu.Preflight),
		{Name: "selecting: there is neither an attempt nor a record", State: s, Facts: with(old(monB), unrecorded, func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Attempt = nil }), Want: want{Event: "check-again", To: cu.Preflight}},
		goes("selecting: the version was removed half way", s, with(old(monB), unnamed), "check-again", cu.Preflight),
		goes("selecting: refused", s, with(refused), "check-again", cu.Preflight),
		restores("refused, and a flag is left", with(refused, ours), cu.Effect{Verb: cu.UnsetNoOut, Daemon: osd0}),
		restores("refused, and the pod of a replaced OSD from before still runs with its flag", with(refused, ours, noOut, podless)),
		restores("refused, and that pod has ended", with(refused, ours, noOut, podless, down(false)), cu.Effect{Verb: cu.UnsetNoOut, Daemon: osd0}),
		restores("not recorded, and the pod of a replaced OSD from before still runs with its flag", with(unrecorded, ours, noOut, podless)),
		restores("refused, and a filesystem is reduced", with(refused, settings), cu.Effect{Verb: cu.RestoreSettings, Settings: full}),
		goes("selecting: refused, and its metadata servers have several versions", s, with(refused, settings, old(mdsB)), "check-again", cu.Preflight),
		goes("selecting: refused, and a standby of the older version is stopped", s, with(refused, halted(mdsB), old(mdsB)), "check-again", cu.Preflight),
		goes("selecting: an OSD is down and out", s, with(old(osd0), down(true)), "osd-dead", cu.DeadOSD),
		goes("selecting: an OSD is down and out, and a monitor is next", s, with(old(monB), down(true)), "osd-dead", cu.DeadOSD),
		goes("selecting: an OSD does not start on its new version, and was taken out", s, with(launched(osd0), old(rgw), down(true), crashing(osd0)), "osd-dead", cu.DeadOSD),
		goes("selecting: an OSD is down and out, and nothing is left", s, with(down(true)), "upgraded", cu.Settled),
		goes("selecting: an OSD on the release has no Deployment", s, with(unrequired, gone(osd0)), "osds-upgraded", cu.RequiringRelease),
		goes("selecting: an OSD that never started", s, with(unrequired, gone(osd0), down(false), silent(osd0), fresh), "osds-upgraded", cu.RequiringRelease),
		goes("selecting: an OSD that never started has a Deployment", s, with(unrequired, down(false), silent(osd0), fresh), "osds-upgraded", cu.RequiringRelease),
		goes("selecting: an OSD without a report is no new one", s, with(unrequired, gone(osd0), down(false), silent(osd0)), "osd-dead", cu.DeadOSD),
		goes("selecting: an OSD of an older release has no Deployment and is down", s, with(old(osd0), gone(osd0), down(false)), "osd-dead", cu.DeadOSD),
		goes("selecting: an OSD of the map has no Deployment", s, with(old(osd0), gone(osd0)), "osd-dead", cu.DeadOSD),
		goes("selecting: the release is due", s, with(unrequired), "osds-upgraded", cu.RequiringRelease),
		goes("selecting: the release is due before the gateways", s, with(unrequired, old(rgw)), "osds-upgraded", cu.RequiringRelease),
		goes("selecting: the policy is satisfied", s, with(onlyMonitors), "policy-done", cu.AwaitingAdmin),
		goes("selecting: everything is done", s, with(), "upgraded", cu.Settled),
		restores("a command is under way", with(commanding(true, 0))),
		restores("a command is under way, and the policy is satisfied", with(onlyMonitors, commanding(true, 0))),
		restores("a command is under way, and the spec is refused", with(refused, commanding(true, 0))),
		restores("a command ended after the reading", with(old(monB), commanding(false, time.Second))),
		picks("the reading shows the effect of the last command", with(old(monB), commanding(false, -time.Second)), replaces(monB)),
	}
}

func replacing() []row {
	in := func(state, name string, d cu.Data, f cu.Facts, w want) row {
		return row{Name: state + ": " + name, State: state, Data: &d, Facts: f, Want: w}
	}
	moved := want{Event: "step-changed", To: cu.SelectingDaemon}
	const health, ask, prep, repl = cu.AwaitingHealth, cu.AwaitingOkToStop, cu.PreparingDaemon, cu.ReplacingDaemon
	permit := want{Event: "ok-to-stop", To: prep}
	permitFor := func(d cu.Data) want { w := permit; w.Data = &d; return w }
	goTo := func(event, to string, d cu.Data) want { return want{Event: event, To: to, Data: &d} }
	osd, mds := replaces(osd0), replaces(mdsB)
	failed := want{Event: machines.EventPreconditionFailed, To: cu.SelectingDaemon}
	effect := func(waiting string, effects ...cu.Effect) want {
		return want{WaitingFor: []string{waiting}, Effects: effects}
	}
	ready := []change{old(osd0), ours, noOut}
	and := func(more ...change) cu.Facts { return with(append(slices.Clone(ready), more...)...) }
	return []row{
		in(health, "healthy", osd, with(old(osd0)), goTo("healthy", ask, osd)),
		in(health, "a monitor is down", osd, with(old(osd0), raised("MON_DOWN")), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "an OSD that an administrator scaled to zero is down", osd, with(old(osd0), halted(osd1), raised("OSD_DOWN")), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "an OSD is down", osd, with(old(osd0), raised("OSD_DOWN")), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "an OSD is down whose pod does not start, and is to be another one", osd, with(podDiffers(osd0), down(false), podless, raised("OSD_DOWN")), goTo("healthy", ask, osd)),
		in(health, "the flag noup of an administrator", osd, with(old(osd0), clusterFlag("noup")), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "an unknown code", osd, with(old(osd0), raised("NEW_CODE")), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "a code from before", osd, with(old(osd0), raised("NEW_CODE"), func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Codes = []string{"NEW_CODE"} }), goTo("healthy", ask, osd)),
		in(health, "a code that an admin lets pass", osd, with(old(osd0), raised("NEW_CODE"), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.IgnoreHealth = "NEW_CODE=5f2c91a0" }), goTo("healthy", ask, osd)),
		in(health, "the health cannot be read", osd, with(old(osd0), healthSilent), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "the cluster is silent", osd, with(old(osd0), mapsSilent), want{WaitingFor: []string{"cluster-healthy"}}),
		in(health, "another step comes first", osd, with(old(monB)), moved),

		in(ask, "Ceph permits", osd, with(old(osd0)), permitFor(osd)),
		in(ask, "Ceph denies", osd, with(old(osd0), answers(ceph.Denied)), want{WaitingFor: []string{"ok-to-stop"}}),
		in(ask, "Ceph does not know yet", osd, with(old(osd0), answers(ceph.Undecided)), want{WaitingFor: []string{"ok-to-stop"}}),
		in(ask, "no such question, and clean", osd, with(old(osd0), answers(ceph.NoSuchCommand)), permitFor(osd)),
		in(ask, "no such question, and not clean", osd, with(old(osd0), answers(ceph.NoSuchCommand), unclean), want{WaitingFor: []string{"ok-to-stop"}}),
		in(ask, "the answer cannot be read", osd, with(old(osd0), askingFails), want{WaitingFor: []string{"ok-to-stop"}}),
		in(ask, "a manager is not asked about", failsOver, with(old(mgrA), askingFails), permitFor(failsOver)),
		in(ask, "a health code was raised", osd, with(old(osd0), raised("MON_DOWN")), goTo("unhealthy", health, osd)),
		in(ask, "the health cannot be read", osd, with(old(osd0), healthSilent), want{WaitingFor: []string{"cluster-healthy"}}),
		in(ask, "the cluster is silent", osd, with(old(osd0), mapsSilent), want{WaitingFor: []string{"cluster-healthy", "ok-to-stop"}}),
		in(ask, "another step comes first", osd, with(old(monB)), moved),
		in(ask, "another step comes first, and a health code was raised", osd, with(old(monB), raised("MON_DOWN")), moved),

		in(prep, "the flag is neither recorded nor set", osd, with(old(osd0)), effect("daemon-prepared", cu.Effect{Verb: cu.SetNoOut, Daemon: osd0})),
		in(prep, "the flag is recorded and not set", osd, with(old(osd0), ours), effect("daemon-prepared", cu.Effect{Verb: cu.SetNoOut, Daemon: osd0})),
		in(prep, "the flag is seen", osd, and(), goTo("prepared", repl, osd)),
		in(prep, "a manager needs nothing", failsOver, with(old(mgrA)), goTo("prepared", repl, failsOver)),
		in(prep, "a standby needs nothing", mds, with(old(mdsB)), goTo("prepared", repl, mds)),
		in(prep, "sessions of ended clients are evicted", replaces(mdsA), with(old(mdsA), orphaned), effect("daemon-prepared", cu.Effect{Verb: cu.Evict, Daemon: mdsA, Session: 7})),
		in(prep, "the sessions cannot be read", replaces(mdsA), with(old(mdsA), sessionsSilent), effect("daemon-prepared")),
		in(prep, "the settings are recorded first", reduces, with(old(mdsA, mdsB), twoActive), effect("daemon-prepared", cu.Effect{Verb: cu.RecordSettings, Settings: cu.Settings{Filesystem: "myfs", MaxMDS: 2}})),
		in(prep, "the settings are reduced", reduces, with(old(mdsA, mdsB), twoActive, settings), effect("daemon-prepared", cu.Effect{Verb: cu.Apply, Settings: cu.Settings{Filesystem: "myfs", MaxMDS: 1}})),
		in(prep, "the settings are reduced, and a rank is left", reduces, with(old(mdsA, mdsB), twoActive, settings, func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.Filesystems.Filesystems[0].MaxMDS = 1 }), effect("daemon-prepared")),
		in(prep, "the filesystem is reduced", reduces, with(old(mdsA, mdsB), settings), moved),
		in(prep, "the cluster is silent", osd, with(old(osd0), mapsSilent), want{WaitingFor: []string{"daemon-prepared"}}),

		in(prep, "another step comes first", osd, with(old(monB), noOut), moved),
		in(prep, "a health code was raised", osd, with(old(osd0), raised("MON_DOWN")), failed),
		in(prep, "Ceph denies", osd, with(old(osd0), answers(ceph.Denied)), failed),
		in(prep, "the health cannot be read", osd, with(old(osd0), healthSilent), want{WaitingFor: []string{"daemon-prepared"}, Blocked: []string{"cluster-healthy"}}),
		in(prep, "the answer cannot be read", osd, with(old(osd0), askingFails), want{WaitingFor: []string{"daemon-prepared"}, Blocked: []string{"ok-to-stop"}}),

		in(repl, "the OSD is replaced", osd, and(), effect("daemon-changed", cu.Effect{Verb: cu.Replace, Daemon: osd0, Image: "ceph:v18", Version: v18})),
		in(repl, "its own flag is no reason to stop", osd, and(raised("OSD_FLAGS")), effect("daemon-changed", cu.Effect{Verb: cu.Replace, Daemon: osd0, Image: "ceph:v18", Version: v18})),
		in(repl, "the flag of an admin is", osd, with(old(osd0), noOut, raised("OSD_FLAGS")), failed),
		in(repl, "the flag noup of an admin is, without a code", osd, and(flag(0, "noup")), failed),
		in(repl, "the manager fails over", failsOver, with(old(mgrA)), effect("daemon-changed", cu.Effect{Verb: cu.FailOver, Daemon: mgrA})),
		in(repl, "the manager has failed over", failsOver, with(old(mgrA), leadsB), moved),
		in(repl, "the Deployment is changed", osd, with(launched(osd0), ours, noOut), goTo("replaced", cu.AwaitingDaemon, osd)),
		in(repl, "a health code was raised", osd, and(raised("MON_DOWN")), failed),
		in(repl, "Ceph denies", osd, and(answers(ceph.Denied)), failed),
		in(repl, "the flag is gone", osd, with(old(osd0)), failed),
		in(repl, "the health cannot be read", osd, and(healthSilent), want{WaitingFor: []string{"daemon-changed"}, Blocked: []string{"cluster-healthy"}}),
		in(repl, "another step comes first", osd, with(old(monB, osd0)), moved),
		in(repl, "the cluster is silent", osd, with(old(osd0), mapsSilent), want{WaitingFor: []string{"daemon-changed"}}),
	}
}

func awaiting() []row {
	in := func(name string, d cu.Data, f cu.Facts, w want) row {
		return row{Name: "awaiting: " + name, State: cu.AwaitingDaemon, Data: &d, Facts: f, Want: w}
	}
	back, waits := want{Event: "daemon-back", To: cu.SelectingDaemon}, want{WaitingFor: []string{"daemon-back"}}
	osd := replaces(osd0)
	const require = cu.RequiringRelease
	return []row{
		in("the OSD reports the version and is clean", osd, with(), back),
		in("the placement groups are not clean", osd, with(unclean), waits),
		in("the OSD is down", osd, with(down(false)), waits),
		in("it reports the old version", osd, with(reports(v16)), waits),
		in("it does not answer", osd, with(selfSilent), waits),
		in("it has no pod", osd, with(podless), waits),
		in("its pod does not start, and is to be another one", osd, with(podDiffers(osd0), down(false), podless), want{Event: "pod-outdated", To: cu.SelectingDaemon}),
		in("it does not serve, its container runs, and its pod is to be another one", osd, with(podDiffers(osd0), down(false)), waits),
		in("it serves, nothing runs in its pod yet, and that is to be another one", osd, with(podDiffers(osd0), podless), waits),
		in("another OSD does not start, whose pod is to be another one", osd, with(unclean, func(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
			daemon(f, osd1).Outdated, daemon(f, osd1).Pod, c.OSDs.OSDs[1].Up = true, "", false
		}), back),
		in("it has no Deployment", osd, with(gone(osd0)), waits),
		in("it was removed from Ceph", osd, with(gone(osd0), purged(osd0)), want{Event: "osd-lost", To: cu.SelectingDaemon}),
		in("it was removed from Ceph, and its Deployment is there", osd, with(purged(osd0), podless), waits),
		in("it was taken out, and its pod is to be another one", osd, with(podDiffers(osd0), podDiffers(osd1), outTogether), want{Event: "osd-lost", To: cu.SelectingDaemon}),
		in("it does not start, and was taken out", osd, with(down(true), crashing(osd0)), want{Event: "osd-lost", To: cu.SelectingDaemon}),
		in("it does not start, and was never in", osd, with(fresh, down(true), silent(osd0), crashing(osd0)), want{Event: "osd-lost", To: cu.SelectingDaemon}),
		in("it starts, and was never in", osd, with(fresh, down(true), silent(osd0), podless), waits),
		in("it does not start, and is in", osd, with(down(false), crashing(osd0)), waits),
		in("it was taken out before, and starts", osd, with(down(true)), waits),
		in("a monitor is not in the OSD map", replaces(monB), with(gone(monB)), waits),
		in("the step was lost", cu.Data{}, with(old(osd1)), back),
		in("the maps are older than its pod", osd, with(stale), waits),
		in("the cluster is silent", osd, with(mapsSilent), waits),
		in("an OSD of a development build answers without a version", osd, with(development(osd0), reports(versions.Version{})), back),
		in("an OSD of a development build answers with the old version", osd, with(development(osd0)), waits),
		in("a manager of a development build has reported itself", replaces(mgrB), with(development(mgrB)), back),
		in("a monitor is in the quorum, and answers", replaces(monB), with(formerPod(monB)), back),
		in("the quorum may be that from before", replaces(monB), with(stale, formerPod(monB)), waits),
		in("a monitor reported its pod in an election", replaces(monB), with(stale, selfSilent), back),
		in("its process may have ended since it reported its pod", replaces(monB), with(stale, restarted(monB)), waits),
		in("it reported its pod in an election, and is not in the quorum", replaces(monB), with(started(time.Minute), outsideQuorum(monB)), waits),
		in("the monitors have held an election since it started", replaces(monB), with(formerPod(monB), started(4*time.Second), electedWithin(2*time.Second)), back),
		in("it reported itself in that election, and does not answer", replaces(monB), with(formerPod(monB), started(4*time.Second), electedWithin(2*time.Second), selfSilent), back),
		in("it reported the old version in that election", replaces(monB), with(launched(monB), formerPod(monB), started(4*time.Second), electedWithin(2*time.Second)), waits),
		in("they may have held it before", replaces(monB), with(formerPod(monB), started(4*time.Second), electedWithin(3*time.Second)), waits),
		in("an election says nothing of an OSD", osd, with(started(4*time.Second), electedWithin(2*time.Second)), waits),
		in("a manager has reported itself a second ago", replaces(mgrB), with(stale), back),
		in("the metadata of a manager are from before", replaces(mgrB), with(future), waits),
		in("a metadata server has answered a second ago", replaces(mdsB), with(stale), back),
		in("a metadata server has its role, and its pod is not ready yet", replaces(mdsB), with(func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, mdsB).Ready = false }), waits),
		in("a manager has reported itself, and does not answer", replaces(mgrB), with(selfSilent), back),
		in("a manager has not reported itself", replaces(mgrB), with(launched(mgrB)), waits),
		in("a stopped standby is still listed", stops(mdsB), with(), waits),
		in("a stopped standby is gone", stops(mdsB), with(halted(mdsB)), back),

		{Name: "requiring: Ceph is asked", State: require, Facts: with(unrequired), Want: want{WaitingFor: []string{"release-required"}, Effects: []cu.Effect{{Verb: cu.Require, Release: "reef"}}}},
		goes("requiring: the map shows it", require, with(), "required", cu.SelectingDaemon),
		goes("requiring: an OSD is older", require, with(old(osd0)), machines.EventPreconditionFailed, cu.SelectingDaemon),
		stays("requiring: the cluster is silent", require, with(mapsSilent), "release-required"),
	}
}

func TestDefinitionTransitions(t *testing.T) {
	machine := compiled(t)
	rows := machinetest.TargetChanged(machine, with())
	for _, part := range [][]row{resting(), selecting(), replacing(), awaiting(), laggy(), missing(), names(), unserved(), builds(), standbys()} {
		rows = append(rows, part...)
	}
	machinetest.Run(t, machine, rows)
}

// TestTargetOfAPolicy names the same target for the same request.
func TestTargetOfAPolicy(t *testing.T) {
	to := func(release int, components ...ceph.Type) cu.Facts {
		return with(func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
			image := decision.Image{Name: "ceph:policy", Detected: true, Version: versions.Version{Major: release, Minor: 2, Patch: 7}}
			f.Spec.Policy = &decision.Policy{Image: image, Components: components}
		})
	}
	for name, tc := range map[string]struct {
		facts cu.Facts
		want  string
	}{
		"in the order of an upgrade": {to(19, ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD), "ceph:v18 with ceph:policy for [mon mgr osd]"},
		"in another order":           {to(19, ceph.TypeOSD, ceph.TypeMon, ceph.TypeMgr), "ceph:v18 with ceph:policy for [mon mgr osd]"},
		"with a repetition":          {to(19, ceph.TypeMgr, ceph.TypeMon, ceph.TypeMgr), "ceph:v18 with ceph:policy for [mon mgr]"},
		"a policy that is ignored":   {to(18, ceph.TypeMon), "ceph:v18"},
	} {
		t.Run(name, func(t *testing.T) {
			definition := cu.Definition()
			if got := definition.Target(&tc.facts).To; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
