package explore_test

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// account exists in an external system for as long as the object does.
type account struct{ open bool }

func (a account) Clone() explore.World { return &a }

func (a *account) AppendCanonical(dst []byte, _ *explore.Scenario) []byte {
	if a.open {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (a *account) Next(*explore.Scenario) []explore.Step {
	if !a.open {
		return nil
	}
	return []explore.Step{{Name: "the account is closed by others", Fault: "closed", Do: func(at *explore.Scenario) { at.World().(*account).open = false }}}
}

type releasingFacts struct{ open bool }

// releasing opens an account, and closes it before its object is deleted. With the seeded bug, the first action does not need
// the finalizer and another one, which comes later, does.
func releasing(seeded bool) toySubject {
	open := yes("open", func(f *releasingFacts) bool { return f.open })
	closed := transitions.Not(open, "a closed account")
	account0 := works("Opening", transitions.Guard[releasingFacts, struct{}]{}, func(f *releasingFacts) []string {
		if f.open {
			return nil
		}
		return []string{"open"}
	})
	account0.Action.NeedsFinalizer = !seeded
	greeting := works("Greeting", transitions.Guard[releasingFacts, struct{}]{}, func(*releasingFacts) []string { return nil })
	greeting.Action.NeedsFinalizer = true
	closing := works("Closing", transitions.Guard[releasingFacts, struct{}]{}, func(f *releasingFacts) []string {
		if !f.open {
			return nil
		}
		return []string{"close"}
	})
	end := rest[releasingFacts]()
	end.State = states.State{Name: "Closed", Kind: states.Rest, Doc: "nothing is left"}
	y := toy[releasingFacts]{
		definition: machines.Definition[releasingFacts, struct{}, string]{
			Name: "releasing", Doc: "keeps an account",
			States:   []machines.State[releasingFacts, struct{}, string]{rest[releasingFacts](), account0, greeting, closing, end},
			Deletion: machines.Deletion{To: "Closing", End: "Closed"},
			Transitions: []machines.Transition[releasingFacts, struct{}]{
				edge("no-account", "Settled", "Opening", closed),
				edge("opened", "Opening", "Greeting", open),
				edge("greeted", "Greeting", "Settled", transitions.Always[releasingFacts, struct{}]()),
				edge("closed", "Closing", "Closed", closed),
			},
			Target: func(*releasingFacts) machines.Target { return machines.Target{To: "an account"} },
			Infer:  place[releasingFacts](),
		},
		observe: func(_ string, _ *corev1.ConfigMap, world explore.World) releasingFacts {
			return releasingFacts{world.(*account).open}
		},
		execute: func(_ context.Context, at *explore.Scenario, t effectRequest) error {
			at.World().(*account).open = t.Effect == "open"
			return nil
		},
	}
	s := y.subject("account", &account{})
	s.Released = func(world explore.World) error {
		if world.(*account).open {
			return errors.New("the account outlives its object")
		}
		return nil
	}
	return s
}
