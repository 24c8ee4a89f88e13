package accounts

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

type (
	testRow = machinetest.Row[Facts, struct{}, Command]
	want    = machinetest.Want[struct{}, Command]
)

// with returns facts in which the service shows the account, after the changes.
func with(open bool, plan string, changes ...func(*Facts)) Facts {
	f := Facts{Plan: "gold", Account: transitions.Known(bank.Account{Open: open, Plan: plan, Offers: []string{"basic", "gold"}}, time.Unix(0, 0))}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func unreadable(f *Facts) { f.Account = transitions.Unreadable[bank.Account](errors.New("time-out")) }
func lost(f *Facts)       { f.Answer.State = external.Unknown }
func done(f *Facts)       { f.Answer.State = external.Done }
func sent(f *Facts)       { f.Answer.State = external.Pending }
func inFlight(f *Facts)   { f.InFlight = true }
func paused(f *Facts)     { f.Paused = true }
func platinum(f *Facts)   { f.Plan = "platinum" }

// withCard returns facts of the card visa in which the service shows the account on plan gold with the cards.
func withCard(open bool, cards []string, changes ...func(*Facts)) Facts {
	f := Facts{Plan: "gold", Card: "visa", Account: transitions.Known(bank.Account{Open: open, Plan: "gold", Cards: cards}, time.Unix(0, 0))}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func compiled(t *testing.T, definition detent.Machine[Facts, Command]) *machines.Machine[Facts, struct{}, Command] {
	t.Helper()
	machine, err := machines.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Verify(t, machine, Domain())
	return machine
}

func TestAccountMachineTransitions(t *testing.T) {
	put, remove := []Command{{Method: http.MethodPut}}, []Command{{Method: http.MethodDelete}}
	deleting := machines.DeletionTarget
	machinetest.Run(t, compiled(t, AccountMachine()), []testRow{
		{Name: "a new object", Facts: with(false, ""), Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "the account is open", State: "Settled", Facts: with(true, "basic")},
		{Name: "the account is unreadable", State: "Settled", Facts: with(true, "basic", unreadable), Want: want{WaitingFor: []string{"not(open)"}}},
		{Name: "there is no account", State: "Settled", Facts: with(false, ""), Want: want{Event: "no-account", To: "Opening"}},
		{Name: "it is opened", State: "Opening", Facts: with(false, ""), Want: want{WaitingFor: []string{"open"}, Effects: put}},
		{Name: "it is not opened unread", State: "Opening", Facts: with(false, "", unreadable), Want: want{WaitingFor: []string{"open"}}},
		{Name: "one command in a visit", State: "Opening", Facts: with(false, "", sent), Want: want{WaitingFor: []string{"open"}}},
		{Name: "it was opened", State: "Opening", Facts: with(true, "basic"), Want: want{Event: "opened", To: "Settled"}},
		{Name: "it was opened and the answer lost", State: "Opening", Facts: with(true, "basic", lost), Want: want{Event: "opened", To: "Settled"}},
		{Name: "the command was lost", State: "Opening", Facts: with(false, "", lost), Want: want{Event: "failed", To: "RetryingOpening"}},
		{Name: "the effect is not shown yet", State: "Opening", Facts: with(false, "", done, inFlight), Want: want{WaitingFor: []string{"open"}}},
		{Name: "others closed it at once", State: "Opening", Facts: with(false, "", done), Want: want{Event: "failed", To: "RetryingOpening"}},
		{Name: "lost and unreadable", State: "Opening", Facts: with(false, "", lost, unreadable), Want: want{WaitingFor: []string{"open"}}},
		{Name: "the pause lasts", State: "RetryingOpening", Facts: with(false, "", paused), Want: want{WaitingFor: []string{"rested"}}},
		{Name: "the command may come late", State: "RetryingOpening", Facts: with(false, "", inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "it is opened again", State: "RetryingOpening", Facts: with(false, ""), Want: want{Event: "retried", To: "Opening"}},
		{Name: "it is closed", State: "Closing", Attempt: deleting, Facts: with(true, "basic"), Want: want{WaitingFor: []string{"not(open)"}, Effects: remove}},
		{Name: "closing was lost", State: "Closing", Attempt: deleting, Facts: with(true, "basic", lost), Want: want{Event: "failed", To: "RetryingClosing"}},
		{Name: "closing may come late", State: "RetryingClosing", Attempt: deleting, Facts: with(true, "basic", inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "closing is repeated", State: "RetryingClosing", Attempt: deleting, Facts: with(true, "basic"), Want: want{Event: "retried", To: "Closing"}},
		{Name: "no account, unread", State: "Closing", Attempt: deleting, Facts: with(false, "", unreadable), Want: want{WaitingFor: []string{"not(open)"}}},
		{Name: "a command may open it late", State: "Closing", Attempt: deleting, Facts: with(false, "", inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "it was closed", State: "Closing", Attempt: deleting, Facts: with(false, ""), Want: want{Event: "closed", To: "Closed"}},
		{Name: "nothing is left", State: "Closed", Attempt: deleting, Facts: with(false, "")},
	})
}

func TestPlanMachineTransitions(t *testing.T) {
	change := []Command{{Method: http.MethodPut, Path: "/plan", Body: "gold"}}
	machine := compiled(t, PlanMachine())
	machinetest.Run(t, machine, append(machinetest.TargetChanged(machine, with(true, "basic")), []testRow{
		{Name: "a new object", Facts: with(false, ""), Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "there is no account yet", State: "Settled", Facts: with(false, "")},
		{Name: "the account has the plan", State: "Settled", Facts: with(true, "gold")},
		{Name: "the account is unreadable", State: "Settled", Facts: with(true, "gold", unreadable), Want: want{WaitingFor: []string{"not(on-plan)"}}},
		{Name: "another plan is wanted", State: "Settled", Facts: with(true, "basic"), Want: want{Event: "plan-changed", To: "Changing"}},
		{Name: "it is changed", State: "Changing", Facts: with(true, "basic"), Want: want{WaitingFor: []string{"on-plan"}, Effects: change}},
		{Name: "it was changed", State: "Changing", Facts: with(true, "gold", lost), Want: want{Event: "changed", To: "Settled"}},
		{Name: "the account is closed meanwhile", State: "Changing", Facts: with(false, ""), Want: want{Event: "changed", To: "Settled"}},
		{Name: "the answer is lost and unreadable", State: "Changing", Facts: with(true, "basic", lost, unreadable), Want: want{WaitingFor: []string{"on-plan"}}},
		{Name: "the command was lost", State: "Changing", Facts: with(true, "basic", lost), Want: want{Event: "failed", To: "RetryingChanging"}},
		{Name: "it is changed again", State: "RetryingChanging", Facts: with(true, "basic"), Want: want{Event: "retried", To: "Changing"}},
		{Name: "the pause lasts", State: "RetryingChanging", Facts: with(true, "basic", paused), Want: want{WaitingFor: []string{"rested"}}},
		{Name: "the command may come late", State: "RetryingChanging", Facts: with(true, "basic", inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "the plan is not offered", State: "Changing", Facts: with(true, "basic", platinum), Want: want{Event: "refused", To: "NotOffered"}},
		{Name: "still not offered", State: "NotOffered", Facts: with(true, "basic", platinum), Want: want{WaitingFor: []string{"offered"}}},
		{Name: "offered, unread", State: "NotOffered", Facts: with(true, "basic", unreadable), Want: want{WaitingFor: []string{"offered"}}},
		{Name: "it is offered now", State: "NotOffered", Facts: with(true, "basic"), Want: want{Event: "offered", To: "Changing"}},
		{Name: "the account of a refused plan is closed", State: "NotOffered", Facts: with(false, "", platinum), Want: want{Event: "offered", To: "Changing"}},
	}...))
}

func TestCardMachineTransitions(t *testing.T) {
	put, remove := []Command{{Method: http.MethodPut, Path: "/cards/visa"}}, []Command{{Method: http.MethodDelete, Path: "/cards/visa"}}
	deleting := machines.DeletionTarget
	none, other, visa := []string{}, []string{"other"}, []string{"other", "visa"}
	machinetest.Run(t, compiled(t, CardMachine()), []testRow{
		{Name: "a new card", Facts: withCard(true, none), Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "there is no account yet", State: "Settled", Facts: withCard(false, none)},
		{Name: "the card is issued", State: "Settled", Facts: withCard(true, visa)},
		{Name: "the account is unreadable", State: "Settled", Facts: withCard(true, visa, unreadable), Want: want{WaitingFor: []string{"not(issued)", "open"}}},
		{Name: "only another card is issued", State: "Settled", Facts: withCard(true, other), Want: want{Event: "no-card", To: "Issuing"}},
		{Name: "it is issued", State: "Issuing", Facts: withCard(true, none), Want: want{WaitingFor: []string{"issued"}, Effects: put}},
		{Name: "it is not issued unread", State: "Issuing", Facts: withCard(true, none, unreadable), Want: want{WaitingFor: []string{"issued"}}},
		{Name: "the account is closed meanwhile", State: "Issuing", Facts: withCard(false, none), Want: want{WaitingFor: []string{"issued"}}},
		{Name: "it was issued and the answer lost", State: "Issuing", Facts: withCard(true, visa, lost), Want: want{Event: "issued", To: "Settled"}},
		{Name: "the command was lost", State: "Issuing", Facts: withCard(true, none, lost), Want: want{Event: "failed", To: "RetryingIssuing"}},
		{Name: "the command may come late", State: "RetryingIssuing", Facts: withCard(true, none, inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "the pause lasts", State: "RetryingIssuing", Facts: withCard(true, none, paused), Want: want{WaitingFor: []string{"rested"}}},
		{Name: "it is issued again", State: "RetryingIssuing", Facts: withCard(true, none), Want: want{Event: "retried", To: "Issuing"}},
		{Name: "it is canceled", State: "Canceling", Attempt: deleting, Facts: withCard(true, visa), Want: want{WaitingFor: []string{"not(issued)"}, Effects: remove}},
		{Name: "it is not canceled unread", State: "Canceling", Attempt: deleting, Facts: withCard(true, visa, unreadable), Want: want{WaitingFor: []string{"not(issued)"}}},
		{Name: "canceling was lost", State: "Canceling", Attempt: deleting, Facts: withCard(true, visa, lost), Want: want{Event: "failed", To: "RetryingCanceling"}},
		{Name: "canceling is repeated", State: "RetryingCanceling", Attempt: deleting, Facts: withCard(true, visa), Want: want{Event: "retried", To: "Canceling"}},
		{Name: "canceling may come late", State: "RetryingCanceling", Attempt: deleting, Facts: withCard(true, visa, inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "a command may issue it late", State: "Canceling", Attempt: deleting, Facts: withCard(true, other, inFlight), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "it was canceled", State: "Canceling", Attempt: deleting, Facts: withCard(true, other), Want: want{Event: "canceled", To: "Canceled"}},
		{Name: "nothing is left", State: "Canceled", Attempt: deleting, Facts: withCard(true, none)},
	})
}
