package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const owner = "owner"

func TestTheSlotIsGrantedToWhatDisturbsNobodyElse(t *testing.T) {
	for name, c := range map[string]struct {
		live Disturbance
		want string
	}{
		"all serve":                                {Disturbance{}, ""},
		"only the target is disturbed":             {Disturbance{Targets: []string{"b"}}, ""},
		"another is disturbed":                     {Disturbance{Targets: []string{"a"}}, "still disturbed: a"},
		"the target and another are disturbed":     {Disturbance{Targets: []string{"b", "a"}}, "still disturbed: a"},
		"many are disturbed":                       {Disturbance{Targets: []string{"f", "e", "d", "c", "a"}}, "still disturbed: a, c, d and more"},
		"another is disturbed, the target is down": {Disturbance{Targets: []string{"a", "b"}, Down: []string{"b"}}, ""},
		"another restarts, the target is down":     {Disturbance{Targets: []string{"a", "b"}, Down: []string{"b"}, Restarting: []string{"a"}}, "still disturbed: a"},
		"another is down":                          {Disturbance{Targets: []string{"a"}, Down: []string{"a"}}, "still disturbed: a"},
		"nothing serves":                           {Disturbance{Targets: []string{"a", "b", "c"}, NothingServing: true}, ""},
		"nothing serves and another is restarting": {Disturbance{Targets: []string{"a", "b"}, NothingServing: true, Restarting: []string{"a"}}, "still disturbed: a"},
		"nothing serves and the target restarts":   {Disturbance{Targets: []string{"a", "b"}, NothingServing: true, Restarting: []string{"b"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSlots()
			if diff := cmp.Diff(c.want, s.take(owner, "b", c.live, s.round(owner), noon)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSlotAsksForAViewYoungerThanTheLastDisruption(t *testing.T) {
	s := NewSlots()
	round := s.round(owner)
	if why := s.take(owner, "a", Disturbance{}, round, noon); why != "" {
		t.Fatal(why)
	}
	steps := []struct {
		name   string
		target string
		round  uint64
		want   string
	}{
		{"another, while the first is under way", "b", s.round(owner), "whether a was disturbed is not known yet"},
		{"the same again", "a", round, ""},
	}
	for _, step := range steps {
		if diff := cmp.Diff(step.want, s.take(owner, step.target, Disturbance{}, step.round, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	during := s.round(owner)
	s.give(owner, nil, noon)
	if diff := cmp.Diff("the last look is older than the last disruption", s.take(owner, "b", Disturbance{}, during, noon)); diff != "" {
		t.Errorf("a view from the middle (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("the last look is older than the last disruption", s.take(owner, "b", Disturbance{}, round, noon)); diff != "" {
		t.Errorf("a view from before (-want +got):\n%s", diff)
	}
	if why := s.take(owner, "b", Disturbance{}, s.round(owner), noon); why != "" {
		t.Errorf("a view from after: %s", why)
	}
}

func TestAnUnknownOutcomeKeepsOthersOut(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		outcome error
		unknown bool
	}{
		"done":                  {nil, false},
		"refused by a budget":   {fmt.Errorf("evicting: %w", ErrWait), false},
		"not sent":              {ErrBehind, false},
		"a conflict":            {apierrors.NewConflict(pods, "a", errors.New("changed")), false},
		"forbidden":             {fmt.Errorf("deleting: %w", apierrors.NewForbidden(pods, "a", errors.New("no"))), false},
		"the server timed out":  {apierrors.NewTimeoutError("late", 1), true},
		"the server broke":      {apierrors.NewInternalError(errors.New("oops")), true},
		"the answer never came": {fmt.Errorf("deleting: %w", context.DeadlineExceeded), true},
		"the connection broke":  {errors.New("connection reset by peer"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSlots()
			if why := s.take(owner, "a", Disturbance{}, s.round(owner), noon); why != "" {
				t.Fatal(why)
			}
			s.give(owner, c.outcome, noon)
			why := s.take(owner, "b", Disturbance{}, s.round(owner), noon.Add(doubt-time.Second))
			if got := why != ""; got != c.unknown {
				t.Errorf("another target was told %q", why)
			}
			if !c.unknown {
				return
			}
			if why := s.take(owner, "b", Disturbance{}, s.round(owner), noon.Add(doubt)); why != "" {
				t.Errorf("after the doubt another target was told %q", why)
			}
		})
	}
}

func TestAnotherInstanceEndsTheDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		after Disturbance
		want  string
	}{
		"the same instance":           {Disturbance{Instances: map[string]string{"a": "1", "b": "1"}}, "whether a was disturbed is not known yet"},
		"another instance":            {Disturbance{Instances: map[string]string{"a": "2", "b": "1"}}, ""},
		"another that is not up yet":  {Disturbance{Instances: map[string]string{"a": "2"}, Targets: []string{"a"}}, "still disturbed: a"},
		"gone":                        {Disturbance{Instances: map[string]string{"b": "1"}, Targets: []string{"a"}}, "still disturbed: a"},
		"a kind that does not say so": {Disturbance{}, "whether a was disturbed is not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSlots()
			if why := s.take(owner, "a", Disturbance{Instances: map[string]string{"a": "1", "b": "1"}}, s.round(owner), noon); why != "" {
				t.Fatal(why)
			}
			s.give(owner, context.DeadlineExceeded, noon)
			if diff := cmp.Diff(c.want, s.take(owner, "b", c.after, s.round(owner), noon)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASlotIsAnObjects(t *testing.T) {
	s := NewSlots()
	if why := s.take(owner, "a", Disturbance{}, 0, noon); why != "" {
		t.Fatal(why)
	}
	if why := s.take("other", "b", Disturbance{}, 0, noon); why != "" {
		t.Errorf("another object was told %q", why)
	}
	s.Forget(owner)
	if why := s.take(owner, "b", Disturbance{}, s.round(owner), noon); why != "" {
		t.Errorf("a forgotten slot said %q", why)
	}
	s.give("never taken", nil, noon)
}
