package ceph

import (
	"fmt"
	"slices"
	"strconv"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// object is a JSON object.
type object = map[string]any

// names of the releases that are simulated.
var names = map[int]string{12: "luminous", 13: "mimic", 14: "nautilus", 15: "octopus", 16: "pacific", 17: "quincy", 18: "reef", 19: "squid", 20: "tentacle", 21: "umbrella"}

// release returns the major whose monitors answer: that of the leader, the first monitor in quorum.
func (c *Cluster) release() (major int) {
	c.of(client.TypeMon, func(d *Daemon) {
		if major == 0 && c.joined(d) {
			major = d.Version.Major
		}
	})
	return major
}

// reported reports whether a monitor is shown in quorum: one that just ended still is.
func (c *Cluster) reported(d *Daemon) bool {
	return c.joined(d) || !d.Running && d.Newest > 0 && c.Now < d.Since+c.Settings.Stale
}

func text(v versions.Version) string {
	return fmt.Sprintf("ceph version %s (%s) %s (stable)", full(v), v.Commit, names[v.Major])
}

// full is the version as a binary reports it: that of a build that is no release ends with its commit, such as 19.1.33-403-g6b0e9880.
func full(v versions.Version) string {
	if v.Build == 0 {
		return v.String()
	}
	return fmt.Sprintf("%s-g%.8s", v, v.Commit)
}

// seen reports whether the versions of a daemon are counted now.
func (c *Cluster) seen(d *Daemon) bool {
	switch d.Name.Type {
	case client.TypeMon:
		return c.reported(d)
	case client.TypeOSD:
		return c.up(d)
	case client.TypeMDS:
		return c.ready(d)
	case client.TypeRGW:
		return d.Running && c.Now >= d.Since+c.Settings.RGWStart
	default:
		return d.Running
	}
}

func (c *Cluster) versions() any {
	out := map[string]map[string]int{"overall": {}}
	for _, t := range client.Types() {
		c.of(t, func(d *Daemon) {
			if out[string(t)] == nil && (t == client.TypeMon || t == client.TypeMgr || t == client.TypeOSD || c.seen(d)) {
				out[string(t)] = map[string]int{}
			}
			if c.seen(d) {
				out[string(t)][text(d.Version)]++
				out["overall"][text(d.Version)]++
			}
		})
	}
	return out
}

// elected is when the monitors last elected a leader: when one joined, or one that ended was missed.
func (c *Cluster) elected() (at int64) {
	c.of(client.TypeMon, func(d *Daemon) {
		switch {
		case c.joined(d):
			at = max(at, d.Since+c.Settings.MonJoin)
		case !d.Running && d.Newest > 0 && !c.reported(d):
			at = max(at, d.Since+c.Settings.Stale)
		}
	})
	return at
}

func (c *Cluster) quorumStatus() any {
	var ranks []int
	var in []string
	var mons []object
	c.of(client.TypeMon, func(d *Daemon) {
		if c.reported(d) {
			ranks, in = append(ranks, len(mons)), append(in, d.Name.ID)
		}
		mons = append(mons, object{"rank": len(mons), "name": d.Name.ID})
	})
	out := object{
		"quorum_age": (c.Now - c.elected()) / 1000, "election_epoch": 4, "quorum": ranks, "quorum_names": in, "quorum_leader_name": in[0],
		"monmap": object{"epoch": 1, "fsid": c.FSID, "min_mon_release": c.MinMonRelease, "min_mon_release_name": names[c.MinMonRelease], "mons": mons},
	}
	return out
}

func (c *Cluster) osdDump() any {
	list := []object{}
	c.of(client.TypeOSD, func(d *Daemon) {
		state, up, in := []string{"exists"}, 0, 1
		if d.Out {
			in = 0
		}
		if d.Newest == 0 {
			state = append(state, "new")
		}
		if d.NoOut {
			state = append(state, "noout")
		}
		if c.up(d) {
			state, up = append(state, "up"), 1
		}
		list = append(list, object{"osd": number(d), "uuid": c.uuidOf(d.Name.ID), "up": up, "in": in, "weight": in, "state": state})
	})
	slices.SortFunc(list, func(a, b object) int { return a["osd"].(int) - b["osd"].(int) })
	pools := []object{}
	for _, p := range c.Pools {
		pools = append(pools, object{"pool_name": p.Name, "type": 1, "size": p.Size, "min_size": p.MinSize})
	}
	return object{
		"epoch": 31, "fsid": c.FSID, "flags": "sortbitwise,recovery_deletes,purged_snapdirs,pglog_hardlimit",
		"flags_set": []string{"pglog_hardlimit", "purged_snapdirs", "recovery_deletes", "sortbitwise"}, "require_osd_release": names[c.RequireRelease], "osds": list, "pools": pools,
	}
}

func number(d *Daemon) int {
	n, err := strconv.Atoi(d.Name.ID)
	if err != nil {
		panic(fmt.Errorf("the OSD %q has no number", d.Name.ID))
	}
	return n
}

func (c *Cluster) osdTree() any {
	hosts, children := []object{}, []int{}
	c.of(client.TypeOSD, func(d *Daemon) {
		children = append(children, number(d))
		status := "down"
		if c.up(d) {
			status = "up"
		}
		hosts = append(hosts, object{"id": number(d), "device_class": "hdd", "name": d.Name.String(), "type": "osd", "type_id": 0, "exists": 1, "status": status, "reweight": 1})
	})
	nodes := append([]object{{"id": -1, "name": "default", "type": "root", "children": []int{-3}}, {"id": -3, "name": "vm", "type": "host", "type_id": 1, "children": children}}, hosts...)
	return object{"nodes": nodes, "stray": []object{}}
}

func (c *Cluster) pgStat() any {
	total := 0
	for _, p := range c.Pools {
		total += p.PGs
	}
	reported := c.stats
	if reported == nil {
		reported = map[string]int{"unknown": total}
	}
	states := []object{}
	for _, name := range sortedKeys(reported) {
		states = append(states, object{"name": name, "num": reported[name]})
	}
	return object{"pg_ready": true, "pg_summary": object{"num_pg_by_state": states, "num_pgs": total}}
}

func (c *Cluster) mdsState(d *Daemon) string {
	switch {
	case d.Rank < 0:
		return client.MDSStandby
	case c.Now < d.ActiveAt:
		return "up:reconnect"
	default:
		return client.MDSActive
	}
}

func (c *Cluster) mds(d *Daemon) object {
	o := object{"gid": c.gid(d), "name": d.Name.ID, "rank": d.Rank, "state": c.mdsState(d)}
	if c.release() >= 16 {
		o["join_fscid"] = -1
	}
	if d.Laggy {
		o["laggy_since"] = "2026-11-26T20:00:00.000000+0000"
	}
	return o
}

func (c *Cluster) gid(d *Daemon) int {
	return 4100 + slices.IndexFunc(c.Daemons, func(o Daemon) bool { return o.Name == d.Name })
}

func (c *Cluster) fsDump() any {
	standbys, filesystems := []object{}, []object{}
	c.of(client.TypeMDS, func(d *Daemon) {
		if d.Rank < 0 && c.ready(d) {
			standbys = append(standbys, c.mds(d))
		}
	})
	for i := range c.Filesystems {
		f := &c.Filesystems[i]
		flags := 18
		if f.StandbyReplay {
			flags |= 1 << 5
		}
		info, failed, in := object{}, []int{}, []int{}
		for rank := range f.MaxMDS {
			h := c.holder(f.Name, rank)
			if h == nil {
				h = c.laggy(f.Name, rank)
			}
			if h != nil {
				info[fmt.Sprintf("gid_%d", c.gid(h))] = c.mds(h)
				in = append(in, rank)
			} else {
				failed = append(failed, rank)
			}
		}
		filesystems = append(filesystems, object{"id": f.ID, "mdsmap": object{
			"fs_name": f.Name, "flags": flags, "max_mds": f.MaxMDS, "in": in, "failed": failed, "damaged": []int{}, "info": info, "standby_count_wanted": f.StandbysWanted,
		}})
	}
	return object{"epoch": 6, "standbys": standbys, "filesystems": filesystems}
}

func (c *Cluster) mgrDump() any {
	standbys := []object{}
	c.of(client.TypeMgr, func(d *Daemon) {
		if d.Running && d.Name.ID != c.Active {
			standbys = append(standbys, object{"gid": c.gid(d), "name": d.Name.ID})
		}
	})
	return object{"epoch": 4, "active_name": c.Active, "available": c.Active != "" && c.Now >= c.ActiveSince, "standbys": standbys}
}

// metadata returns what daemons of the type reported when they started, and monitors when they joined the quorum. A daemon that is down stays in it.
func metadata(t client.Type) func(*Cluster) any {
	return func(c *Cluster) any {
		out := []object{}
		c.of(t, func(d *Daemon) {
			version, pod := d.Version, d.Pod
			if t == client.TypeMon && !c.joined(d) {
				version, pod = d.Reported, d.ReportedPod
			}
			if version.IsZero() || (t == client.TypeMgr || t == client.TypeMDS) && !d.Running {
				return
			}
			o := object{"name": d.Name.ID, "ceph_release": names[version.Major], "ceph_version": text(version), "ceph_version_short": version.String(), "pod_name": pod}
			if t == client.TypeOSD {
				delete(o, "name")
				o["id"] = number(d)
			}
			out = append(out, o)
		})
		return out
	}
}
