package cephupgrade

import (
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

// corrected returns the types of the daemons that do not serve and are corrected one after the other, if the one of the step is such a daemon and
// keeps its version: its replacement takes nothing away, and each of them would otherwise wait for the others. It is empty for any other step.
func (f *Facts) corrected(c *Cluster, m *Memory, d Data) (types []ceph.Type) {
	one := f.find(d.Step.Daemon)
	if one == nil || d.Step.Kind != order.Replace {
		return nil
	}
	decided := f.decide(c, m)
	if serving, _, _ := c.role(one); serving || decided.Outcome != decision.Permitted {
		return nil
	}
	all := slices.DeleteFunc(f.ordered(c, decided.Targets), func(o order.Daemon) bool { return !o.Broken || !o.Outdated || o.Serving })
	if !slices.ContainsFunc(all, func(o order.Daemon) bool { return o.Name == one.Name && o.Current }) {
		return nil
	}
	for _, o := range all {
		types = append(types, o.Name.Type)
	}
	return types
}
