package pass_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// filling decides on a world whose left tank is being filled. The first result is that of the left tank.
func filling(t *testing.T, left tank) (input, *[]evaluated, *stepOfCase) {
	t.Helper()
	in, snapshots := given(t, world{"left": left, "right": known(1, 1)}, at("left", "Filling", "2"), at("right", "Idle", "1"))
	step, err := pass.Decide(in)
	if err != nil || len(step.Moved) > 0 {
		t.Fatalf("moved %v, %v", words(step), err)
	}
	*snapshots = nil
	return in, snapshots, &step
}

func TestActObservesAgainUnlessItIsTheFirstAction(t *testing.T) {
	tests := map[string]struct {
		needs []transitions.Need
		want  [][]evaluated
	}{
		"the first action uses the snapshot of the decision": {want: [][]evaluated{nil, {{}}}},
		"a fact that the decision did not need is observed":  {needs: needs("queue"), want: [][]evaluated{{{Needs: needs("queue")}}, {{Needs: needs("queue")}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := definition()
			action := d.States[2].Action
			action.Precondition, action.OnPreconditionFailed, action.Needs = transitions.Guard[tank, none]{}, "", tc.needs
			d.Needs = d.Needs[1:] // all but permit, which nothing reads
			m, err := machines.Compile(d)
			if err != nil {
				t.Fatal(err)
			}
			in, snapshots := given(t, world{"left": known(1, 2), "right": known(1, 2)}, at("left", "Filling", "2"), at("right", "Filling", "2"))
			in.Lifecycles = []lifecycle{bind(m, "left"), bind(m, "right")}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]evaluated
			for i := range step.Results {
				*snapshots = nil
				acting, _, err := pass.Act(in, &step, &step.Results[i])
				if err != nil || len(acting.Effects) != 1 {
					t.Fatalf("effects %v, %v", acting.Effects, err)
				}
				got = append(got, *snapshots)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("observations of each action (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAct(t *testing.T) {
	type want struct {
		Effects            []string
		FailedPrecondition string
		Waiting            []string
		Blocked            []string
		Snapshots          []evaluated
	}
	live := evaluated{Needs: needs("permit"), Live: true}
	tests := map[string]struct {
		left tank
		want want
	}{
		"a permitted action is asked on a live snapshot": {
			left: known(1, 2), want: want{Effects: []string{"left: fill to 2"}, Snapshots: []evaluated{live}},
		},
		"a withdrawn permission commits the transition of a failed precondition, with what is waited for there": {
			left: broken(known(1, 2), func(t *tank) { t.Permit, t.Queue = transitions.Known(false, now), transitions.Known(false, now) }),
			want: want{
				FailedPrecondition: "precondition-failed Filling -> Waiting", Waiting: []string{"its-turn"}, Blocked: []string{"permitted"},
				Snapshots: []evaluated{live, {Needs: needs("permit", "queue")}},
			},
		},
		"a permission that cannot be read blocks": {
			left: broken(known(1, 2), func(t *tank) { t.Permit = unread }), want: want{Blocked: []string{"permitted"}, Snapshots: []evaluated{live}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in, snapshots, step := filling(t, tc.left)
			s := &step.Results[0]
			action, wanted := pass.Wants(in, s)
			if !wanted || action.Name != "fill" || !action.Live || action.RequeueAfter != 2*time.Second {
				t.Fatalf("wants %+v (%v)", action, wanted)
			}
			acting, _, err := pass.Act(in, step, s)
			if err != nil || acting.Err != nil {
				t.Fatal(err, acting.Err)
			}
			got := want{Effects: acting.Effects, Snapshots: *snapshots}
			if m := acting.FailedPrecondition; m != nil {
				got.FailedPrecondition = m.Move.Event + " " + m.Move.From + " -> " + m.Entry.State
				for _, w := range m.Entry.WaitingFor {
					got.Waiting = append(got.Waiting, w.Guard)
				}
			}
			for _, b := range acting.Blocked {
				got.Blocked = append(got.Blocked, b.Guard)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := machines.RequestIDOf(uid, "left", s.Entry); acting.RequestID != want {
				t.Errorf("request ID %+v, want %+v", acting.RequestID, want)
			}
		})
	}
}

func TestActFailsWhenObservationFails(t *testing.T) {
	withdrawn := broken(known(1, 2), func(t *tank) { t.Permit = transitions.Known(false, now) })
	for name, tc := range map[string]struct {
		fails int
		want  string
	}{
		"to act":       {1, "observing for action fill: etcd is down"},
		"to fall back": {2, "observing what Waiting waits for: etcd is down"},
	} {
		t.Run(name, func(t *testing.T) {
			in, calls, step := filling(t, withdrawn)
			inner := in.Observe
			in.Observe = func(needs []transitions.Need, live bool) (world, error) {
				w, _ := inner(needs, live)
				if len(*calls) == tc.fails {
					return nil, errors.New("etcd is down")
				}
				return w, nil
			}
			acting, _, err := pass.Act(in, step, &step.Results[0])
			if err == nil || err.Error() != tc.want {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
			if acting.FailedPrecondition != nil || len(acting.Effects) > 0 {
				t.Errorf("wants %v and %v", acting.FailedPrecondition, acting.Effects)
			}
		})
	}
}

func TestWantsNothingOfALifecycleThatMovesOrRests(t *testing.T) {
	for name, tc := range map[string]struct {
		left  tank
		state string
	}{
		"it rests":                            {known(2, 2), "Idle"},
		"it takes an edge in this pass":       {known(2, 2), "Filling"},
		"its persisted state is not believed": {broken(known(1, 2), func(t *tank) { t.Intact, t.Level = false, pending }), "Filling"},
		"its state is inferred":               {known(1, 2), "Dancing"},
		"its state acts on nothing":           {broken(known(1, 2), func(t *tank) { t.Queue = unread }), "Waiting"},
		"its state cannot be inferred":        {broken(known(1, 2), func(t *tank) { t.Level = unread }), machines.Inferring},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, world{"left": tc.left, "right": known(1, 1)}, at("left", tc.state, "2"), at("right", "Idle", "1"))
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if action, wanted := pass.Wants(in, &step.Results[0]); wanted {
				t.Errorf("%s wants %+v", tc.state, action)
			}
		})
	}
	in, _ := given(t, world{"left": broken(known(1, 2), func(t *tank) { t.Level = pending }), "right": known(1, 1)})
	step, err := pass.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, wanted := pass.Wants(in, &step.Results[0]); wanted {
		t.Error("a lifecycle without an entry acts")
	}
}

func TestIdleUsesTheFactsOfTheDecision(t *testing.T) {
	for name, tc := range map[string]struct {
		left tank
		want bool
	}{
		"something is to be done": {known(1, 2), false},
		"nothing is left to do":   {broken(known(1, 2), func(t *tank) { t.Pouring = true }), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, snapshots, step := filling(t, tc.left)
			if got := pass.Idle(&step.Results[0]); got != tc.want {
				t.Errorf("idle = %v, want %v", got, tc.want)
			}
			if len(*snapshots) > 0 {
				t.Errorf("looked %v", *snapshots)
			}
		})
	}
}
