package runtime

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
)

// Several controllers request disruptions, answers get lost and snapshots are stale: two targets are never disrupted at once.
func TestDisruptionLockNeverGrantsTwoDisruptions(t *testing.T) {
	targets := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		s, now := NewDisruptionLocks(), noon
		away := map[string]bool{}
		type request struct {
			round uint64
			live  Availability
		}
		observe := func() request {
			l := request{round: s.round(owner)}
			for _, target := range targets {
				m := available(target)
				m.Running, m.Ready = !away[target], !away[target]
				l.live.Members = append(l.live.Members, m)
			}
			return l
		}
		old, disrupted := observe(), ""
		begun := time.Time{}
		t.Repeat(map[string]func(*rapid.T){
			"somebody looks": func(*rapid.T) { old = observe() },
			"one comes back": func(t *rapid.T) { delete(away, rapid.SampledFrom(targets).Draw(t, "target")) },
			"time passes":    func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second) },
			"somebody disrupts": func(t *rapid.T) {
				target := rapid.SampledFrom(targets).Draw(t, "target")
				if disrupted != "" || s.take(owner, target, old.live, old.round, now) != nil {
					return
				}
				disrupted, begun = target, now
			},
			"the request ends": func(t *rapid.T) {
				if disrupted == "" {
					return
				}
				done, answered := rapid.Bool().Draw(t, "done"), rapid.Bool().Draw(t, "answered")
				var outcome error
				if !answered {
					outcome = errors.New("the connection was cut")
				} else if !done {
					outcome = ErrWait
				}
				// The API server carries out no request after its own limit.
				away[disrupted] = away[disrupted] || done && now.Sub(begun) <= uncertainFor
				s.give(owner, outcome, now)
				disrupted = ""
			},
			"": func(t *rapid.T) {
				now := observe().live
				if gone := now.blocking(""); len(gone) > 1 {
					t.Fatalf("away are %v", gone)
				}
			},
		})
	})
}

// For any lifecycles, each type of condition occurs once, in order; the worst lifecycle determines the message; and Ready and
// Stalled, or Reconciling and Stalled, are never both True.
func TestConditionsOfAnyLifecycleStates(t *testing.T) {
	kinds := []states.State{resting, working, waiting, refusing, soaking, advising}
	rapid.Check(t, func(t *rapid.T) {
		var all []lifecycleState
		for _, name := range []string{"a", "b", "c"} {
			s := in(name, rapid.SampledFrom(kinds).Draw(t, "state"))
			switch rapid.SampledFrom([]string{"", "", "", "overdue", "unknown", "missing", "looping", "defect"}).Draw(t, "trouble") {
			case "overdue":
				s.entry.Deadline = at(-time.Second)
			case "unknown":
				s.known = false
			case "missing":
				s.entry = nil
			case "looping":
				s.entry.TransitionsSinceProgress = 1000
			case "defect":
				s.defect = errors.New("it panicked")
			}
			all = append(all, s)
		}
		observed := rapid.Int64Range(2, 3).Draw(t, "observed")
		old := conditions(all[:1], nil, nil, 2, 2, noon.Add(-time.Hour))
		got := conditions(all, ownConditions(t), old, 3, observed, noon)
		check := func(ok bool, what string) {
			if !ok {
				t.Fatalf("%s: %+v", what, got)
			}
		}
		seen := map[string]bool{}
		is := map[string]metav1.ConditionStatus{}
		for i, c := range got {
			key := c.Type + "/" + c.Reason
			if c.Type != Warning {
				key = c.Type
			}
			check(!seen[key], "twice "+key)
			seen[key], is[c.Type] = true, c.Status
			check(i == 0 || strings.Compare(got[i-1].Type, c.Type) <= 0, "not in order")
			check(len(c.Message) <= maxMessage && c.ObservedGeneration == observed, "too long or of another generation")
		}
		restless := slices.ContainsFunc(all, func(s lifecycleState) bool {
			_, stalled := s.stalled(noon)
			return s.busy() || stalled
		})
		check(is[Ready] != metav1.ConditionTrue || !restless && observed == 3, "Ready over what is not")
		check(is[Stalled] != metav1.ConditionTrue || is[Reconciling] == metav1.ConditionFalse && is[Ready] == metav1.ConditionFalse, "Stalled beside progress")
		again := conditions(all, nil, got, 3, observed, noon.Add(time.Hour))
		for _, c := range again {
			check(c.Type != Ready || c.Status != is[Ready] || c.LastTransitionTime.Time.Before(noon.Add(time.Hour)), "moved without a change")
		}
	})
}

// ownConditions are conditions of a kind, including Ready, in random order.
func ownConditions(t *rapid.T) []metav1.Condition {
	one := rapid.Custom(func(t *rapid.T) metav1.Condition {
		return metav1.Condition{
			Type:   rapid.SampledFrom([]string{Ready, Warning, Warning, Stalled, "Available"}).Draw(t, "type"),
			Status: rapid.SampledFrom([]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}).Draw(t, "status"),
			Reason: rapid.SampledFrom([]string{"X", "Y", "Z"}).Draw(t, "reason"), Message: strings.Repeat("ü", rapid.IntRange(0, 2000).Draw(t, "length")),
		}
	})
	return rapid.SliceOfN(one, 0, 6).Draw(t, "own")
}

// Equal reports every difference between two statuses.
func TestStatusEqualFindsEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		status := lifecyclev1.Status{ObservedGeneration: 3, Lifecycles: []lifecyclev1.Lifecycle{*in("a", working).entry, *in("b", resting).entry}}
		status.Lifecycles[0].Data = map[string]string{"node": "1"}
		status.Lifecycles[0].Progress = &lifecyclev1.Progress{Done: 1, Total: 3}
		status.Conditions = conditions([]lifecycleState{in("a", working)}, nil, nil, 3, 3, noon)
		other := status.DeepCopy()
		if !status.Equal(other) {
			t.Fatal("a copy is not equal")
		}
		l := &other.Lifecycles[rapid.IntRange(0, 1).Draw(t, "lifecycle")]
		switch rapid.IntRange(0, 7).Draw(t, "change") {
		case 0:
			l.State += "x"
		case 1:
			l.Data = map[string]string{"node": "2"}
		case 2:
			l.Progress = &lifecyclev1.Progress{Done: 2, Total: 3}
		case 3:
			l.Deadline = at(time.Minute)
		case 4:
			l.History = append(l.History, lifecyclev1.Transition{Event: "x"})
		case 5:
			l.WaitingFor = append(l.WaitingFor, lifecyclev1.WaitingFor{Guard: "x"})
		case 6:
			l.EnteredAt.Time = l.EnteredAt.Add(time.Second)
		case 7:
			other.Conditions[0].Message += "x"
		}
		if status.Equal(other) {
			t.Fatalf("%+v passes for %+v", other, status)
		}
	})
}
