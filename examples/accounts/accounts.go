// Package accounts is an operator with two lifecycles for an HTTP service: one keeps an account and closes it before its object is
// deleted, and one issues and cancels a card, with an instance for each card. Answers of the service may be slow or lost. Cmd runs it.
package accounts

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// NeedAccount is the account as the service shows it.
const NeedAccount transitions.Need = "account"

// Facts of both lifecycles.
type Facts struct {
	// Plan and Card are requested by the spec. Card is that of the instance.
	Plan, Card string
	// Account at the service.
	Account transitions.Fact[bank.Account] `need:"account"`
	// Commands of the lifecycle.
	Commands external.Commands
}

// Command is an effect: a request that changes the account.
type Command struct{ Method, Path, Body string }

type sending = external.Sending[Facts, struct{}, Command]

// commands are the states in which commands are sent.
var commands = external.Fragment[Facts, struct{}, Command]{Commands: func(f *Facts) *external.Commands { return &f.Commands }, ResolvedBy: NeedAccount}

// shows returns a guard over the account.
var shows = detent.Known(NeedAccount, func(f *Facts) transitions.Fact[bank.Account] { return f.Account })

var (
	open    = shows("open", "an open account", func(_ *Facts, a bank.Account) (bool, string) { return a.Plan != "", "no account" })
	onPlan  = shows("on-plan", "the wanted plan", func(f *Facts, a bank.Account) (bool, string) { return a.Plan == f.Plan, "plan " + a.Plan })
	offered = shows("offered", "a plan that is offered", func(f *Facts, a bank.Account) (bool, string) {
		return slices.Contains(a.Offers, f.Plan), "no plan " + f.Plan
	})
	issued = shows("issued", "an issued card", func(f *Facts, a bank.Account) (bool, string) {
		return slices.Contains(a.Cards, f.Card), "no card " + f.Card
	})
	closed    = detent.Not(open, "no account")
	otherPlan = detent.Not(onPlan, "another plan")
	canceled  = detent.Not(issued, "no such card")
	lacksCard = detent.All(open, canceled)
)

var needs = []machines.Need{{Name: NeedAccount, Doc: "the account is read from the service"}}

// AccountMachine opens the account, changes its plan, and closes it before the object is deleted.
func AccountMachine() detent.Machine[Facts, Command] {
	return commands.Include(detent.Machine[Facts, Command]{
		Name: "account", Doc: "keeps an open account and closes it before the object is deleted", Needs: needs,
		States: []detent.State[Facts, Command]{
			{State: detent.Rest("Settled", "the account has the wanted plan")},
			{State: states.State{Name: "NotOffered", Kind: states.Hold, Doc: "the wanted plan is not offered", Poll: states.DefaultPoll}, OnTargetChange: "Updating"},
			{State: detent.Rest("Closed", "no account is left")},
		},
		Transitions: []detent.Transition[Facts]{
			{Event: "changed", From: "Settled", To: "Updating", NewAttempt: true, When: otherPlan, Doc: "there is no account, or another plan is wanted"},
			{Event: "updated", From: "Updating", To: "Settled", Awaited: true, Outranks: true, When: onPlan},
			{Event: "refused", From: "Updating", To: "NotOffered", Outranks: true, When: detent.Not(offered, "a plan that is not offered"), Doc: "the plan is not offered"},
			{Event: "offered", From: "NotOffered", To: "Updating", Awaited: true, When: offered},
			{Event: "closed", From: "Closing", To: "Closed", Awaited: true, Outranks: true, When: detent.All(closed, commands.Quiet()), Doc: "no command opens it later"},
		},
		Deletion: machines.Deletion{To: "Closing", End: "Closed"},
		Target:   func(f *Facts) detent.Target { return detent.Target{To: f.Plan} },
		Infer:    detent.StartIn[Facts]("Settled"),
	}, sending{
		Name: "Updating", Doc: "the account is being opened or its plan changed", OnTargetChange: "Updating", NeedsFinalizer: true,
		Due: otherPlan, Command: func(f *Facts) Command { return Command{Method: http.MethodPut, Body: f.Plan} },
	}, sending{
		Name: "Closing", Doc: "the account is being closed",
		Due: open, Command: func(*Facts) Command { return Command{Method: http.MethodDelete} },
	})
}

// CardMachine issues one card of an open account, and cancels it when the spec does not name it any more.
func CardMachine() detent.Machine[Facts, Command] {
	return commands.Include(detent.Machine[Facts, Command]{
		Name: "card", Doc: "issues a card and cancels it when it is not wanted any more", Needs: needs,
		States: []detent.State[Facts, Command]{{State: detent.Rest("Settled", "an open account has the card")}, {State: detent.Rest("Canceled", "no card is left")}},
		Transitions: []detent.Transition[Facts]{
			{Event: "no-card", From: "Settled", To: "Issuing", NewAttempt: true, When: lacksCard, Doc: "the account has no such card"},
			{Event: "issued", From: "Issuing", To: "Settled", Awaited: true, Outranks: true, When: issued},
			{Event: "canceled", From: "Canceling", To: "Canceled", Awaited: true, Outranks: true, When: detent.All(canceled, commands.Quiet()), Doc: "no command issues it later"},
		},
		Deletion: machines.Deletion{To: "Canceling", End: "Canceled"},
		Target:   func(*Facts) detent.Target { return detent.Target{To: "an issued card"} },
		Infer:    detent.StartIn[Facts]("Settled"),
	}, sending{
		Name: "Issuing", Doc: "the card is being issued", OnTargetChange: detent.KeepAttempt, NeedsFinalizer: true,
		Due: lacksCard, Command: func(f *Facts) Command { return Command{Method: http.MethodPut, Path: "/" + f.Card} },
	}, sending{
		Name: "Canceling", Doc: "the card is being canceled",
		Due: issued, Command: func(f *Facts) Command { return Command{Method: http.MethodDelete, Path: "/" + f.Card} },
	})
}

// Domain is the facts over which both machines are verified.
func Domain() domain.Domain[Facts, struct{}] {
	offers := []string{"basic", "gold"}
	return commands.Domain(domain.Domain[Facts, struct{}]{
		Base: func() Facts { return Facts{Plan: "gold", Card: "visa"} },
		Dimensions: []domain.Dimension[Facts]{domain.OfFact(func(f *Facts) *transitions.Fact[bank.Account] { return &f.Account }, []domain.Known[bank.Account]{
			{Name: "on plan", Value: bank.Account{Plan: "gold", Offers: offers}},
			{Name: "with the card", Value: bank.Account{Plan: "gold", Offers: offers, Cards: []string{"visa"}}},
			{Name: "on another plan", Value: bank.Account{Plan: "basic", Offers: offers}},
			{Name: "plan not offered", Value: bank.Account{Plan: "basic", Offers: offers[:1]}},
			{Name: "no account", Value: bank.Account{Offers: offers}},
		})},
	})
}

// Settle is how long the service may carry out a request after its client has stopped to wait. A deletion takes that long.
const Settle = 15 * time.Second

// Operator keeps accounts.
type Operator = detent.External[*api.Account, bank.Account, Facts, Command]

// NewOperator returns the operator on the service at the URL. The ID of an account is the UID of its object.
func NewOperator(url string, client *http.Client) Operator {
	service := external.HTTP{URL: url, Client: client}
	return Operator{
		Name: "Account", System: "the bank", New: func() *api.Account { return &api.Account{} }, Settle: Settle,
		Machines:  []detent.Machine[Facts, Command]{AccountMachine(), CardMachine()},
		Instances: map[string]func(*api.Account) []string{"card": func(a *api.Account) []string { return a.Spec.Cards }},
		Existing: map[string]func(external.Snapshot[bank.Account]) ([]string, bool){"card": func(seen external.Snapshot[bank.Account]) ([]string, bool) {
			account, known := seen.Known(NeedAccount)
			return account.Cards, known
		}},
		Facts: func(a *api.Account, seen external.Snapshot[bank.Account], o machines.ObserveOptions) Facts {
			return Facts{a.Spec.Plan, o.Instance, seen.Fact(NeedAccount), seen.Commands(o)}
		},
		Ask: func(ctx context.Context, o external.Object, _ transitions.Need) (account bank.Account, err error) {
			err = service.Get(ctx, "/"+string(o.UID), &account)
			return account, err
		},
		Execute: func(ctx context.Context, o external.Object, c Command) error {
			return service.Send(ctx, c.Method, "/"+string(o.UID)+c.Path, c.Body)
		},
	}
}
