package ceph

import (
	"cmp"
	"maps"
	"math"
	"slices"

	client "github.com/detent-dev/detent/clients/ceph"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (c *Cluster) health() any {
	checks, status := object{}, client.HealthOK
	for _, check := range c.Checks() {
		details := []object{}
		for _, d := range check.Details {
			details = append(details, object{"message": d})
		}
		one := object{"severity": check.Severity, "summary": object{"message": check.Summary}, "detail": details}
		if c.release() >= 16 {
			one["muted"] = check.Muted
		}
		checks[check.Code] = one
		switch {
		case check.Muted:
		case check.Severity == client.HealthErr:
			status = client.HealthErr
		case status == client.HealthOK:
			status = client.HealthWarn
		}
	}
	return object{"status": status, "checks": checks}
}

// Checks returns the health codes that are raised.
func (c *Cluster) Checks() []client.Check {
	out := slices.Clone(c.Codes)
	warn := func(code, summary string, details []string) {
		out = append(out, client.Check{Code: code, Severity: client.HealthWarn, Summary: summary, Details: details})
	}
	names := func(t client.Type, is func(*Daemon) bool) (list []string) {
		c.of(t, func(d *Daemon) {
			if is(d) {
				list = append(list, d.Name.String())
			}
		})
		return list
	}
	if down := names(client.TypeMon, func(d *Daemon) bool { return !c.reported(d) }); down != nil {
		warn("MON_DOWN", "monitors are down", down)
	}
	if down := names(client.TypeOSD, func(d *Daemon) bool { return d.Newest > 0 && !d.Out && !c.up(d) }); down != nil {
		warn("OSD_DOWN", "osds down", down)
	}
	if flagged := names(client.TypeOSD, func(d *Daemon) bool { return d.NoOut }); flagged != nil {
		warn("OSD_FLAGS", "OSDs or CRUSH {nodes, device-classes} have {NOUP,NODOWN,NOIN,NOOUT} flags set", flagged)
	}
	c.pgChecks(warn)
	if c.RequireRelease < c.MinMonRelease {
		warn("OSD_UPGRADE_FINISHED", "all OSDs are running a newer release but require_osd_release is older", nil) // said even while the OSDs are old
	}
	if last := c.mgrGone(); c.Active == "" && c.Now >= last+c.Settings.MgrGrace {
		warn("MGR_DOWN", "no active mgr", nil)
	}
	return append(out, c.fsChecks()...)
}

// mgrGone returns when the last manager ended.
func (c *Cluster) mgrGone() (last int64) {
	last = math.MinInt64 / 2
	c.of(client.TypeMgr, func(d *Daemon) { last = max(last, d.Since) })
	return last
}

func (c *Cluster) pgChecks(warn func(code, summary string, details []string)) {
	degraded, inactive := false, false
	for state := range c.stats {
		degraded = degraded || state != "active+clean"
		inactive = inactive || state == "undersized+degraded+peered"
	}
	if degraded {
		warn("PG_DEGRADED", "Degraded data redundancy", nil)
	}
	if inactive {
		warn("PG_AVAILABILITY", "Reduced data availability", nil)
	}
}

func (c *Cluster) fsChecks() (out []client.Check) {
	for i := range c.Filesystems {
		f := &c.Filesystems[i]
		standbys, serving, degraded := 0, 0, false
		c.of(client.TypeMDS, func(d *Daemon) {
			switch {
			case d.Filesystem != f.Name || !c.ready(d):
			case d.Rank < 0:
				standbys++
			default:
				serving++
				degraded = degraded || c.Now < d.ActiveAt
			}
		})
		add := func(code, severity string) {
			out = append(out, client.Check{Code: code, Severity: severity, Summary: "filesystem " + f.Name})
		}
		if serving == 0 {
			add("MDS_ALL_DOWN", client.HealthErr)
			add("FS_WITH_FAILED_MDS", client.HealthWarn)
		}
		if degraded || serving == 0 {
			add("FS_DEGRADED", client.HealthWarn)
		}
		if standbys < f.StandbysWanted {
			add("MDS_INSUFFICIENT_STANDBY", client.HealthWarn)
		}
	}
	return slices.CompactFunc(out, func(a, b client.Check) bool { return a.Code == b.Code })
}
