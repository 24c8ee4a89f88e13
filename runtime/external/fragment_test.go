package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/machinetest/externaltest"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// lampFacts are those of a lamp that is switched on by a command.
type lampFacts struct {
	Lit      transitions.Fact[bool] `need:"lit"`
	Commands external.Commands
}

var switches = external.Fragment[lampFacts, struct{}, string]{
	Commands: func(f *lampFacts) *external.Commands { return &f.Commands }, ResolvedBy: "lit",
}

func lamp() machines.Definition[lampFacts, struct{}, string] {
	lit := transitions.Guard[lampFacts, struct{}]{Name: "lit", Doc: "the lamp", Expected: "light", Needs: []transitions.Need{"lit"}, Evaluate: func(f *lampFacts, _ struct{}) transitions.Verdict {
		value, known := f.Lit.Get()
		if !known {
			return f.Lit.Gap()
		}
		return transitions.If(value, "no light")
	}}
	dark := transitions.Not(lit, "no light")
	return switches.Include(machines.Definition[lampFacts, struct{}, string]{
		Name: "lamp", Doc: "keeps a lamp on", Needs: []machines.Need{{Name: "lit", Doc: "the lamp is asked"}},
		States: []machines.State[lampFacts, struct{}, string]{{State: states.State{Name: "Lit", Kind: states.Rest, Doc: "the lamp is on"}}},
		Transitions: []machines.Transition[lampFacts, struct{}]{
			{Event: "dark", From: "Lit", To: "Switching", NewAttempt: true, When: dark, Doc: "the lamp is off"},
			{Event: "lit", From: "Switching", To: "Lit", Awaited: true, Outranks: true, When: lit},
		},
		Target: func(*lampFacts) machines.Target { return machines.Target{To: "light"} },
		Infer: machines.Inference[lampFacts, struct{}]{States: []string{"Lit"}, Find: func(*lampFacts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: "Lit"}, transitions.Allow()
		}},
	}, external.Sending[lampFacts, struct{}, string]{
		Name: "Switching", Doc: "the lamp is being switched on", OnTargetChange: machines.KeepAttempt,
		Due: dark, Command: func(*lampFacts) string { return "switch on" },
	})
}

// TestFragment is the transition table of a machine that consists of the fragment alone, verified over every answer.
func TestFragment(t *testing.T) {
	type (
		row  = machinetest.Row[lampFacts, struct{}, string]
		want = machinetest.Want[struct{}, string]
	)
	lit := func(value bool) lampFacts { return lampFacts{Lit: transitions.Known(value, began)} }
	unread := lampFacts{Lit: transitions.Unreadable[bool](errors.New("time-out"))}
	machine := machinetest.Compile(t, lamp(), switches.Domain(domain.Domain[lampFacts, struct{}]{
		Base: func() lampFacts { return lampFacts{} },
		Dimensions: []domain.Dimension[lampFacts]{
			domain.OfFact(func(f *lampFacts) *transitions.Fact[bool] { return &f.Lit }, []domain.Known[bool]{{Name: "on", Value: true}, {Name: "off"}}),
		},
	}))
	lost := lit(true)
	lost.Commands.Answer.State = external.Unknown
	machinetest.Run(t, machine, slices.Concat([]row{
		{Name: "a new lamp", Facts: lit(false), Want: want{Event: machines.EventInferred, To: "Lit"}},
		{Name: "it is on", State: "Lit", Facts: lit(true)},
		{Name: "it is off", State: "Lit", Facts: lit(false), Want: want{Event: "dark", To: "Switching"}},
		{Name: "unread at rest", State: "Lit", Facts: unread, Want: want{WaitingFor: []string{"not(lit)"}}},
		{Name: "nothing is sent unread", State: "Switching", Facts: unread, Want: want{WaitingFor: []string{"lit"}}},
		{Name: "it is on, and the answer was lost", State: "Switching", Facts: lost, Want: want{Event: "lit", To: "Lit"}},
	}, externaltest.Rows(switches, externaltest.Case[lampFacts, string]{State: "Switching", Due: lit(false), Command: "switch on", WaitingFor: []string{"lit"}})))
}

// TestFragmentShowsWhyACommandFailed checks the words of every outcome, in the state that sends the command and in that after a failure.
func TestFragmentShowsWhyACommandFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		failure external.Answer
		want    string
	}{
		"no command has failed":     {},
		"refused":                   {external.Answer{State: external.Refused, Code: 409, Name: "Conflict", Text: "no such plan"}, "the last command was refused with 409 Conflict: no such plan"},
		"refused without a name":    {external.Answer{State: external.Refused, Code: 95, Text: "no such plan"}, "the last command was refused with 95: no such plan"},
		"refused without a code":    {external.Answer{State: external.Refused, Text: "no such plan"}, "the last command was refused: no such plan"},
		"refused without a message": {external.Answer{State: external.Refused, Code: 409, Name: "Conflict"}, "the last command was refused with 409 Conflict"},
		"not sent":                  {external.Answer{State: external.Failed, Text: "connection refused"}, "the last command was not sent: connection refused"},
		"unknown":                   {external.Answer{State: external.Unknown, Text: "time-out"}, "it is not known whether the last command was carried out: time-out"},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, s := range lamp().States {
				if s.Failure != nil {
					got[s.Name] = s.Failure(&lampFacts{Commands: external.Commands{Failure: tc.failure}}, struct{}{})
				}
			}
			if diff := cmp.Diff(map[string]string{"Switching": tc.want, "RetryingSwitching": tc.want}, got); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	id := machines.RequestID{UID: "a", Lifecycle: "lamp", State: "Switching", Sequence: 1}
	system := &external.Direct[external.Object, external.Object, transitions.Need, int, error]{
		Protocol: external.Protocol[external.Object, external.Object, transitions.Need, int, error]{
			Connect: func(o external.Object) (external.Object, func(), error) { return o, func() {}, nil },
			Ask: func(_ context.Context, o external.Object, n transitions.Need) (int, error) {
				return len(string(o.UID) + string(n)), nil
			},
			Execute: func(_ context.Context, _ external.Object, command error) error { return command },
		},
	}
	target := external.Object{Name: types.NamespacedName{Namespace: "ns", Name: "lamp"}, UID: "a"}
	system.Write(t.Context(), target, id, &external.Refusal{Code: 409, Name: "Conflict", Text: "broken"})
	seen := external.Observe(t.Context(), system, target, lifecycle.ObserveRequest{
		Needs: []transitions.Need{"lit"}, Now: began, RequestIDs: map[string]machines.RequestID{"lamp": id},
		MaxAge: func(transitions.Need) time.Duration { return time.Minute },
	})
	if got, known := seen.Fact("lit").Get(); !known || got != len("alit") {
		t.Errorf("fact %d, known: %v", got, known)
	}
	if seen.Fact("other").Asked() {
		t.Error("a need that was not requested was asked")
	}
	refused := external.Answer{RequestID: id, State: external.Refused, Code: 409, Name: "Conflict", Text: "broken"}
	want := external.Commands{Answer: refused, Failure: refused, Paused: true}
	if diff := cmp.Diff(want, seen.Commands(machines.ObserveOptions{RequestID: id, EnteredAt: began, Now: began.Add(external.Pause - 1)})); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if got := seen.Commands(machines.ObserveOptions{RequestID: id, EnteredAt: began, Now: began.Add(external.Pause)}); got.Paused {
		t.Error("the pause has not ended")
	}
	if got := seen.Commands(machines.ObserveOptions{RequestID: id, EnteredAt: began.Add(time.Hour), Now: began}); got.Paused {
		t.Error("the pause lasts as long as a clock was ahead that was set back")
	}
}

// inFlight is a system with a command that may still take effect.
type inFlight struct {
	external.System[external.Object, transitions.Need, int, error]
	until time.Time
}

func (i inFlight) InFlight(external.Object, string) external.InFlight {
	return external.InFlight{Until: i.until, Sent: true}
}

func TestObserveShowsACommandInFlight(t *testing.T) {
	direct := &external.Direct[external.Object, external.Object, transitions.Need, int, error]{
		Protocol: external.Protocol[external.Object, external.Object, transitions.Need, int, error]{
			Connect: func(o external.Object) (external.Object, func(), error) { return o, func() {}, nil },
			Ask:     func(context.Context, external.Object, transitions.Need) (int, error) { return 1, nil },
		},
	}
	for name, tc := range map[string]struct {
		needs []transitions.Need
		until time.Time
		want  bool
	}{
		"it may take effect after the system is read":         {needs: []transitions.Need{"lit"}, until: began.Add(1), want: true},
		"the system is read when it cannot take effect":       {needs: []transitions.Need{"lit"}, until: began},
		"it may take effect, and nothing is read":             {until: began.Add(1), want: true},
		"it cannot take effect any more, and nothing is read": {until: began},
	} {
		t.Run(name, func(t *testing.T) {
			id := machines.RequestID{UID: "a", Lifecycle: "lamp", State: "RetryingSwitching", Sequence: 2}
			seen := external.Observe(t.Context(), inFlight{direct, tc.until}, external.Object{UID: "a"}, lifecycle.ObserveRequest{
				Needs: tc.needs, Now: began, RequestIDs: map[string]machines.RequestID{"lamp": id},
				MaxAge: func(transitions.Need) time.Duration { return time.Minute },
			})
			if got := seen.Commands(machines.ObserveOptions{RequestID: id, Now: began}).InFlight; got != tc.want {
				t.Errorf("in flight: %v, want %v", got, tc.want)
			}
		})
	}
}
