package cephupgrade_test

import (
	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

// killed: the active metadata server was killed, and no standby takes over. It keeps its rank and its state.
func killed(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
	c.Filesystems.Standbys = nil
	c.Filesystems.Filesystems[0].MDS[0].Laggy = true
	daemon(f, mdsA).Ready, daemon(f, mdsA).Pod = false, ""
}

// fromNautilus: everything changes from 14 to 16, and the metadata servers are last.
func fromNautilus(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
	old(everyone()...)(f, c, m)
	f.Spec.Wanted, m.Upgrade.Toward = decision.Image{Name: "ceph:v16", Detected: true, Version: v16}, v16
	v14 := versions.Version{Major: 14, Minor: 2, Patch: 21}
	for _, name := range []ceph.Daemon{mdsA, mdsB} {
		daemon(f, name).Launched, daemon(f, name).Newest = v14, v14
		for i := range c.Metadata {
			if c.Metadata[i].Daemon == name {
				c.Metadata[i].Version = v14
			}
		}
	}
}

func laggy() []row {
	replaces := cu.Data{Step: order.Step{Kind: order.Replace, Daemon: mdsA}}
	return []row{
		{
			Name: "selecting: a standby is started, since the active metadata server was killed", State: cu.SelectingDaemon, Facts: with(fromNautilus, halted(mdsB), killed),
			Want: want{WaitingFor: []string{"daemon-selected"}, Effects: []cu.Effect{{Verb: cu.Start, Daemon: mdsB}}},
		},
		{
			Name: "preparing: a metadata server that was killed has no sessions to ask about", State: cu.PreparingDaemon, Data: &replaces,
			Facts: with(podDiffers(mdsA), killed, gone(mdsB), sessionsSilent, func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.Spec.AcceptedOutage = []ceph.Type{ceph.TypeMDS} }),
			Want:  want{Event: "prepared", To: cu.ReplacingDaemon, Data: &replaces},
		},
	}
}
