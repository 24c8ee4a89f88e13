package cephupgrade

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

// lost leads away from an OSD that does not come back, which Ceph has lost or an administrator gave up.
var lost = guard{
	Name: "osd-lost", Doc: "the OSD was removed from Ceph, or it is down and out and its pod does not start", Expected: "an OSD that does not come back", Needs: []transitions.Need{NeedCluster},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Cluster.Get()
		if !known {
			return f.Cluster.Gap()
		}
		one := f.find(d.Step.Daemon)
		_, mapped := c.osd(d.Step.Daemon)
		switch {
		case d.Step.Daemon.Type != ceph.TypeOSD:
			return transitions.Deny("the step is of no OSD")
		case one == nil:
			return transitions.If(!mapped || c.vacant(d.Step.Daemon), d.Step.Daemon.String()+" is in the OSD map")
		}
		return transitions.If(c.lost(one), one.Name.String()+" may come back")
	},
}

// lost reports whether the daemon is an OSD that does not come back: it was taken out, or was never in, and the pod in which it would run does not
// start. One with data that an administrator stopped comes back once that is undone.
func (c *Cluster) lost(d *Daemon) bool {
	o, known := c.osd(d.Name)
	return known && !o.Up && !o.In && d.Pod == "" && (d.Trouble != nil || d.Idle && (!d.Stopped || c.vacant(d.Name)))
}

// vacant reports whether the daemon is an OSD that never served: by the OSD map it was never in, and is not up, and it never reported itself. It has
// no data, so that no placement group needs it.
func (c *Cluster) vacant(name ceph.Daemon) bool {
	o, known := c.osd(name)
	_, reported := c.metadata(name)
	return known && o.New && !o.Up && !reported
}

// taken reports whether the upgrade took a daemon of the type of the step away: it does not run what it was launched with yet, its pod does not
// start and is to be another one, or it is a standby of a filesystem that was stopped. The upgrade stops no daemon of another type: an administrator
// scaled that to zero. An OSD that never served counts only if it is selected, and so does a daemon that does not keep running on the version that it ran before:
// what is missing otherwise is missing for another reason.
func (f *Facts) taken(c *Cluster, d Data) bool {
	t := d.component()
	return slices.ContainsFunc(f.Daemons, func(one Daemon) bool {
		if one.Name.Type != t || c.vacant(one.Name) && one.Name != d.Step.Daemon {
			return false
		}
		stopped := one.Stopped && t == ceph.TypeMDS
		return stopped || !c.runs(&one).Same(one.Launched) || t != ceph.TypeRGW && !c.started(&one) || c.unstarted(&one) || one.Name == d.Step.Daemon && c.ailing(&one)
	})
}

// lacks reports whether another OSD does not start as it was launched, or does not serve and is replaced next. The placement groups may need it,
// and it is replaced next if its image or its pod is corrected. One that never served is needed at most by a cluster that is being launched,
// which corrects it next.
func (f *Facts) lacks(c *Cluster, d *Daemon) bool {
	return slices.ContainsFunc(f.Daemons, func(other Daemon) bool {
		return other.Name.Type == ceph.TypeOSD && other.Name != d.Name && !c.vacant(other.Name) && (c.failing(&other) || c.unstarted(&other))
	}) || f.corrects(c, d)
}

// corrects reports whether another OSD than the given one is replaced next, and does not serve. It is not known without the memory.
func (f *Facts) corrects(c *Cluster, but *Daemon) bool {
	m, known := f.Memory.Get()
	d := f.decide(c, &m)
	if !known || d.Outcome != decision.Permitted {
		return false
	}
	step, left := order.Next(f.ordered(c, d.Targets), f.standbys(d.Targets))
	next := f.find(step.Daemon)
	if !left || step.Kind != order.Replace || next == nil || next.Name.Type != ceph.TypeOSD || next.Name == but.Name {
		return false
	}
	serving, _, _ := c.role(next)
	return !serving
}

// takes reports whether the step takes a daemon away that serves. The start of one that does not serve takes nothing away, and may be what
// brings the dead OSDs back.
func takes(all []order.Daemon, step order.Step) bool {
	at := slices.IndexFunc(all, func(d order.Daemon) bool { return d.Name == step.Daemon })
	return at < 0 || all[at].Serving
}

// dead returns the OSDs other than the daemon that is next which do not come back: no daemon that serves may be taken away beside them. A new
// one has not come up yet.
func (f *Facts) dead(c *Cluster, next ceph.Daemon) (names []string) {
	for i := range f.Daemons {
		name := f.Daemons[i].Name
		if o, known := c.osd(name); known && name != next && !o.Up && !o.In && !o.New {
			names = append(names, name.String())
		}
	}
	return names
}

func outText(names []string) string {
	if len(names) == 1 {
		return names[0] + " is down and out: repair it, or remove it with ceph osd purge"
	}
	return list(names) + " are down and out: repair them, or remove them with ceph osd purge"
}

// remedy says how an OSD that does not start is given up, with the space before; empty if nothing says that it does not.
func (c *Cluster) remedy(d *Daemon) string {
	if _, known := c.osd(d.Name); !known || d.Trouble == nil {
		return ""
	}
	return fmt.Sprintf(": correct the image, or repair it; if it is gone for good, take it out with ceph osd out %s, and remove it with ceph osd purge once its data is elsewhere", d.Name.ID)
}
