// Package accounts is an operator with three lifecycles for an HTTP service: one opens an account and closes it before its object
// is deleted, one changes the plan of an open account, and one issues and cancels a card, with an instance for each card. Answers of
// the service may be slow or lost. Cmd runs it.
package accounts

import (
	"net/http"
	"slices"
	"time"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// NeedAccount is the account as the service shows it.
const NeedAccount transitions.Need = "account"

// Facts of all lifecycles.
type Facts struct {
	// Plan that the spec requests.
	Plan string
	// Card is the name of the card, for the lifecycle of a card.
	Card string
	// Account at the service.
	Account transitions.Fact[bank.Account] `need:"account"`
	// Answer to the command of this visit of the state.
	Answer external.Answer
	// InFlight means that a command may have taken effect after Account was read.
	InFlight bool
	// Paused is true until the pause after a failed command has passed.
	Paused bool
}

// Command is an effect: a request that changes the account.
type Command struct{ Method, Path, Body string }

type (
	guard  = detent.Guard[Facts]
	action = machines.Action[Facts, struct{}, Command]
	state  = detent.State[Facts, Command]
	row    = detent.Transition[Facts]
)

// shows returns a guard over the account. It is unknown until the service has answered.
func shows(name, expected string, condition func(f *Facts, account bank.Account) (holds bool, observed string)) guard {
	return guard{Name: name, Doc: expected, Expected: expected, Needs: []transitions.Need{NeedAccount}, Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		account, known := f.Account.Get()
		if !known {
			return f.Account.Gap()
		}
		return transitions.If(condition(f, account))
	}}
}

var (
	open    = shows("open", "an open account", func(_ *Facts, a bank.Account) (bool, string) { return a.Open, "no account" })
	onPlan  = shows("on-plan", "the wanted plan", func(f *Facts, a bank.Account) (bool, string) { return !a.Open || a.Plan == f.Plan, "plan " + a.Plan })
	offered = shows("offered", "a plan that is offered", func(f *Facts, a bank.Account) (bool, string) {
		return !a.Open || slices.Contains(a.Offers, f.Plan), "no plan " + f.Plan
	})
	quiet  = detent.Is("quiet", "no command that may still take effect", func(f *Facts) (bool, string) { return !f.InFlight, "a command in flight" })
	rested = detent.Is("rested", "a pause after the failed command", func(f *Facts) (bool, string) { return !f.Paused, "a command that failed just now" })
	failed = detent.Is("failed", "a command that failed, has no answer or had no effect", func(f *Facts) (bool, string) {
		switch f.Answer.State {
		case external.Refused, external.Failed, external.Unknown:
			return true, f.Answer.Text
		case external.Done:
			return !f.InFlight, "a command that was carried out" // others may have changed the account since
		default:
			return false, "no answer yet"
		}
	})
	issued = shows("issued", "an issued card", func(f *Facts, a bank.Account) (bool, string) {
		return slices.Contains(a.Cards, f.Card), "no card " + f.Card
	})
	closed    = detent.Not(open, "no account")
	canceled  = detent.Not(issued, "no such card")
	lacksCard = detent.All(open, canceled)
	otherPlan = detent.Not(onPlan, "another plan")
)

// command returns an action that sends a command once in each visit of its state, and only if the account is known to need it.
// What became of a command without an answer is read from the account.
func command(due guard, build func(f *Facts) Command) *action {
	return &action{Needs: []transitions.Need{NeedAccount}, ResolvedBy: NeedAccount, Effects: func(f *Facts, d struct{}) []Command {
		if f.Answer.State != external.None || due.Verdict(f, d).Answer != transitions.Yes {
			return nil
		}
		return []Command{build(f)}
	}}
}

// working returns a Work state, and the Wait state in which it is entered again after its command failed.
func working(name, doc, targetChange string, do *action) []state {
	again := detent.Wait("Retrying"+name, doc+" again after a pause", time.Hour)
	return []state{
		{State: detent.Work(name, doc, 5*time.Minute), Invariant: detent.Always[Facts](), OnTargetChange: targetChange, Action: do},
		{State: again, Invariant: transitions.AlwaysBecause[Facts, struct{}]("the pause ends"), OnTargetChange: targetChange},
	}
}

// retry returns the transitions after a failed command.
func retry(name string) []row {
	return []row{
		{Event: "failed", From: name, To: "Retrying" + name, When: failed, Doc: "the account does not show the effect of the command"},
		{Event: "retried", From: "Retrying" + name, To: name, Awaited: true, When: detent.All(quiet, rested), Doc: "the command cannot take effect any more"},
	}
}

var needs = []machines.Need{{Name: NeedAccount, Doc: "the account is read from the service"}}

// AccountMachine opens the account, and closes it before the object is deleted.
func AccountMachine() detent.Machine[Facts, Command] {
	opening := command(closed, func(*Facts) Command { return Command{Method: http.MethodPut} })
	opening.NeedsFinalizer = true
	closing := command(open, func(*Facts) Command { return Command{Method: http.MethodDelete} })
	return detent.Machine[Facts, Command]{
		Name: "account", Doc: "opens the account and closes it before the object is deleted", Needs: needs,
		States: slices.Concat(
			[]state{{State: detent.Rest("Settled", "the account is open")}},
			working("Opening", "the account is being opened", detent.KeepAttempt, opening),
			working("Closing", "the account is being closed", "", closing),
			[]state{{State: detent.Rest("Closed", "no account is left")}},
		),
		Transitions: slices.Concat([]row{
			{Event: "no-account", From: "Settled", To: "Opening", NewAttempt: true, When: closed, Doc: "the service has no account"},
			{Event: "opened", From: "Opening", To: "Settled", Awaited: true, Outranks: true, When: open},
			{Event: "closed", From: "Closing", To: "Closed", Awaited: true, Outranks: true, When: detent.All(closed, quiet), Doc: "no command opens it later"},
		}, retry("Opening"), retry("Closing")),
		Deletion: machines.Deletion{To: "Closing", End: "Closed"},
		Target:   func(*Facts) detent.Target { return detent.Target{To: "an open account"} },
		Infer:    detent.StartIn[Facts]("Settled"),
	}
}

// PlanMachine changes the plan of an open account.
func PlanMachine() detent.Machine[Facts, Command] {
	changing := command(otherPlan, func(f *Facts) Command { return Command{Method: http.MethodPut, Path: "/plan", Body: f.Plan} })
	return detent.Machine[Facts, Command]{
		Name: "plan", Doc: "changes the plan of an open account", Needs: needs,
		States: append(append([]state{{State: detent.Rest("Settled", "an open account has the wanted plan")}},
			working("Changing", "the plan is being changed", "Changing", changing)...),
			state{State: states.State{Name: "NotOffered", Kind: states.Hold, Doc: "the wanted plan is not offered", Poll: states.DefaultPoll}, OnTargetChange: "Changing"},
		),
		Transitions: append([]row{
			{Event: "plan-changed", From: "Settled", To: "Changing", NewAttempt: true, When: otherPlan, Doc: "another plan is wanted"},
			{Event: "changed", From: "Changing", To: "Settled", Awaited: true, Outranks: true, When: onPlan},
			{Event: "refused", From: "Changing", To: "NotOffered", Outranks: true, When: detent.Not(offered, "a plan that is not offered"), Doc: "the plan is not offered"},
			{Event: "offered", From: "NotOffered", To: "Changing", Awaited: true, When: offered},
		}, retry("Changing")...),
		Target: func(f *Facts) detent.Target { return detent.Target{To: f.Plan} },
		Infer:  detent.StartIn[Facts]("Settled"),
	}
}

// CardMachine issues one card of an open account, and cancels it when the spec does not name it any more.
func CardMachine() detent.Machine[Facts, Command] {
	issuing := command(lacksCard, func(f *Facts) Command { return Command{Method: http.MethodPut, Path: "/cards/" + f.Card} })
	issuing.NeedsFinalizer = true
	canceling := command(issued, func(f *Facts) Command { return Command{Method: http.MethodDelete, Path: "/cards/" + f.Card} })
	return detent.Machine[Facts, Command]{
		Name: "card", Doc: "issues a card and cancels it when it is not wanted any more", Needs: needs,
		States: slices.Concat(
			[]state{{State: detent.Rest("Settled", "an open account has the card")}},
			working("Issuing", "the card is being issued", detent.KeepAttempt, issuing),
			working("Canceling", "the card is being canceled", "", canceling),
			[]state{{State: detent.Rest("Canceled", "no card is left")}},
		),
		Transitions: slices.Concat([]row{
			{Event: "no-card", From: "Settled", To: "Issuing", NewAttempt: true, When: lacksCard, Doc: "the account has no such card"},
			{Event: "issued", From: "Issuing", To: "Settled", Awaited: true, Outranks: true, When: issued},
			{Event: "canceled", From: "Canceling", To: "Canceled", Awaited: true, Outranks: true, When: detent.All(canceled, quiet), Doc: "no command issues it later"},
		}, retry("Issuing"), retry("Canceling")),
		Deletion: machines.Deletion{To: "Canceling", End: "Canceled"},
		Target:   func(*Facts) detent.Target { return detent.Target{To: "an issued card"} },
		Infer:    detent.StartIn[Facts]("Settled"),
	}
}
