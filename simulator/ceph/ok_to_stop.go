package ceph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/ceph"
)

func (c *Cluster) okToStop(kind string, ids []string) client.Result {
	switch client.Type(kind) {
	case client.TypeMon:
		return c.monOKToStop(ids)
	case client.TypeOSD:
		return c.osdOKToStop(ids)
	case client.TypeMDS:
		return c.mdsOKToStop(ids)
	default:
		return refused(22, "EINVAL", "invalid command")
	}
}

func (c *Cluster) monOKToStop(ids []string) client.Result {
	var left []string
	all := 0
	c.of(client.TypeMon, func(d *Daemon) {
		all++
		if c.reported(d) && !slices.Contains(ids, d.Name.ID) {
			left = append(left, d.Name.ID)
		}
	})
	if 2*len(left) > all {
		return said("quorum should be preserved (%s) after stopping [%s]", strings.Join(left, ","), strings.Join(ids, ","))
	}
	return refused(16, "EBUSY", fmt.Sprintf("not enough monitors would be available (%s) after stopping mons [%s]", strings.Join(left, ","), strings.Join(ids, ",")))
}

// osdOKToStop answers from the statistics, which a manager that just became active does not have, and which have the pools as they were
// reported. Whether OSDs are up is current.
func (c *Cluster) osdOKToStop(ids []string) client.Result {
	if strings.HasPrefix(ids[len(ids)-1], "--max") {
		if c.release() < 16 {
			return refused(22, "EINVAL", "invalid command")
		}
		ids = ids[:len(ids)-1]
	}
	var asked []client.Daemon
	var numbers []int
	for _, id := range ids {
		n, err := strconv.Atoi(id)
		if err != nil {
			return refused(22, "EINVAL", "invalid osd id "+id)
		}
		asked, numbers = append(asked, client.Daemon{Type: client.TypeOSD, ID: id}), append(numbers, n)
	}
	if c.statsAt < 0 {
		return c.osdUndecided(numbers)
	}
	bad, fine := 0, 0
	c.eachPG(c.counted, nil, func(_, _ int, _ Pool) { fine++ })
	var before []int
	c.eachPG(c.counted, nil, func(present, _ int, _ Pool) { before = append(before, present) })
	i := 0
	c.eachPG(c.counted, asked, func(present, _ int, pool Pool) {
		if present < pool.MinSize && present < before[i] {
			bad++
		}
		i++
	})
	if !slices.ContainsFunc(asked, func(d client.Daemon) bool { at := c.find(d); return at != nil && c.up(at) }) {
		fine = 0 // nothing would change
	}
	return c.osdPermission(numbers, fine-min(bad, fine), bad)
}

func (c *Cluster) osdUndecided(numbers []int) client.Result {
	r := refused(11, "EAGAIN", "1 pgs have unknown state; cannot draw any conclusions")
	if c.release() >= 16 {
		r.Stdout = given(map[string]any{"ok_to_stop": false, "osds": numbers, "num_ok_pgs": 0, "num_not_ok_pgs": 0}).Stdout
	}
	return r
}

func (c *Cluster) osdPermission(numbers []int, fine, bad int) client.Result {
	why := fmt.Sprintf("unsafe to stop osd(s) at this time (%d PGs are or would become offline)", bad)
	if c.release() < 16 {
		if bad > 0 {
			return refused(16, "EBUSY", fmt.Sprintf("%d PGs are already too degraded, would become too degraded or might become unavailable", bad))
		}
		return said("OSD(s) %s are ok to stop without reducing availability or risking data, provided there are no other concurrent failures or interventions.", strings.Trim(fmt.Sprint(numbers), "[]"))
	}
	r := given(map[string]any{"ok_to_stop": bad == 0, "osds": numbers, "num_ok_pgs": fine, "num_not_ok_pgs": bad})
	if bad > 0 {
		r.Code, r.Stderr = 16, fmt.Appendf(nil, "Error EBUSY: %s\n", why)
	}
	return r
}

func (c *Cluster) mdsOKToStop(ids []string) client.Result {
	spare, taken := 0, 0
	c.of(client.TypeMDS, func(d *Daemon) {
		asked := slices.Contains(ids, d.Name.ID)
		switch {
		case !c.ready(d):
		case d.Rank < 0 && !asked:
			spare++
		case d.Rank >= 0 && asked:
			taken++
		}
	})
	if taken > spare {
		return refused(16, "EBUSY", "insufficient standby MDS daemons to stop active gids and/or standby gids")
	}
	return said("should be safe to stop [%s]", strings.Join(ids, ","))
}
