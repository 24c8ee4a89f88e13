package cephupgrade

import (
	"fmt"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

var required = mapped("release-required", "the OSD map requires the release of the OSDs", "the OSD map to require the release", func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
	d := f.decide(c, m)
	_, lacks := f.release(c, d.Targets)
	return transitions.If(d.Outcome == decision.Permitted && !lacks, "the OSD map requires "+c.OSDs.RequireRelease)
})

// upgradedOSDs says whether the release may be required. Ceph accepts it too early, and OSDs that are down could then never start.
var upgradedOSDs = mapped("osds-upgraded", "every OSD of the map runs the release, with those that are down", "every OSD on the release", func(f *Facts, c *Cluster, m *Memory, _ Data) transitions.Verdict {
	p := f.next(c, m)
	return transitions.If(p.turn == require, p.text)
})

// requiring is the turn in which the release of the OSDs is due: it is required, unless an OSD has to run it first.
func (f *Facts) requiring(c *Cluster, targets map[ceph.Type]decision.Image) plan {
	if lacks := f.missing(c, targets); lacks != nil {
		return plan{turn: repair, text: lacks.Message}
	}
	if up, down := f.older(c, targets); len(up) > 0 {
		return plan{turn: dead, text: fmt.Sprintf("%s run another version than %s without a Deployment of this cluster: upgrade them where they are run", list(up), targets[ceph.TypeOSD].Version)}
	} else if len(down) > 0 {
		return plan{turn: dead, text: fmt.Sprintf("%s are down and last ran another version than %s: repair them, or remove them with ceph osd purge", list(down), targets[ceph.TypeOSD].Version)}
	}
	return plan{turn: require, text: "OSDs of the older release are still accepted"}
}

// precedesRelease reports whether the daemon is to be replaced before the release of the OSDs is required.
func precedesRelease(d order.Daemon) bool {
	return d.Outdated && d.Name.Type != ceph.TypeRGW && d.Name.Type != ceph.TypeMDS
}

// release returns the release of the OSDs, and whether the cluster does not require it yet.
func (f *Facts) release(c *Cluster, targets map[ceph.Type]decision.Image) (name string, due bool) {
	wanted, known := f.Spec.Table.Release(targets[ceph.TypeOSD].Version.Major)
	required, named := f.Spec.Table.Named(c.OSDs.RequireRelease)
	if !known || !named || len(c.OSDs.OSDs) == 0 {
		return "", false
	}
	return wanted.Name, required.Major < wanted.Major
}

// older returns the OSDs of the map that do not run their target, by whether they are up. One that is new and never reported a version has no data of another one.
func (f *Facts) older(c *Cluster, targets map[ceph.Type]decision.Image) (up, down []string) {
	target := targets[ceph.TypeOSD].Version
	for _, o := range c.OSDs.OSDs {
		d := f.find(o.Daemon())
		m, reported := c.metadata(o.Daemon())
		switch {
		case (!reported && o.New || reported && m.Version.Same(target)) && (d == nil || d.Launched.Same(target)):
		case o.Up:
			up = append(up, o.Daemon().String())
		default:
			down = append(down, o.Daemon().String())
		}
	}
	return up, down
}

// Reasons for which an OSD of the map has no Deployment.
const (
	reasonUndeclared transitions.Reason = "OSDNotDeclared"
	reasonUndeployed transitions.Reason = "DeploymentMissing"
)

// missing says which OSD of the map has to get its Deployment again before the release of the OSDs is required; nil if none has. Its data may
// be whole: to remove it is no advice. One that never served has none.
func (f *Facts) missing(c *Cluster, targets map[ceph.Type]decision.Image) *transitions.Problem {
	for _, one := range f.Missing {
		_, mapped := c.osd(one.Name)
		m, reported := c.metadata(one.Name)
		switch {
		case !mapped || c.vacant(one.Name) || reported && m.Version.Same(targets[ceph.TypeOSD].Version):
		case !one.Declared:
			return transitions.Problemf(reasonUndeclared, "%s is not in the spec, and does not run %s: add its storage to spec.storage", one.Name, targets[ceph.TypeOSD].Version)
		default:
			return transitions.Problemf(reasonUndeployed, "the Deployment of %s is missing: it is created again, and if it is refused, the condition Warning says why", one.Name)
		}
	}
	return nil
}
