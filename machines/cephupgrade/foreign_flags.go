package cephupgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/transitions"
)

// flagged reports whether the flags of OSDs are those that the upgrade set: noout of single OSDs.
func flagged(c *Cluster, m *Memory) bool {
	return len(c.OSDs.Groups) == 0 && !slices.ContainsFunc(c.OSDs.OSDs, func(o ceph.OSD) bool {
		return len(o.Flags) > 0 || o.NoOut && !slices.Contains(m.NoOut, o.Daemon().ID)
	})
}

// Reasons of flags that an administrator set.
const (
	// reasonNoUp: an OSD that is down does not come up.
	reasonNoUp transitions.Reason = "FlagNoUp"
	// reasonNoDown: an OSD that is away is shown as up.
	reasonNoDown transitions.Reason = "FlagNoDown"
)

// noUp is why a flag keeps the OSD from coming up once it is down, with the way out; nil if none does, and for a daemon of another type.
// Whether an OSD is in a CRUSH node or a device class is not known, so that a flag of any counts.
func noUp(c *Cluster, osd ceph.Daemon) *transitions.Problem {
	if osd.Type != ceph.TypeOSD {
		return nil
	}
	keeps := func(remedy string) *transitions.Problem {
		return transitions.Problemf(reasonNoUp, "the flag %s keeps %s from coming up again: remove it with ceph osd %s", ceph.NoUp, osd, remedy)
	}
	if slices.Contains(c.OSDs.Flags, ceph.NoUp) {
		return keeps("unset " + ceph.NoUp)
	}
	if o, _ := c.osd(osd); slices.Contains(o.Flags, ceph.NoUp) {
		return keeps("unset-group " + ceph.NoUp + " " + osd.String())
	}
	var groups []string
	for group, flags := range c.OSDs.Groups {
		if slices.Contains(flags, ceph.NoUp) {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return keeps("unset-group " + ceph.NoUp + " " + slices.Min(groups))
}

// noDown is why the replacement of the OSD cannot begin, with the way out; nil if it can. With this flag the map shows the OSD as up while it is
// away: its placement groups wait for it, and Ceph's permission to stop it says nothing. That of single OSDs raises a code of its own.
func noDown(c *Cluster, osd ceph.Daemon) *transitions.Problem {
	const flag = "nodown"
	if osd.Type != ceph.TypeOSD || !slices.Contains(c.OSDs.Flags, flag) {
		return nil
	}
	return transitions.Problemf(reasonNoDown, "the flag %s shows %s as up while it is replaced, and its placement groups wait for it: remove it with ceph osd unset %s", flag, osd, flag)
}

// stalling are the flags of a cluster that keep placement groups from getting clean.
func stalling() []string { return []string{"norecover", "nobackfill", "norebalance"} }

// clean says whether every placement group is clean, and otherwise what was found, with the way out if they do not get clean by themselves.
func clean(c *Cluster) transitions.Verdict {
	is, why := c.PGs.Clean()
	if is {
		return transitions.Allow()
	}
	var flags []string
	for _, flag := range stalling() {
		if slices.Contains(c.OSDs.Flags, flag) {
			flags = append(flags, flag)
		}
	}
	if len(flags) > 0 {
		why += fmt.Sprintf("; the flags %s keep them so: remove each with ceph osd unset", strings.Join(flags, ", "))
	}
	states, _ := c.PGs.Unclean()
	if slices.ContainsFunc(states, func(s string) bool { return strings.Contains(s, "+inconsistent") }) {
		why += "; inconsistent ones, which ceph health detail lists, need ceph pg repair"
	}
	return transitions.Deny(why)
}
