package kafkaversion_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

// six are three controllers and three brokers.
func (k scenes) six(version string, level int16) *world {
	return newWorld(k.table, rolltest.Split(3, 3), version, level)
}

// upgrade is a cluster of six at rest, of which a newer version was just asked for.
func (k scenes) upgrade(t testing.TB) *driver {
	t.Helper()
	d := newDriver(t, k.six(old, oldLevel)).play()
	d.trail, d.passes = nil, 0
	d.world.wanted = newer
	return d
}

func check[T any](t *testing.T, d *driver, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", what, diff, d.story())
	}
}

// unharmed says that no node died at start and no restart took too much away.
func unharmed(t *testing.T, d *driver) {
	t.Helper()
	check(t, d, "deaths", nil, d.world.deaths)
	check(t, d, "harms", nil, d.world.harms)
}

func TestLifecycleUpgrade(t *testing.T) {
	d := newScenes(t).upgrade(t).play()
	w := d.world
	check(t, d, "restarts: controllers first, the leader last of them, every node once", []int32{1, 2, 0, 3, 4, 5}, w.restarts)
	check(t, d, "levels", []int16{newerLevel}, w.updates)
	unharmed(t, d)
	check(t, d, "the end", []string{kafkaversion.Verifying, kafkaversion.SettingMetadata, kafkaversion.Settled}, d.visited()[len(d.trail)-3:])
	perNode := []string{roll.SelectingNode, roll.RestartingNode, roll.AwaitingReady, roll.AwaitingInSync}
	want := []string{kafkaversion.Checking}
	for range w.nodes {
		want = append(want, perNode...)
	}
	check(t, d, "the way", append(want, roll.SelectingNode), d.visited()[:len(d.trail)-3])
}

func TestLifecycleOfANewCluster(t *testing.T) {
	k := newScenes(t)
	w := k.six(newer, newerLevel)
	for _, n := range w.nodes {
		rolltest.Gone(n.ID)(&roll.Facts{Nodes: []roll.Node{n.Node}})
		n.entry, n.version, n.started = "", "", ""
		n.Running, n.Ready, n.StartedAt = false, false, time.Time{}
	}
	d := newDriver(t, w).play()
	check(t, d, "the way", []string{
		kafkaversion.Settled, kafkaversion.Checking, roll.AwaitingReady, kafkaversion.Verifying, kafkaversion.Settled,
	}, d.visited())
	check(t, d, "restarts", nil, w.restarts)
}

func TestLifecycleDowngradeWaitsForSnapshots(t *testing.T) {
	d := newDriver(t, newScenes(t).six(newer, newerLevel)).play()
	w := d.world
	w.pin = "4.0"
	d.play()
	check(t, d, "levels", []int16{oldLevel}, w.updates)
	w.wanted, d.trail = old, nil
	d.play()
	unharmed(t, d)
	check(t, d, "versions", []int32{0, 1, 2, 3, 4, 5}, w.carrying(old))
	check(t, d, "restarts", []int32{1, 2, 0, 3, 4, 5}, w.restarts)
	check(t, d, "waited for snapshots", true, slices.Contains(d.visited(), kafkaversion.AwaitingSnapshot))
	check(t, d, "state", kafkaversion.Settled, d.state())
}

func TestLifecycleDowngradeOfNodesThatNeverSnapshot(t *testing.T) {
	d := newDriver(t, newScenes(t).six(newer, newerLevel)).play()
	w := d.world
	w.pin, w.interval = "4.0", 0
	d.play()
	w.wanted = old
	d.play()
	check(t, d, "state", kafkaversion.Refusing, d.state())
	check(t, d, "restarts", nil, w.restarts)
}

// TestLifecycleTargetChange goes back to the old version before each pass of an upgrade.
func TestLifecycleTargetChange(t *testing.T) {
	k := newScenes(t)
	ends := map[string]int{}
	slow := func(t testing.TB) *driver {
		t.Helper()
		d := k.upgrade(t)
		d.world.answersAfter = 4
		return d
	}
	for at := range slow(t).play().busy() {
		t.Run(fmt.Sprintf("before pass %d", at), func(t *testing.T) {
			d := slow(t)
			w := d.world
			var moved []int32
			var before int
			d.before = func(pass int) {
				if pass == at {
					w.wanted, moved, before = old, w.running(newer), len(w.restarts)
				}
			}
			d.play()
			ends[d.state()]++
			unharmed(t, d)
			if w.level == newerLevel {
				check(t, d, "after the one-way door", kafkaversion.Refusing, d.state())
				check(t, d, "restarts after the one-way door", 6, len(w.restarts))
				return
			}
			after := w.restarts[before:]
			slices.Sort(after)
			check(t, d, "state", kafkaversion.Settled, d.state())
			check(t, d, "versions", []int32{0, 1, 2, 3, 4, 5}, w.carrying(old))
			check(t, d, "nodes that went back", moved, after)
		})
	}
	if ends[kafkaversion.Refusing] == 0 || ends[kafkaversion.Settled] < 50 {
		t.Errorf("the change of mind met too little: %v", ends)
	}
	t.Logf("changed its mind at %d passes: %v", ends[kafkaversion.Refusing]+ends[kafkaversion.Settled], ends)
}

// TestLifecycleWithoutPersistedState removes the entry before each pass of an upgrade.
func TestLifecycleWithoutPersistedState(t *testing.T) {
	k := newScenes(t)
	passes := k.upgrade(t).play().busy()
	for at := range passes {
		t.Run(fmt.Sprintf("before pass %d", at), func(t *testing.T) {
			d := k.upgrade(t)
			w := d.world
			d.before = func(pass int) {
				if pass == at {
					d.entry = nil
				}
			}
			d.play()
			unharmed(t, d)
			check(t, d, "state", kafkaversion.Settled, d.state())
			check(t, d, "restarts", once([]int32{0, 1, 2, 3, 4, 5}), w.restarted())
			check(t, d, "levels", []int16{newerLevel}, w.updates)
		})
	}
	t.Logf("lost the persisted state at each of %d passes", passes)
}

// TestLifecycleTargetChangeDuringAnUncertainRequest: a request to raise the level is slow, its sender ends, and the previous
// version is desired again. An older binary that is started meanwhile would die of the raise.
func TestLifecycleTargetChangeDuringAnUncertainRequest(t *testing.T) {
	for name, forget := range map[string]func(*driver){
		"the persisted state is lost":                      func(d *driver) { d.entry = nil },
		"the process ends":                                 func(d *driver) { d.world.restartOperator() },
		"the process ends and the persisted state is lost": func(d *driver) { d.entry = nil; d.world.restartOperator() },
	} {
		t.Run(name, func(t *testing.T) {
			d := newScenes(t).upgrade(t)
			w := d.world
			w.answersAfter = 5
			forgotten := false
			d.before = func(int) {
				if r := w.request; r != nil && r.status == kafkaversion.Asked && r.ticks > 0 && !forgotten {
					forget(d)
					w.wanted, forgotten = old, true
				}
			}
			d.play()
			check(t, d, "forgotten", true, forgotten)
			unharmed(t, d)
			check(t, d, "levels", []int16{newerLevel}, w.updates)
			check(t, d, "state", kafkaversion.Refusing, d.state())
			check(t, d, "versions", []int32{0, 1, 2, 3, 4, 5}, w.running(newer))
		})
	}
}

// TestLifecycleCorrectionReachesTheCurrentNode: the new version does not come up with today's settings, until they are corrected.
func TestLifecycleCorrectionReachesTheCurrentNode(t *testing.T) {
	d := newScenes(t).upgrade(t)
	w := d.world
	w.dropped = newer
	d.before = func(pass int) {
		if pass == 50 {
			check(t, d, "the one node that was tried", []int32{1}, w.restarts)
			check(t, d, "state", roll.AwaitingReady, d.state())
			for _, n := range w.nodes {
				n.Stale = true
			}
		}
	}
	d.play()
	check(t, d, "state", kafkaversion.Settled, d.state())
	check(t, d, "restarts: once more for the node that was tried", []int32{1, 1, 2, 0, 3, 4, 5}, w.restarts)
}

// TestLifecycleWhileNothingServes: no node with both roles can start on its version; the desired version would start.
func TestLifecycleWhileNothingServes(t *testing.T) {
	k := newScenes(t)
	w := newWorld(k.table, rolltest.Dual(3), old, oldLevel)
	for _, n := range w.nodes {
		n.Ready, n.StartedAt, n.Trouble = false, time.Time{}, transitions.Problemf(roll.ContainerDied, "died: corrupted by a bug of this version")
	}
	w.wanted = newer
	d := newDriver(t, w).play()
	check(t, d, "state", kafkaversion.Settled, d.state())
	check(t, d, "restarts", []int32{0, 1, 2}, w.restarts)
	check(t, d, "levels", []int16{newerLevel}, w.updates)
}

// TestLifecycleSoakingAndApproval: both are asked for, and the approval is given to the attempt and the level by name.
func TestLifecycleSoakingAndApproval(t *testing.T) {
	d := newScenes(t).upgrade(t)
	w := d.world
	w.finalize = kafkaversion.Finalize{Soak: 5 * time.Minute, ByApproval: true, Approved: "000000/4.1-IV1"}
	d.play()
	check(t, d, "state", kafkaversion.Soaking, d.state())
	for range 100 {
		w.pass()
	}
	d.play()
	check(t, d, "state", kafkaversion.AwaitingApproval, d.state())
	check(t, d, "levels", nil, w.updates)
	w.finalize.Approved = d.entry.Attempt.ID + "/4.1-IV1"
	d.play()
	check(t, d, "state", kafkaversion.Settled, d.state())
	check(t, d, "levels", []int16{newerLevel}, w.updates)
}

// TestLifecycleOfRandomClusters changes the target, loses the persisted state and kills pods at random. After that every lifecycle
// comes to rest at its last target, or is refused because a level was raised, and no process died of a level or changed too far.
func TestLifecycleOfRandomClusters(t *testing.T) {
	k := newScenes(t)
	ends := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.SampledFrom([]roll.Facts{rolltest.Split(3, 3), rolltest.Dual(3)}).Draw(rt, "nodes")
		w := newWorld(k.table, nodes, old, oldLevel)
		w.answersAfter = rapid.IntRange(0, 5).Draw(rt, "answers after")
		w.pin = rapid.SampledFrom([]string{"", "4.0"}).Draw(rt, "pin")
		w.finalize.Soak = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "soak")
		at := rapid.SliceOfN(rapid.IntRange(0, 120), 1, 8).Draw(rt, "at")
		d := newDriver(rt, w)
		d.before = func(pass int) {
			for range slices.DeleteFunc(slices.Clone(at), func(one int) bool { return one != pass }) {
				k.happens(rt, d)
			}
		}
		d.play()
		ends[d.state()]++
		if len(w.deaths) > 0 || len(w.harms) > 0 {
			rt.Fatalf("deaths %v, harms %v\n%s", w.deaths, w.harms, d.story())
		}
		switch d.state() {
		case kafkaversion.Settled:
			if len(w.carrying(w.wanted)) != len(w.nodes) {
				rt.Fatalf("settled, and only %v are on %s\n%s", w.carrying(w.wanted), w.wanted, d.story())
			}
		case kafkaversion.Refusing:
			if w.runs(w.wanted, w.level) {
				rt.Fatalf("refused although %s runs level %d\n%s", w.wanted, w.level, d.story())
			}
		default:
			rt.Fatalf("it ends in %s\n%s", d.state(), d.story())
		}
	})
	t.Logf("ends: %v", ends)
}

// happens is an event caused by a user or by the world.
func (k scenes) happens(t *rapid.T, d *driver) {
	w := d.world
	switch rapid.SampledFrom([]string{"new wish", "new wish", "lost persisted state", "lost process", "lost pod", "new pin"}).Draw(t, "happens") {
	case "new wish":
		w.wanted = rapid.SampledFrom([]string{old, newer, acme}).Draw(t, "wanted")
	case "lost persisted state":
		d.entry = nil
	case "lost process":
		w.restartOperator()
	case "lost pod":
		w.kill(w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")])
	case "new pin":
		w.pin = rapid.SampledFrom([]string{"", "4.0", "4.1-IV0"}).Draw(t, "pin")
	}
}
