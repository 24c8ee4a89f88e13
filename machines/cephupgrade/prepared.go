package cephupgrade

import (
	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

// prepared says whether the daemon may be taken away without a move of data and without a delay by clients that have ended.
var prepared = guard{
	Name: "daemon-prepared", Doc: "the OSD is not marked out while it is away, and no session of an ended client is left", Expected: "the daemon to be prepared", Needs: []transitions.Need{NeedCluster, NeedOrphans},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Cluster.Get()
		if !known {
			return f.Cluster.Gap()
		}
		switch {
		case d.Step.Kind == order.Reduce:
			return transitions.Deny("the filesystem " + d.Step.Filesystem + " is being reduced to one metadata server")
		case d.component() == ceph.TypeOSD:
			o, _ := c.osd(d.Step.Daemon)
			return transitions.If(o.NoOut, d.Step.Daemon.String()+" has no flag noout yet")
		case d.component() != ceph.TypeMDS || !f.leads(&c, d):
			return transitions.Allow()
		}
		orphans, known := f.Orphans.Get()
		if !known {
			return f.Orphans.Gap()
		}
		return transitions.If(len(orphans) == 0, "sessions of clients that have ended are left")
	},
}

// leads reports whether the selected daemon serves and leads: one that does not serve answers nothing about its sessions.
func (f *Facts) leads(c *Cluster, d Data) bool {
	one := f.find(d.Step.Daemon)
	if one == nil {
		return false
	}
	serving, leading, _ := c.role(one)
	return serving && leading
}
