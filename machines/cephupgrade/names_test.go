package cephupgrade_test

import (
	"github.com/detent-dev/detent/clients/ceph"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
)

// mirrored has the spec ask for the version that runs by another name.
func mirrored(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.Wanted.Name = "mirror/ceph:v18" }

// recorded has the last attempt have recorded the images.
func recorded(images ...string) change {
	return func(_ *cu.Facts, _ *cu.Cluster, m *cu.Memory) { m.Upgrade.Named = images }
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
		picks("another name, while a gateway does not start", rgw, mirrored, notReady(rgw), crashing(rgw)),
	}
}
