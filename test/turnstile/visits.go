package turnstile

import (
	"fmt"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// Visit brings a turnstile that rests to a state and keeps it there.
type Visit struct {
	Lifecycle, State string
	// Site hinders the world, before Spec asks for something new.
	Site func(*Site)
	Spec func(*api.TurnstileSpec)
	// Wiped says that the status is emptied after Spec.
	Wiped bool
}

// Visits to every state that a turnstile can be kept in.
func Visits() []Visit {
	model := func(s *api.TurnstileSpec) { s.Model = "B" }
	lamp := func(s *api.TurnstileSpec) { s.Lamp = "green" }
	stuck := func(op string) func(*Site) {
		return func(s *Site) { s.Stuck[op] = fmt.Errorf("the %s tool is out of order: %w", op, lifecycle.ErrWait) }
	}
	return []Visit{
		{Lifecycle: "model", State: Settled},
		{Lifecycle: "model", State: Checking, Spec: model, Site: func(s *Site) { s.CatalogErr = ErrUnreachable }},
		{Lifecycle: "model", State: Refused, Spec: model, Site: func(s *Site) { s.Banned = []string{"B"} }},
		{Lifecycle: "model", State: Selecting, Spec: model, Site: func(s *Site) { s.Down = []string{"1"} }},
		{Lifecycle: "model", State: Replacing, Spec: model, Site: stuck("replace")},
		{Lifecycle: "model", State: AwaitingArm, Spec: model, Site: func(s *Site) { s.Down = []string{"0"} }},
		{Lifecycle: "model", State: AwaitingApproval, Spec: func(s *api.TurnstileSpec) { s.Model, s.Approved = "B", "A" }},
		{Lifecycle: "model", State: Sealing, Spec: model, Site: stuck("seal")},
		{Lifecycle: "model", State: SealRefused, Spec: model, Site: func(s *Site) { s.Refusal = "no wax" }},
		{Lifecycle: "model", State: "Inferring", Wiped: true, Site: func(s *Site) { s.SealErr = ErrUnreachable }},
		{Lifecycle: "lamp", State: Lit},
		{Lifecycle: "lamp", State: Switching, Spec: lamp, Site: stuck("switch")},
		{Lifecycle: "lamp", State: AwaitingGlow, Spec: lamp, Site: func(s *Site) { s.Dark = true }},
	}
}

// Release lets a hindered world work again.
func (s *Site) Release() {
	*s = Site{Stuck: map[string]error{}, Fails: map[string]error{}, Seal: Seal{Model: s.Seal.Model}, Log: s.Log}
}
