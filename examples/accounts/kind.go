package accounts

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// pause after a failed command.
const pause = 10 * time.Second

// Kind is the accounts kind.
type Kind = lifecycle.Kind[*api.Account, Snapshot, Command]

// Snapshot is what is observed of one object.
type Snapshot struct {
	Account transitions.Fact[bank.Account]
	// Answers to the last commands, by lifecycle.
	Answers map[string]external.Answer
	// InFlight means that a command may have taken effect after Account was read.
	InFlight bool
}

// NewKind returns the kind on a system.
func NewKind(system System) (Kind, error) {
	kind := Kind{Name: "Account", New: func() *api.Account { return &api.Account{} }, Cleanup: system.Drop, StatusEqual: func(_, _ *api.Account) bool { return true }}
	for _, definition := range []detent.Machine[Facts, Command]{AccountMachine(), PlanMachine(), CardMachine()} {
		machine, err := machines.Compile(definition)
		if err != nil {
			return Kind{}, err
		}
		facts := func(a *api.Account, s Snapshot, o machines.ObserveOptions) Facts {
			answer := s.Answers[o.RequestID.Lifecycle]
			return Facts{a.Spec.Plan, o.Instance, s.Account, answer, s.InFlight, o.Now.Before(o.EnteredAt.Add(pause))}
		}
		binding := machines.Binding[*api.Account, Snapshot, Facts, Command, Command]{Name: definition.Name, Facts: facts}
		if definition.Name == "card" {
			binding.Instances = func(a *api.Account, _ Snapshot) ([]string, bool) { return a.Spec.Cards, true }
		}
		kind.Lifecycles = append(kind.Lifecycles, machines.Bind(machine, binding))
	}
	kind.Observe = func(ctx context.Context, a *api.Account, request lifecycle.ObserveRequest) (Snapshot, error) {
		return observe(ctx, system, targetOf(a), request), nil
	}
	kind.Execute = func(ctx context.Context, r lifecycle.EffectRequest[*api.Account, Snapshot, Command]) error {
		system.Write(ctx, targetOf(r.Object), r.RequestID, r.Effect)
		return nil
	}
	return kind, nil
}

func targetOf(a *api.Account) Target { return Target{client.ObjectKeyFromObject(a), a.UID} }

// observe reads the last answers. The account is read more often while a command may change it.
func observe(ctx context.Context, system System, account Target, request lifecycle.ObserveRequest) Snapshot {
	s, last := Snapshot{Answers: map[string]external.Answer{}}, external.InFlight{}
	for name, id := range request.RequestIDs {
		s.Answers[name] = system.Answer(account, id)
		if d := system.InFlight(account, name); d.Until.After(last.Until) {
			last = d
		}
	}
	if !request.Wants(NeedAccount) {
		return s
	}
	query := external.Query[transitions.Need]{Question: NeedAccount, MaxAge: request.MaxAge(NeedAccount)}
	external.RefreshSooner(last, &query, request.Now)
	reading := system.Read(ctx, account, []external.Query[transitions.Need]{query}, request.Live, request.Now)[0]
	s.Account = external.Fact(&reading, &reading.Answer)
	s.InFlight = reading.At.Before(last.Until)
	return s
}
