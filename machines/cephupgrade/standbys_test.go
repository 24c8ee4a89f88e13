package cephupgrade_test

import (
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

// toPacific is a change from 14.2.22 to 16.2.15, in which the standby was stopped and the active metadata server was replaced.
func toPacific(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	v14 := versions.Version{Major: 14, Minor: 2, Patch: 22}
	old(everyone()...)(f, c, m)
	f.Spec.Wanted = decision.Image{Name: "ceph:v16", Detected: true, Version: v16}
	m.Upgrade.Named, m.Upgrade.Toward = []string{"ceph:v16"}, v16
	halted(mdsB)(f, c, m)
	daemon(f, mdsB).Launched, daemon(f, mdsB).Newest = v14, v14
	silent(mdsB)(f, c, m)
	c.Quorum.MinRelease = 16
}

// standbys are metadata servers whose pods differ, too, while the standby is stopped, as after an update of the operator.
func standbys() []row {
	standby := replaces(mdsB)
	return []row{
		{Name: "selecting: the standby is started before the pod of the active one is replaced", State: cu.SelectingDaemon, Facts: with(toPacific, podDiffers(mdsA), podDiffers(mdsB)), Want: want{Event: "daemon-selected", To: cu.AwaitingHealth, Data: &standby}},
	}
}
