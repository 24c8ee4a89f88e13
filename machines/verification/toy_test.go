package verification_test

import (
	"errors"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The toy changes something while it holds it frozen: it freezes, changes, thaws.

type facts struct {
	Same, Frozen bool
	Allowed      transitions.Fact[bool] `need:"permit"`
}

type (
	data       = struct{}
	effect     string
	state      = machines.State[facts, data, effect]
	row        = machines.Transition[facts, data]
	guard      = transitions.Guard[facts, data]
	definition = machines.Definition[facts, data, effect]
	space      = domain.Domain[facts, data]
	value      = domain.Value[facts]
)

var (
	always = transitions.Always[facts, data]()
	same   = guard{
		Name: "same", Doc: "it is as it is wanted", Expected: "it as it is wanted",
		Evaluate: func(f *facts, _ data) transitions.Verdict { return transitions.If(f.Same, "other") },
	}
	frozen = guard{
		Name: "frozen", Doc: "it is frozen", Expected: "it frozen",
		Evaluate: func(f *facts, _ data) transitions.Verdict { return transitions.If(f.Frozen, "running") },
	}
	allowed = guard{
		Name: "allowed", Doc: "the change is allowed", Expected: "permission", Needs: []transitions.Need{"permit"},
		Evaluate: func(f *facts, _ data) transitions.Verdict {
			yes, known := f.Allowed.Get()
			if !known {
				return f.Allowed.Gap()
			}
			return transitions.If(yes, "forbidden")
		},
	}
)

func not(g guard) guard { return transitions.Not(g, "not "+g.Name) }

// indices into the toy's declaration.
const (
	settled = iota
	checking
	refused
	freezing
	changing
	thawing
)

const (
	changedRow = iota
	stillFrozen
	forbidden
	settledRow
	begin
	allowedRow
	frozenRow
	done
	thawed
)

// toy returns a new machine without defects on each call.
func toy() definition {
	work := func(name, does, onTarget string) state {
		return state{
			State: states.State{Name: name, Kind: states.Work, Doc: does, Deadline: time.Minute, Poll: time.Second}, Invariant: always, OnTargetChange: onTarget,
			Action: &machines.Action[facts, data, effect]{Name: does, Doc: does, Effects: func(*facts, data) []effect { return []effect{effect(does)} }},
		}
	}
	freeze := work("Freezing", "freeze", "Thawing")
	freeze.Action.Precondition, freeze.Action.OnPreconditionFailed, freeze.Action.Acquires = allowed, "Thawing", []string{"freeze"}
	all := transitions.All[facts, data]
	holds := []string{"freeze"}
	return definition{
		Name: "toy", Doc: "changes something while it is frozen",
		States: []state{
			{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "as wanted"}},
			{State: states.State{Name: "Checking", Kind: states.Wait, Doc: "deciding", Deadline: time.Minute, Poll: time.Second}, Invariant: transitions.AlwaysBecause[facts, data]("it decides at once"), OnTargetChange: "Checking"},
			{State: states.State{Name: "Refused", Kind: states.Hold, Doc: "forbidden"}, OnTargetChange: "Checking"},
			freeze, work("Changing", "change", "Thawing"), work("Thawing", "thaw", "Thawing"),
		},
		Transitions: []row{
			{Event: "changed", From: "Settled", To: "Checking", When: not(same), NewAttempt: true, Doc: "another is wanted"},
			{Event: "still-frozen", From: "Checking", To: "Thawing", When: frozen, Outranks: true, Doc: "it was left frozen"},
			{Event: "forbidden", From: "Checking", To: "Refused", When: all(not(same), not(allowed), not(frozen)), Releases: holds, Doc: "forbidden"},
			{Event: "settled", From: "Checking", To: "Settled", When: all(same, not(frozen)), Awaited: true, Releases: holds, Doc: "nothing to do"},
			{Event: "begin", From: "Checking", To: "Freezing", When: all(not(same), allowed), Doc: "it may be changed"},
			{Event: "allowed", From: "Refused", To: "Checking", When: transitions.Any(allowed, same), Awaited: true, Doc: "it is allowed now"},
			{Event: "frozen", From: "Freezing", To: "Changing", When: frozen, Awaited: true, Doc: "it is frozen"},
			{Event: "done", From: "Changing", To: "Thawing", When: same, Awaited: true, Doc: "it was changed"},
			{Event: "thawed", From: "Thawing", To: "Checking", When: not(frozen), Awaited: true, Releases: holds, Doc: "it runs again"},
		},
		HeldResources: []machines.HeldResource{{Name: "freeze", Doc: "it serves nobody while it is frozen"}},
		Needs:         []machines.Need{{Name: "permit", Doc: "asks whether it may be changed"}},
		Target:        func(*facts) machines.Target { return machines.Target{To: "wanted"} },
		Infer: machines.Inference[facts, data]{States: []string{"Settled", "Checking"}, Sees: holds, Find: func(f *facts) (machines.InferredState[data], transitions.Verdict) {
			if f.Same && !f.Frozen {
				return machines.InferredState[data]{State: "Settled"}, transitions.Allow()
			}
			return machines.InferredState[data]{State: "Checking"}, transitions.Allow()
		}},
	}
}

// toyDomain contains all facts of the toy.
func toyDomain() space {
	permit := func(f transitions.Fact[bool]) func(*facts) { return func(to *facts) { to.Allowed = f } }
	return space{
		Base: func() facts { return facts{} },
		Dimensions: []domain.Dimension[facts]{
			domain.Of(value{Name: "as wanted", Set: func(f *facts) { f.Same = true }}, value{Name: "another wanted"}),
			domain.Of(value{}, value{Name: "frozen", Set: func(f *facts) { f.Frozen = true }}),
			domain.Of(
				value{Set: permit(transitions.Known(true, time.Time{}))}, value{Name: "forbidden", Set: permit(transitions.Known(false, time.Time{}))},
				value{Name: "permit unreadable", Set: permit(transitions.Unreadable[bool](errors.New("silent")))},
				value{Name: "permit not answered yet", Set: permit(transitions.Pending[bool]())},
			),
		},
		Held: func(f *facts) []string {
			if f.Frozen {
				return []string{"freeze"}
			}
			return nil
		},
	}
}

func compiled(t *testing.T, def definition) *machines.Machine[facts, data, effect] {
	t.Helper()
	m, err := machines.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
