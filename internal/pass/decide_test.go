package pass_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

type entries = []lifecyclev1.Lifecycle

type decideCase struct {
	reason string
	world  world
	given  entries
	last   string
	slowed string
	want   []string // lifecycle: event from -> to
	// decided says that the generation is decided upon.
	decided   bool
	snapshots []evaluated
}

var (
	unread  = transitions.Unreadable[bool](errors.New("no answer"))
	pending = transitions.Pending[bool]()
)

func broken(t tank, change func(*tank)) tank {
	change(&t)
	return t
}

var cases = map[string]decideCase{
	"the first entries of all lifecycles share one write": {
		world:     world{"left": known(1, 1), "right": known(1, 2)},
		want:      []string{"left: inferred  -> Idle", "right: inferred  -> Waiting"},
		snapshots: []evaluated{{Needs: needs("level")}, {Needs: needs("level", "queue")}},
	},
	"first entries come before the edges of others": {
		reason: "an object is first seen as a whole",
		world:  world{"left": known(1, 2), "right": known(1, 1)}, given: entries{at("left", "Idle", "1")},
		want:      []string{"right: inferred  -> Idle"},
		snapshots: []evaluated{{Needs: needs("level")}},
	},
	"a first entry that is still pending holds nobody back": {
		world: world{"left": known(1, 2), "right": broken(known(1, 1), func(t *tank) { t.Level = pending })}, given: entries{at("left", "Waiting", "2")},
		want:      []string{"left: granted Waiting -> Filling"},
		snapshots: []evaluated{{Needs: needs("queue", "level")}},
	},
	"all at rest": {
		world: world{"left": known(1, 1), "right": known(1, 1)}, given: entries{at("left", "Idle", "1"), at("right", "Idle", "1")},
		decided: true, snapshots: []evaluated{{}},
	},
	"one lifecycle moves, and what its state waits for is observed": {
		world: world{"left": known(1, 2), "right": known(1, 1)}, given: entries{at("left", "Idle", "1"), at("right", "Idle", "1")},
		want:      []string{"left: wanted Idle -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("queue")}},
	},
	"of two that want to move the first declared moves": {
		world: world{"left": known(1, 2), "right": known(1, 2)}, given: entries{at("left", "Idle", "1"), at("right", "Idle", "1")},
		want:      []string{"left: wanted Idle -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("queue")}},
	},
	"the one that moved last lets the other go first": {
		world: world{"left": known(1, 2), "right": known(1, 2)}, given: entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, last: "left",
		want:      []string{"right: wanted Idle -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("queue")}},
	},
	"after the last comes the first again": {
		world: world{"left": known(1, 2), "right": known(1, 2)}, given: entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, last: "right",
		want:      []string{"left: wanted Idle -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("queue")}},
	},
	"the one that moved last moves on if no other wants to": {
		world: world{"left": known(1, 2), "right": known(1, 1)}, given: entries{at("left", "Waiting", "2"), at("right", "Idle", "1")}, last: "left",
		want: []string{"left: granted Waiting -> Filling"}, decided: true,
		snapshots: []evaluated{{Needs: needs("queue")}},
	},
	"a slowed lifecycle lets the other go": {
		world: world{"left": known(1, 2), "right": known(1, 2)}, given: entries{at("left", "Waiting", "2"), at("right", "Waiting", "2")}, slowed: "left",
		want:      []string{"right: granted Waiting -> Filling"},
		snapshots: []evaluated{{Needs: needs("queue")}},
	},
	"a slowed lifecycle stays where it is": {
		world: world{"left": known(1, 2), "right": known(1, 1)}, given: entries{at("left", "Waiting", "2"), at("right", "Idle", "1")}, slowed: "left",
		snapshots: []evaluated{{Needs: needs("queue")}},
	},
	"a slowed lifecycle begins another attempt at once": {
		world: world{"left": known(1, 2), "right": known(1, 1)}, given: entries{at("left", "Filling", "5"), at("right", "Idle", "1")}, slowed: "left",
		want:      []string{"left: target-changed Filling -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("queue")}},
	},
	"a contradicted persisted state is inferred on facts that were asked for": {
		world: world{"left": broken(known(1, 1), func(t *tank) { t.Intact = false }), "right": known(1, 1)}, given: entries{at("left", "Filling", "1"), at("right", "Idle", "1")},
		want: []string{"left: inferred Filling -> Idle"}, decided: true,
		snapshots: []evaluated{{}, {Needs: needs("level")}},
	},
	"three snapshots at most: to decide, to infer, to see what is waited for": {
		world: world{"left": broken(known(1, 2), func(t *tank) { t.Intact = false }), "right": known(1, 1)}, given: entries{at("left", "Filling", "2"), at("right", "Idle", "1")},
		want:      []string{"left: inferred Filling -> Waiting"},
		snapshots: []evaluated{{}, {Needs: needs("level")}, {Needs: needs("level", "queue")}},
	},
	"two contradicted persisted states share the snapshot that infers them": {
		world:     world{"left": broken(known(1, 1), func(t *tank) { t.Intact = false }), "right": broken(known(1, 1), func(t *tank) { t.Intact = false })},
		given:     entries{at("left", "Filling", "1"), at("right", "Filling", "1")},
		want:      []string{"left: inferred Filling -> Idle"},
		snapshots: []evaluated{{}, {Needs: needs("level")}},
	},
	"a guard that cannot be read decides upon the generation all the same while waiting": {
		world: world{"left": broken(known(1, 2), func(t *tank) { t.Queue = unread }), "right": known(1, 1)}, given: entries{at("left", "Waiting", "2"), at("right", "Idle", "1")},
		decided: true, snapshots: []evaluated{{Needs: needs("queue")}},
	},
	"an edge to where the lifecycle stays decides upon the generation": {
		reason: "the same write that settles also says so",
		world:  world{"left": known(2, 2), "right": known(1, 1)}, given: entries{at("left", "Filling", "2"), at("right", "Idle", "1")},
		want: []string{"left: filled Filling -> Idle"}, decided: true,
		snapshots: []evaluated{{}},
	},
}

func needs(names ...transitions.Need) []transitions.Need { return names }

func words(step pass.Step[string, world, string]) []string {
	var out []string
	for _, m := range step.Moved {
		out = append(out, m.Lifecycle+": "+m.Move.Event+" "+m.Move.From+" -> "+m.Move.To)
	}
	return out
}

func TestDecide(t *testing.T) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, snapshots := given(t, tc.world, tc.given...)
			in.Last = tc.last
			in.Slowed = func(lifecycle string, begins bool) bool { return lifecycle == tc.slowed && !begins }
			before := in.Status.DeepCopy()
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if len(step.Errs) > 0 {
				t.Fatal(step.Errs)
			}
			if diff := cmp.Diff(tc.want, words(step)); diff != "" {
				t.Errorf("%s: moves (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.snapshots, *snapshots, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: snapshots (-want +got):\n%s", tc.reason, diff)
			}
			if step.Decided != tc.decided {
				t.Errorf("%s: decided is %v, want %v", tc.reason, step.Decided, tc.decided)
			}
			if diff := cmp.Diff(before, in.Status); diff != "" {
				t.Errorf("deciding changed the status:\n%s", diff)
			}
			for _, m := range step.Moved {
				if m.Entry.State != m.Move.To || m.Entry.Name != m.Lifecycle {
					t.Errorf("entry %s/%s for the move of %s to %s", m.Entry.Name, m.Entry.State, m.Lifecycle, m.Move.To)
				}
			}
		})
	}
}

func TestDecideShowsWhatTheEnteredStateWaitsFor(t *testing.T) {
	left := broken(known(1, 2), func(t *tank) { t.Queue = transitions.Known(false, now) })
	in, _ := given(t, world{"left": left, "right": known(1, 1)}, at("left", "Idle", "1"), at("right", "Idle", "1"))
	step, err := pass.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []lifecyclev1.WaitingFor{{Guard: "its-turn", Expected: "a yes of its-turn", Observed: "not yet"}}
	if diff := cmp.Diff(want, step.Moved[0].Entry.WaitingFor); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecideMovesLifecyclesRoundRobin(t *testing.T) {
	w := world{"left": known(1, 2), "right": known(1, 2)}
	in, _ := given(t, w, at("left", "Idle", "1"), at("right", "Idle", "1"))
	var order []string
	for range 4 {
		step, err := pass.Decide(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range step.Moved {
			order = append(order, m.Lifecycle+" "+m.Move.To)
			in.Last = m.Lifecycle
			*pass.Entry(in.Status, m.Lifecycle) = m.Entry
		}
	}
	if diff := cmp.Diff([]string{"left Waiting", "right Waiting", "left Filling", "right Filling"}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecideFailsWhenObservationFails(t *testing.T) {
	for name, call := range map[string]struct {
		fails int
		want  string
		given entries
		left  tank
	}{
		"to decide":                    {1, "observing: etcd is down", entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, known(1, 2)},
		"to see what is waited for":    {2, "observing what the next state waits for: etcd is down", entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, known(1, 2)},
		"to infer":                     {2, "observing what infers a lifecycle: etcd is down", entries{at("left", "Filling", "1"), at("right", "Idle", "1")}, broken(known(1, 1), func(t *tank) { t.Intact = false })},
		"to infer and then to wait on": {3, "observing what the next state waits for: etcd is down", entries{at("left", "Filling", "2"), at("right", "Idle", "1")}, broken(known(1, 2), func(t *tank) { t.Intact = false })},
	} {
		t.Run(name, func(t *testing.T) {
			in, calls := given(t, world{"left": call.left, "right": known(1, 1)}, call.given...)
			inner := in.Observe
			in.Observe = func(needs []transitions.Need, live bool) (world, error) {
				w, _ := inner(needs, live)
				if len(*calls) == call.fails {
					return nil, errors.New("etcd is down")
				}
				return w, nil
			}
			step, err := pass.Decide(in)
			if err == nil || err.Error() != call.want {
				t.Errorf("err = %v, want %q", err, call.want)
			}
			if len(step.Moved) != 0 {
				t.Errorf("moved %v on a world that was not seen", words(step))
			}
		})
	}
}

// defective is a lifecycle whose decisions are a test's.
type defective struct {
	lifecycle
	decision machines.Decision
}

type defectiveLook struct {
	machines.Evaluation[string]
	decision machines.Decision
}

func (d defective) Evaluate(q machines.EvaluationInput[string, world]) machines.Evaluation[string] {
	return defectiveLook{d.lifecycle.Evaluate(q), d.decision}
}

func (d defectiveLook) Decide() machines.Decision { return d.decision }

func TestDecideIsolatesADefectiveLifecycle(t *testing.T) {
	for name, decision := range map[string]machines.Decision{
		"an error":                        {Err: errors.New("guard broken")},
		"a move that the graph has not":   {Move: &machines.Move{Event: "jump", From: "Idle", To: "Filling"}},
		"a place that is never inferred":  {Move: &machines.Move{Event: machines.EventInferred, From: "Idle", To: "Filling"}},
		"a wish that no look ever grants": {Needs: needs("level")},
	} {
		for _, first := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				stored := entries{at("left", "Idle", "1"), at("right", "Waiting", "2")}
				if first {
					stored = stored[1:]
				}
				in, snapshots := given(t, world{"left": known(1, 1), "right": known(1, 2)}, stored...)
				in.Lifecycles[0] = defective{in.Lifecycles[0], decision}
				step, err := pass.Decide(in)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"right: granted Waiting -> Filling"}, words(step)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				wishing := len(decision.Needs) > 0
				if wishing != (len(step.Errs) == 0) || !wishing && !strings.HasPrefix(step.Errs[0].Error(), "lifecycle left: ") {
					t.Errorf("errors %v", step.Errs)
				}
				if step.Decided {
					t.Error("a generation that a lifecycle could not judge passes for decided")
				}
				if len(*snapshots) > 3 {
					t.Errorf("looked %d times", len(*snapshots))
				}
			})
		}
	}
}

func TestProject(t *testing.T) {
	left := broken(known(1, 2), func(t *tank) { t.Queue = unread })
	in, _ := given(t, world{"left": left, "right": broken(known(1, 1), func(t *tank) { t.Level = pending })}, at("left", "Waiting", "2"))
	step, err := pass.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	shown := step.Results[0].Project()
	if len(shown.WaitingFor) != 1 || shown.WaitingFor[0].Observed != "cannot be read: no answer" {
		t.Errorf("waitingFor %v", shown.WaitingFor)
	}
	if shown := step.Results[1].Project(); shown != nil || !step.Results[1].Decision.Silent {
		t.Errorf("a lifecycle without an entry shows %v", shown)
	}
}
