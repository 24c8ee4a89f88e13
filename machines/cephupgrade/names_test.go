package cephupgrade_test

import (
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
)

// mirrored has the spec ask for the version that runs by another name.
func mirrored(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Name = "mirror/ceph:v18" }

// recorded has the last attempt have recorded the images.
func recorded(images ...string) change {
	return func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Named = images }
}

// newer has the Deployment of the daemon launch a newer patch since a time, and Ceph show the process from before.
func newer(d ceph.Daemon, since time.Duration) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		one := daemon(f, d)
		one.Launched, one.StartedAt = versions.Version{Major: 18, Minor: 2, Patch: 9}, f.Cluster.At().Add(-since)
	}
}

// names are changes of the name alone: an attempt records it, and replaces only what does not start on the image that it has.
func names() []row {
	const s = cu.SelectingDaemon
	picks := func(name string, d ceph.Daemon, changes ...change) row {
		data := replaces(d)
		return row{Name: name, State: s, Facts: with(changes...), Want: want{Event: "daemon-selected", To: cu.AwaitingHealth, Data: &data}}
	}
	return []row{
		goes("settled: another name of the version that runs", cu.Settled, with(mirrored), "upgrade-due", cu.Preflight),
		stays("settled: another name that is recorded", cu.Settled, with(mirrored, recorded("mirror/ceph:v18"))),
		goes("selecting: another name of the version that runs", s, with(mirrored), "upgraded", cu.Settled),
		goes("selecting: another name, while a gateway is not ready", s, with(mirrored, notReady(rgw)), "upgraded", cu.Settled),
		goes("preflight: a newer image was set by hand seconds ago", cu.Preflight, with(newer(monB, 5*time.Second)), "held", cu.PolicyRemoved),
		goes("preflight: a newer process hangs", cu.Preflight, with(newer(monB, 5*time.Minute)), "permitted", cu.RecordingHealth),
		picks("another name, while a gateway does not start", rgw, mirrored, notReady(rgw), crashing(rgw)),
	}
}
