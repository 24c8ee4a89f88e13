// Package externaltest contains the rows of a transition table for the states in which external.Fragment sends commands.
package externaltest

import (
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/runtime/external"
)

// Case is one Work state of a fragment.
type Case[F, W any] struct {
	// State is the name of the Work state, and Attempt that of a Row. Required, and optional.
	State, Attempt string
	// Due are facts in which the system is known to need the command, without an answer. Required.
	Due F
	// Command that is sent. Required.
	Command W
	// WaitingFor are the guards that the state shows while the command is due. Required.
	WaitingFor []string
	// InFlight are those that it shows while a command is in flight, too. Optional; default: WaitingFor.
	InFlight []string
}

// Rows returns the rows of a state: what is sent, what counts as a failure, and when the state is entered again. The transitions to the
// desired state, and a system that cannot be read, need rows of their own.
func Rows[F, D, W any](fragment external.Fragment[F, D, W], c Case[F, W]) []machinetest.Row[F, D, W] {
	type want = machinetest.Want[D, W]
	row := func(name, state string, set external.Commands, w want) machinetest.Row[F, D, W] {
		facts := c.Due
		*fragment.Commands(&facts) = set
		return machinetest.Row[F, D, W]{Name: c.State + ": " + name, State: state, Attempt: c.Attempt, Facts: facts, Want: w}
	}
	answer := func(state external.AnswerState, inFlight bool) external.Commands {
		return external.Commands{Answer: external.Answer{State: state}, InFlight: inFlight}
	}
	inFlight, retrying := c.InFlight, external.Retrying(c.State)
	if inFlight == nil {
		inFlight = c.WaitingFor
	}
	waits, failed := want{WaitingFor: c.WaitingFor}, want{Event: external.EventFailed, To: retrying}
	return []machinetest.Row[F, D, W]{
		row("the command is sent", c.State, external.Commands{}, want{WaitingFor: c.WaitingFor, Effects: []W{c.Command}}),
		row("one command in a visit", c.State, answer(external.Pending, false), waits),
		row("the effect is not shown yet", c.State, answer(external.Done, true), want{WaitingFor: inFlight}),
		row("the effect was undone by others", c.State, answer(external.Done, false), failed),
		row("the answer was lost", c.State, answer(external.Unknown, false), failed),
		row("the command was refused", c.State, answer(external.Refused, false), failed),
		row("the command was not sent", c.State, answer(external.Failed, false), failed),
		row("the pause lasts", retrying, external.Commands{Paused: true}, want{WaitingFor: []string{"rested"}}),
		row("the command may come late", retrying, external.Commands{InFlight: true}, want{WaitingFor: []string{"quiet"}}),
		row("it is tried again", retrying, external.Commands{}, want{Event: external.EventRetried, To: c.State}),
	}
}
