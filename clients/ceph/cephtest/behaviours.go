package cephtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
)

// Behaviours returns all rows of the table.
func Behaviours() []Behaviour {
	return slices.Concat(asking(), stopping(), requiring(), rollingBack(), changing())
}

func asking() (rows []Behaviour) {
	for release, version := range Releases() {
		on := Setup{Release: release}
		rows = append(rows,
			Behaviour{Name: release + ": a healthy cluster answers every question", Setup: on, When: holds("the answers", func(ctx context.Context, c ceph.Client) (bool, error) {
				running, err := c.Versions(ctx)
				if err != nil || running[ceph.TypeMon][version] != 3 || running[ceph.TypeOSD][version] != 3 {
					return false, err
				}
				health, err := c.Health(ctx)
				if err != nil || health.Status != ceph.HealthOK {
					return false, err
				}
				pgs, err := c.PGs(ctx)
				clean, _ := pgs.Clean()
				return clean, err
			})},
			Behaviour{Name: release + ": one call answers several questions", Setup: on, When: try("ask", together)},
			Behaviour{Name: release + ": one OSD may be stopped", Setup: on, When: asks(osd("0"), ceph.Permitted)},
			Behaviour{Name: release + ": one monitor may be stopped", Setup: on, When: asks(mon("a"), ceph.Permitted)},
			Behaviour{Name: release + ": Ceph permits to stop an OSD that does not exist", Setup: on, When: asks(osd("99"), ceph.Permitted)},
			Behaviour{Name: release + ": Ceph permits to stop a metadata server that does not exist", Setup: on, When: asks(mds("a"), ceph.Permitted)},
			Behaviour{Name: release + ": a daemon reports its own version", Setup: on, When: serves(osd("1"), release)},
		)
	}
	return rows
}

// together asks for all maps at once, and fails if a question had to be asked by itself.
func together(ctx context.Context, c ceph.Client) error {
	calls := &counter{Runner: c.Runner}
	all, err := ceph.Client{Runner: calls}.Together(ctx, "quorum_status", "mgr dump", "osd dump", "fs dump", "pg stat", "health detail", "mon metadata", "osd metadata")
	if err != nil {
		return err
	}
	quorum, err := all.Quorum(ctx)
	_, health := all.Health(ctx)
	_, placement := all.PGs(ctx)
	_, filesystems := all.Filesystems(ctx)
	osds, mapped := all.OSDMap(ctx)
	_, managers := all.Managers(ctx)
	monitors, metadata := all.Metadata(ctx, ceph.TypeMon)
	if err := errors.Join(err, health, placement, filesystems, mapped, managers, metadata); err != nil {
		return err
	}
	if calls.made != 1 || len(quorum.Members) != 3 || len(osds.OSDs) != 3 || len(monitors) != 3 {
		return fmt.Errorf("%d calls answered with %d monitors in quorum, %d OSDs and the metadata of %d monitors", calls.made, len(quorum.Members), len(osds.OSDs), len(monitors))
	}
	return nil
}

// counter counts the calls of a runner.
type counter struct {
	ceph.Runner
	made int
}

func (c *counter) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	c.made++
	return c.Runner.Run(ctx, command)
}

func stopping() []Behaviour {
	on16 := Setup{Release: "16"}
	return []Behaviour{
		{Name: "no second OSD may be stopped", Setup: on16, Given: []Step{stop(osd("2")), raised("OSD_DOWN")}, When: asks(osd("0"), ceph.Denied)},
		{Name: "no second monitor may be stopped", Setup: on16, Given: []Step{stop(mon("c")), raised("MON_DOWN")}, When: asks(mon("a"), ceph.Denied)},
		{Name: "a monitor that just ended is still in quorum", Setup: on16, Given: []Step{stop(mon("c"))}, When: holds("c is a member", func(ctx context.Context, c ceph.Client) (bool, error) {
			q, err := c.Quorum(ctx)
			return slices.Contains(q.Members, "c"), err
		})},
		{Name: "a monitor that ended does not answer", Setup: on16, Given: []Step{stop(mon("c"))}, When: try("c is silent", func(ctx context.Context, c ceph.Client) error {
			if _, err := c.Tell(ctx, mon("c")); err == nil {
				return errNone
			}
			return nil
		})},
		{Name: "an OSD that was stopped leaves placement groups degraded, and is clean again", Setup: on16, Given: []Step{stop(osd("1")), raised("OSD_DOWN"), raised("PG_DEGRADED"), start(osd("1"), "16"), serves(osd("1"), "16")}, When: cleared("PG_DEGRADED")},
		{Name: "the versions lack an OSD that is down", Setup: on16, Given: []Step{stop(osd("1")), raised("OSD_DOWN")}, When: holds("two OSDs", func(ctx context.Context, c ceph.Client) (bool, error) {
			running, err := c.Versions(ctx)
			return running[ceph.TypeOSD][Releases()["16"]] == 2, err
		})},
		{Name: "the metadata keep an OSD that is down", Setup: on16, Given: []Step{stop(osd("1")), raised("OSD_DOWN")}, When: holds("three OSDs", func(ctx context.Context, c ceph.Client) (bool, error) {
			all, err := c.Metadata(ctx, ceph.TypeOSD)
			return len(all) == 3, err
		})},
		{Name: "without a majority of monitors nothing is answered", Setup: on16, Given: []Step{stop(mon("b")), stop(mon("c"))}, When: try("no answer", func(ctx context.Context, c ceph.Client) error {
			if _, err := c.Health(ctx); err == nil {
				return errNone
			}
			return nil
		})},
		{Name: "the last metadata server of a filesystem is an error", Setup: on16, Given: []Step{stop(mds("myfs-a")), stop(mds("myfs-b"))}, When: raised("MDS_ALL_DOWN")},
		{Name: "a standby takes the rank of a metadata server that ended", Setup: on16, Given: []Step{stop(mds("myfs-a")), raised("MDS_INSUFFICIENT_STANDBY")}, When: until("myfs-b is active", func(ctx context.Context, c ceph.Client) (bool, error) {
			f, err := c.Filesystems(ctx)
			return err == nil && len(f.Filesystems) == 1 && slices.ContainsFunc(f.Filesystems[0].MDS, func(m ceph.MDS) bool { return m.Name == "myfs-b" && m.State == ceph.MDSActive }), err
		})},
	}
}

func requiring() []Behaviour {
	on16 := Setup{Release: "16"}
	require := func(ctx context.Context, c ceph.Client) error { return c.RequireOSDRelease(ctx, "reef") }
	return []Behaviour{
		{Name: "a release is not required while a monitor is older", Setup: on16, Given: monsMove("18", "a", "b"), When: refuses("require reef", "", require)},
		{Name: "a release is required although the OSDs are older", Setup: on16, Given: monsMove("18", "a", "b", "c"), When: try("require reef", require)},
		{Name: "the end of an upgrade is reported although the OSDs are older", Setup: on16, Given: monsMove("18", "a", "b", "c"), When: raised("OSD_UPGRADE_FINISHED")},
		{Name: "a required release is not lowered", Setup: on16, When: refuses("require nautilus", "cannot be lowered", func(ctx context.Context, c ceph.Client) error { return c.RequireOSDRelease(ctx, "octopus") })},
		{Name: "the minimum of the monitors follows them", Setup: on16, Given: monsMove("18", "a", "b", "c"), When: until("min_mon_release is 18", func(ctx context.Context, c ceph.Client) (bool, error) {
			q, err := c.Quorum(ctx)
			return q.MinRelease == 18, err
		})},
		{Name: "an OSD of a newer release joins older monitors", Setup: on16, Given: []Step{stop(osd("0")), start(osd("0"), "18")}, When: serves(osd("0"), "18")},
	}
}

func rollingBack() []Behaviour {
	on14, on16 := Setup{Release: "14"}, Setup{Release: "16"}
	return []Behaviour{
		{Name: "a monitor goes back from 16 to 14 while others run 14", Setup: on14, Given: append(monsMove("16", "a"), stop(mon("a")), start(mon("a"), "14")), When: serves(mon("a"), "14")},
		{Name: "no monitor goes back from 16 to 14 once all ran 16", Setup: on14, Given: append(monsMove("16", "a", "b", "c"), stop(mon("b"))), When: dies(mon("b"), "14")},
		{Name: "no monitor goes back from 18 to 16", Setup: on16, Given: append(monsMove("18", "a"), stop(mon("a"))), When: dies(mon("a"), "16")},
		{Name: "no OSD goes back from 16 to 14", Setup: on14, Given: append(moves(osd("0"), "16"), stop(osd("0"))), When: dies(osd("0"), "14")},
		{Name: "no monitor skips two releases", Setup: on14, Given: []Step{stop(mon("a"))}, When: dies(mon("a"), "18")},
		{Name: "a refused start spoils the data of a monitor", Setup: on14, Given: []Step{stop(mon("a")), dies(mon("a"), "18")}, When: dies(mon("a"), "14")},
	}
}

func changing() []Behaviour {
	on16 := Setup{Release: "16"}
	noOut := func(set bool) Step {
		return try("change noout", func(ctx context.Context, c ceph.Client) error { return c.SetNoOut(ctx, 1, set) })
	}
	flagged := func(want bool) Step {
		return holds("the flag of osd.1", func(ctx context.Context, c ceph.Client) (bool, error) {
			m, err := c.OSDMap(ctx)
			o, ok := m.OSD(1)
			return ok && o.NoOut == want, err
		})
	}
	return []Behaviour{
		{Name: "noout of one OSD is set", Setup: on16, Given: []Step{noOut(true)}, When: flagged(true)},
		{Name: "noout of one OSD is reported", Setup: on16, Given: []Step{noOut(true)}, When: raised("OSD_FLAGS")},
		{Name: "noout of one OSD is removed, twice", Setup: on16, Given: []Step{noOut(true), noOut(false), noOut(false)}, When: flagged(false)},
		{Name: "noout of an OSD that does not exist is accepted", Setup: on16, When: try("set noout of osd.99", func(ctx context.Context, c ceph.Client) error { return c.SetNoOut(ctx, 99, true) })},
		{Name: "a key is stored and removed, twice", Setup: on16, Given: []Step{
			try("store", func(ctx context.Context, c ceph.Client) error { return c.SetKey(ctx, "detent/test", "1") }),
			holds("it is read", func(ctx context.Context, c ceph.Client) (bool, error) {
				keys, err := c.Keys(ctx, "detent/")
				return keys["detent/test"] == "1", err
			}),
			try("remove", func(ctx context.Context, c ceph.Client) error { return c.RemoveKey(ctx, "detent/test") }),
			try("remove again", func(ctx context.Context, c ceph.Client) error { return c.RemoveKey(ctx, "detent/test") }),
		}, When: holds("it is gone", func(ctx context.Context, c ceph.Client) (bool, error) {
			keys, err := c.Keys(ctx, "detent/")
			_, found := keys["detent/test"]
			return !found, err
		})},
		{Name: "a failed manager is replaced by its standby", Setup: on16, Given: []Step{until("a manager is active", active(""))}, When: Step{Name: "fail it", Do: failsOver}},
		{Name: "a manager that does not exist is failed without an error", Setup: on16, When: try("fail it", func(ctx context.Context, c ceph.Client) error { return c.FailMgr(ctx, "nosuch") })},
		{Name: "an active manager that ends is replaced", Setup: on16, Given: []Step{until("a manager is active", active(""))}, When: Step{Name: "stop it", Do: endsActive}},
		{Name: "max_mds is set", Setup: on16, Given: []Step{try("set it", func(ctx context.Context, c ceph.Client) error { return c.SetMaxMDS(ctx, "myfs", 2) })}, When: until("both serve", func(ctx context.Context, c ceph.Client) (bool, error) {
			f, err := c.Filesystems(ctx)
			return err == nil && f.Filesystems[0].MaxMDS == 2 && len(f.Filesystems[0].MDS) == 2, err
		})},
		{Name: "max_mds of a filesystem that does not exist is refused", Setup: on16, When: refuses("set it", "not found", func(ctx context.Context, c ceph.Client) error { return c.SetMaxMDS(ctx, "nosuch", 1) })},
		{Name: "standby-replay is allowed", Setup: on16, Given: []Step{try("allow it", func(ctx context.Context, c ceph.Client) error { return c.SetStandbyReplay(ctx, "myfs", true) })}, When: holds("it is shown", func(ctx context.Context, c ceph.Client) (bool, error) {
			f, err := c.Filesystems(ctx)
			return err == nil && f.Filesystems[0].StandbyReplay, err
		})},
	}
}

// active returns the condition that another manager than the given one is active and available.
func active(other string) func(ctx context.Context, c ceph.Client) (bool, error) {
	return func(ctx context.Context, c ceph.Client) (bool, error) {
		m, err := c.Managers(ctx)
		return err == nil && m.Available && m.Active != "" && m.Active != other, err
	}
}

func failsOver(ctx context.Context, w World) error {
	m, err := w.Client().Managers(ctx)
	if err != nil {
		return err
	}
	if err := w.Client().FailMgr(ctx, m.Active); err != nil {
		return err
	}
	return until("another manager is active", active(m.Active)).Do(ctx, w)
}

func endsActive(ctx context.Context, w World) error {
	m, err := w.Client().Managers(ctx)
	if err != nil {
		return err
	}
	if err := w.Stop(ctx, mgr(m.Active)); err != nil {
		return err
	}
	return until("another manager is active", active(m.Active)).Do(ctx, w)
}
