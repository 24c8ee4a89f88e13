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

// filling decides on a world whose left tank is being filled, and returns its standing.
func filling(t *testing.T, left tank) (input, *[]looked, *standing) {
	t.Helper()
	in, views := given(t, world{"left": left, "right": known(1, 1)}, at("left", "Filling", "2"), at("right", "Idle", "1"))
	step, err := pass.Decide(in)
	if err != nil || len(step.Moved) > 0 {
		t.Fatalf("moved %v, %v", words(step), err)
	}
	*views = nil
	return in, views, &step.Standings[0]
}

func TestAct(t *testing.T) {
	type want struct {
		Effects []string
		Turned  string
		Waiting []string
		Blocked []string
		Views   []looked
	}
	live := looked{Needs: needs("permit"), Live: true}
	tests := map[string]struct {
		left tank
		want want
	}{
		"a permitted action is asked on a live view": {
			left: known(1, 2), want: want{Effects: []string{"left: fill to 2"}, Views: []looked{live}},
		},
		"a withdrawn permission commits where it turns back, with what is waited for there": {
			left: broken(known(1, 2), func(t *tank) { t.Permit, t.Queue = transitions.Known(false, now), transitions.Known(false, now) }),
			want: want{
				Turned: "turned-back Filling -> Waiting", Waiting: []string{"its-turn"}, Blocked: []string{"permitted"},
				Views: []looked{live, {Needs: needs("permit", "queue")}},
			},
		},
		"a permission that cannot be read blocks": {
			left: broken(known(1, 2), func(t *tank) { t.Permit = unread }), want: want{Blocked: []string{"permitted"}, Views: []looked{live}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in, views, s := filling(t, tc.left)
			action, wanted := pass.Wants(in, s)
			if !wanted || action.Name != "fill" || !action.Live || action.LookAgain != 2*time.Second {
				t.Fatalf("wants %+v (%v)", action, wanted)
			}
			acting, _, err := pass.Act(in, s)
			if err != nil || acting.Err != nil {
				t.Fatal(err, acting.Err)
			}
			got := want{Effects: acting.Effects, Views: *views}
			if m := acting.Turned; m != nil {
				got.Turned = m.Move.Event + " " + m.Move.From + " -> " + m.Entry.State
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
			if want := machines.TicketOf(uid, "left", s.Entry); acting.Ticket != want {
				t.Errorf("ticket %+v, want %+v", acting.Ticket, want)
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
		"to turn back": {2, "observing what Waiting waits for: etcd is down"},
	} {
		t.Run(name, func(t *testing.T) {
			in, calls, s := filling(t, withdrawn)
			inner := in.View
			in.View = func(needs []transitions.Need, live bool) (world, error) {
				w, _ := inner(needs, live)
				if len(*calls) == tc.fails {
					return nil, errors.New("etcd is down")
				}
				return w, nil
			}
			acting, _, err := pass.Act(in, s)
			if err == nil || err.Error() != tc.want {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
			if acting.Turned != nil || len(acting.Effects) > 0 {
				t.Errorf("wants %v and %v", acting.Turned, acting.Effects)
			}
		})
	}
}

func TestWantsNothingOfALifecycleThatMovesOrRests(t *testing.T) {
	for name, tc := range map[string]struct {
		left  tank
		state string
	}{
		"it rests":                       {known(2, 2), "Idle"},
		"it takes an edge in this pass":  {known(2, 2), "Filling"},
		"its bookmark is not believed":   {broken(known(1, 2), func(t *tank) { t.Intact, t.Level = false, pending }), "Filling"},
		"its state is located":           {known(1, 2), "Dancing"},
		"its state acts on nothing":      {broken(known(1, 2), func(t *tank) { t.Queue = unread }), "Waiting"},
		"it cannot tell where it stands": {broken(known(1, 2), func(t *tank) { t.Level = unread }), machines.Locating},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, world{"left": tc.left, "right": known(1, 1)}, at("left", tc.state, "2"), at("right", "Idle", "1"))
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if action, wanted := pass.Wants(in, &step.Standings[0]); wanted {
				t.Errorf("%s wants %+v", tc.state, action)
			}
		})
	}
	in, _ := given(t, world{"left": broken(known(1, 2), func(t *tank) { t.Level = pending }), "right": known(1, 1)})
	step, err := pass.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, wanted := pass.Wants(in, &step.Standings[0]); wanted {
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
			_, views, s := filling(t, tc.left)
			if got := pass.Idle(s); got != tc.want {
				t.Errorf("idle = %v, want %v", got, tc.want)
			}
			if len(*views) > 0 {
				t.Errorf("looked %v", *views)
			}
		})
	}
}
