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

	"github.com/detent-dev/detent/transitions"
)

const owner = "owner"

// available returns a member with its full function.
func available(name string) Member {
	return Member{Name: name, Running: true, Ready: true, Serving: transitions.Yes, InSync: true}
}

// lapsed returns a member that runs and is not ready. Whether it serves is unknown.
func lapsed(name string) Member { return Member{Name: name, Running: true, InSync: true} }

// lost returns a member without a process, which gets none without help.
func lost(name string) Member { return Member{Name: name, Lost: true} }

// behind returns a member that is not in sync.
func behind(name string) Member {
	m := available(name)
	m.InSync = false
	return m
}

// titled returns the member under another name for users.
func titled(title string, m Member) Member { m.Title = title; return m }

// serving returns the member as serving, by report of the data system.
func serving(m Member) Member { m.Serving = transitions.Yes; return m }

// dead returns the member as serving no client, by report of the data system.
func dead(m Member) Member { m.Serving = transitions.No; return m }

// as returns the member with that instance.
func as(instance string, m Member) Member { m.Instance = instance; return m }

// of returns three members, of which the given ones replace the default.
func of(given ...Member) Availability {
	a := Availability{Members: given}
	for _, name := range []string{"a", "b", "c"} {
		if a.member(name) == nil {
			a.Members = append(a.Members, available(name))
		}
	}
	return a
}

// nothing is of while no member serves.
func nothing(given ...Member) Availability {
	a := of(given...)
	a.NothingServing = true
	return a
}

func unavailable(members ...string) *lockRefusal {
	return &lockRefusal{Reason: membersUnavailable, Members: members}
}

func TestLockRefusalError(t *testing.T) {
	for want, refusal := range map[string]*lockRefusal{
		"another disruption is under way; the outcome of the disruption of a is not known yet": {Reason: outcomeUncertain, Members: []string{"a"}},
		"the observation is older than the last disruption":                                    {Reason: observationTooOld},
		"not available: a":                unavailable("a"),
		"not available: a, c, d and more": unavailable("a", "c", "d", "e", "f"),
	} {
		if diff := cmp.Diff(want, refusal.Error()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestDisruptionLockGrants(t *testing.T) {
	for name, c := range map[string]struct {
		live Availability
		want *lockRefusal
	}{
		"all are available":                                {of(), nil},
		"the kind does not name its members":               {Availability{}, nil},
		"only the target is unavailable":                   {of(lapsed("b")), nil},
		"another is not ready and may serve":               {of(lapsed("a")), unavailable("a")},
		"another is not ready and shown to serve":          {of(serving(lapsed("a"))), nil},
		"another is ready and serves nobody":               {of(dead(available("a"))), unavailable("a")},
		"another is out of sync":                           {of(behind("a")), unavailable("a")},
		"the target and another are unavailable":           {of(lapsed("a"), lapsed("b")), unavailable("a")},
		"many are unavailable":                             {of(lapsed("f"), lapsed("e"), lapsed("d"), lapsed("c"), lapsed("a")), unavailable("a", "c", "d", "e", "f")},
		"another is unavailable, the target serves nobody": {of(lapsed("a"), dead(lapsed("b"))), nil},
		"another is dead, the target may serve":            {of(dead(lapsed("a")), lapsed("b")), unavailable("a")},
		"another is dead, the target is shown to serve":    {of(dead(lapsed("a")), serving(lapsed("b"))), unavailable("a")},
		"another restarts, the target serves nobody":       {of(Member{Name: "a"}, dead(lapsed("b"))), unavailable("a")},
		"another is lost, the target serves nobody":        {of(lost("a"), dead(lapsed("b"))), nil},
		"another is lost, the target may serve":            {of(lost("a"), lapsed("b")), unavailable("a")},
		"another is lost, the target is shown to serve":    {of(lost("a")), unavailable("a")},
		"one is lost and one restarts":                     {of(lost("a"), dead(lapsed("b")), Member{Name: "c"}), unavailable("c")},
		"nothing serves and another is lost":               {nothing(lost("a"), lapsed("b")), nil},
		"users know the other by another name":             {of(titled("pod-of-a", behind("a"))), unavailable("pod-of-a")},
		"the target restarts":                              {of(dead(lapsed("a")), Member{Name: "b"}), nil},
		"nothing serves":                                   {nothing(lapsed("a"), lapsed("b"), lapsed("c")), nil},
		"nothing serves and another is restarting":         {nothing(Member{Name: "a"}, lapsed("b")), unavailable("a")},
		"nothing serves and the target restarts":           {nothing(lapsed("a"), Member{Name: "b"}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewDisruptionLocks()
			if diff := cmp.Diff(c.want, s.take(owner, "b", c.live, s.round(owner), noon)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDisruptionLockRequiresASnapshotNewerThanTheLastDisruption(t *testing.T) {
	s := NewDisruptionLocks()
	round := s.round(owner)
	if refusal := s.take(owner, "a", Availability{}, round, noon); refusal != nil {
		t.Fatal(refusal)
	}
	steps := []struct {
		name   string
		target string
		round  uint64
		want   *lockRefusal
	}{
		{"another, while the first is under way", "b", s.round(owner), &lockRefusal{Reason: outcomeUncertain, Members: []string{"a"}}},
		{"the same again", "a", round, nil},
	}
	for _, step := range steps {
		if diff := cmp.Diff(step.want, s.take(owner, step.target, Availability{}, step.round, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	during := s.round(owner)
	s.give(owner, nil, noon)
	if diff := cmp.Diff(&lockRefusal{Reason: observationTooOld}, s.take(owner, "b", Availability{}, during, noon)); diff != "" {
		t.Errorf("a snapshot from the middle (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&lockRefusal{Reason: observationTooOld}, s.take(owner, "b", Availability{}, round, noon)); diff != "" {
		t.Errorf("a snapshot from before (-want +got):\n%s", diff)
	}
	if refusal := s.take(owner, "b", Availability{}, s.round(owner), noon); refusal != nil {
		t.Errorf("a snapshot from after: %v", refusal)
	}
}

func TestDisruptionLockIsHeldAfterAnUnknownOutcome(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		outcome error
		unknown bool
	}{
		"done":                  {nil, false},
		"refused by a budget":   {fmt.Errorf("evicting: %w", ErrWait), false},
		"not sent":              {ErrStale, false},
		"a conflict":            {apierrors.NewConflict(pods, "a", errors.New("changed")), false},
		"forbidden":             {fmt.Errorf("deleting: %w", apierrors.NewForbidden(pods, "a", errors.New("no"))), false},
		"the server timed out":  {apierrors.NewTimeoutError("late", 1), true},
		"the server broke":      {apierrors.NewInternalError(errors.New("oops")), true},
		"the answer never came": {fmt.Errorf("deleting: %w", context.DeadlineExceeded), true},
		"the connection broke":  {errors.New("connection reset by peer"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewDisruptionLocks()
			if refusal := s.take(owner, "a", Availability{}, s.round(owner), noon); refusal != nil {
				t.Fatal(refusal)
			}
			s.give(owner, c.outcome, noon)
			refusal := s.take(owner, "b", Availability{}, s.round(owner), noon.Add(uncertainFor-time.Second))
			if got := refusal != nil; got != c.unknown {
				t.Errorf("another target got %v", refusal)
			}
			if !c.unknown {
				return
			}
			if refusal := s.take(owner, "b", Availability{}, s.round(owner), noon.Add(uncertainFor)); refusal != nil {
				t.Errorf("after the doubt another target got %v", refusal)
			}
		})
	}
}

func TestDisruptionLockIsReleasedByAnotherInstance(t *testing.T) {
	for name, c := range map[string]struct {
		after Availability
		want  *lockRefusal
	}{
		"the same instance":           {of(as("1", available("a")), as("1", available("b"))), &lockRefusal{Reason: outcomeUncertain, Members: []string{"a"}}},
		"another instance":            {of(as("2", available("a")), as("1", available("b"))), nil},
		"another that is not up yet":  {of(as("2", Member{Name: "a"})), unavailable("a")},
		"gone":                        {of(Member{Name: "a"}), unavailable("a")},
		"a kind that does not say so": {Availability{}, &lockRefusal{Reason: outcomeUncertain, Members: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewDisruptionLocks()
			if refusal := s.take(owner, "a", of(as("1", available("a")), as("1", available("b"))), s.round(owner), noon); refusal != nil {
				t.Fatal(refusal)
			}
			s.give(owner, context.DeadlineExceeded, noon)
			if diff := cmp.Diff(c.want, s.take(owner, "b", c.after, s.round(owner), noon)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDisruptionLockIsPerObject(t *testing.T) {
	s := NewDisruptionLocks()
	if refusal := s.take(owner, "a", Availability{}, 0, noon); refusal != nil {
		t.Fatal(refusal)
	}
	if refusal := s.take("other", "b", Availability{}, 0, noon); refusal != nil {
		t.Errorf("another object got %v", refusal)
	}
	s.Forget(owner)
	if refusal := s.take(owner, "b", Availability{}, s.round(owner), noon); refusal != nil {
		t.Errorf("a forgotten disruption lock said %v", refusal)
	}
	s.give("never taken", nil, noon)
}
