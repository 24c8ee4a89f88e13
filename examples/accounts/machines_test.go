package accounts

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/machinetest/externaltest"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

type (
	testRow  = machinetest.Row[Facts, struct{}, Command]
	want     = machinetest.Want[struct{}, Command]
	sendCase = externaltest.Case[Facts, Command]
)

// with returns facts of plan gold and card visa, in which the service shows an account on the plan with the cards.
func with(plan string, cards ...string) Facts {
	account := bank.Account{Plan: plan, Cards: cards, Offers: []string{"basic", "gold"}}
	return Facts{Plan: "gold", Card: "visa", Account: transitions.Known(account, time.Unix(0, 0))}
}

func inFlight(f Facts) Facts { f.Commands.InFlight = true; return f }
func lost(f Facts) Facts     { f.Commands.Answer.State = external.Unknown; return f }
func platinum(f Facts) Facts { f.Plan = "platinum"; return f }

// unreadable are facts without an answer of the service.
var unreadable = Facts{Plan: "gold", Card: "visa", Account: transitions.Unreadable[bank.Account](errors.New("time-out"))}

func TestAccountMachineTransitions(t *testing.T) {
	machine := machinetest.Compile(t, AccountMachine(), Domain())
	put, remove := Command{Method: http.MethodPut, Body: "gold"}, Command{Method: http.MethodDelete}
	machinetest.Run(t, machine, slices.Concat(machinetest.TargetChanged(machine, with("basic")), []testRow{
		{Name: "a new object", Facts: with(""), Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "the account has the plan", State: "Settled", Facts: with("gold")},
		{Name: "the account is unreadable", State: "Settled", Facts: unreadable, Want: want{WaitingFor: []string{"not(on-plan)"}}},
		{Name: "there is no account", State: "Settled", Facts: with(""), Want: want{Event: "changed", To: "Updating"}},
		{Name: "another plan is wanted", State: "Settled", Facts: with("basic"), Want: want{Event: "changed", To: "Updating"}},
		{Name: "nothing is sent unread", State: "Updating", Facts: unreadable, Want: want{WaitingFor: []string{"on-plan"}}},
		{Name: "the answer is lost, and unread", State: "Updating", Facts: lost(unreadable), Want: want{WaitingFor: []string{"on-plan"}}},
		{Name: "it was updated, and the answer lost", State: "Updating", Facts: lost(with("gold")), Want: want{Event: "updated", To: "Settled"}},
		{Name: "the plan is not offered", State: "Updating", Facts: platinum(with("basic")), Want: want{Event: "refused", To: "NotOffered"}},
		{Name: "still not offered", State: "NotOffered", Facts: platinum(with("basic")), Want: want{WaitingFor: []string{"offered"}}},
		{Name: "offered, unread", State: "NotOffered", Facts: unreadable, Want: want{WaitingFor: []string{"offered"}}},
		{Name: "it is offered now", State: "NotOffered", Facts: with("basic"), Want: want{Event: "offered", To: "Updating"}},
		{Name: "no account, unread", State: "Closing", Attempt: machines.DeletionTarget, Facts: unreadable, Want: want{WaitingFor: []string{"not(open)"}}},
		{Name: "a command may open it late", State: "Closing", Attempt: machines.DeletionTarget, Facts: inFlight(with("")), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "it was closed", State: "Closing", Attempt: machines.DeletionTarget, Facts: with(""), Want: want{Event: "closed", To: "Closed"}},
		{Name: "nothing is left", State: "Closed", Attempt: machines.DeletionTarget, Facts: with("")},
	},
		externaltest.Rows(commands, sendCase{State: "Updating", Due: with("basic"), Command: put, WaitingFor: []string{"on-plan"}}),
		externaltest.Rows(commands, sendCase{State: "Closing", Attempt: machines.DeletionTarget, Due: with("gold"), Command: remove, WaitingFor: []string{"not(open)"}, InFlight: []string{"not(open)", "quiet"}})))
}

func TestCardMachineTransitions(t *testing.T) {
	put, remove := Command{Method: http.MethodPut, Path: "/visa"}, Command{Method: http.MethodDelete, Path: "/visa"}
	machinetest.Run(t, machinetest.Compile(t, CardMachine(), Domain()), slices.Concat([]testRow{
		{Name: "a new card", Facts: with("gold"), Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "there is no account yet", State: "Settled", Facts: with("")},
		{Name: "the card is issued", State: "Settled", Facts: with("gold", "visa")},
		{Name: "the account is unreadable", State: "Settled", Facts: unreadable, Want: want{WaitingFor: []string{"not(issued)", "open"}}},
		{Name: "only another card is issued", State: "Settled", Facts: with("gold", "amex"), Want: want{Event: "no-card", To: "Issuing"}},
		{Name: "nothing is sent unread", State: "Issuing", Facts: unreadable, Want: want{WaitingFor: []string{"issued"}}},
		{Name: "the account is closed meanwhile", State: "Issuing", Facts: with(""), Want: want{WaitingFor: []string{"issued"}}},
		{Name: "it was issued, and the answer lost", State: "Issuing", Facts: lost(with("gold", "visa")), Want: want{Event: "issued", To: "Settled"}},
		{Name: "it is not canceled unread", State: "Canceling", Attempt: machines.DeletionTarget, Facts: unreadable, Want: want{WaitingFor: []string{"not(issued)"}}},
		{Name: "a command may issue it late", State: "Canceling", Attempt: machines.DeletionTarget, Facts: inFlight(with("gold")), Want: want{WaitingFor: []string{"quiet"}}},
		{Name: "it was canceled", State: "Canceling", Attempt: machines.DeletionTarget, Facts: with("gold", "amex"), Want: want{Event: "canceled", To: "Canceled"}},
		{Name: "nothing is left", State: "Canceled", Attempt: machines.DeletionTarget, Facts: with("gold")},
	},
		externaltest.Rows(commands, sendCase{State: "Issuing", Due: with("gold"), Command: put, WaitingFor: []string{"issued"}}),
		externaltest.Rows(commands, sendCase{State: "Canceling", Attempt: machines.DeletionTarget, Due: with("gold", "visa"), Command: remove, WaitingFor: []string{"not(issued)"}, InFlight: []string{"not(issued)", "quiet"}})))
}
