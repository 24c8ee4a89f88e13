// Package connector is the lifecycle of one connector of a Connect cluster: it is created, configured, paused, resumed, stopped,
// restarted and deleted as its resource declares, with one request at a time.
package connector

import (
	"fmt"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "connector"

// States of the machine.
const (
	Settled    = "Settled"
	Applying   = "Applying"
	Confirming = "Confirming"
	Clearing   = "Clearing"
)

// Data is what transitions choose.
type Data struct {
	// Command that is sent, or was sent last.
	Command Command
	// Outcome of the last command.
	Outcome connectoroffsets.AnswerState
	// Annotation that requested the restart that was sent, and the digest of its value.
	Annotation, Value string
}

// pauses reports whether the last command was a pause that Connect has confirmed.
func (d Data) pauses() bool { return d.Command == Pause && d.Outcome == connectoroffsets.Confirmed }

func encode(d Data) map[string]string {
	m := map[string]string{}
	for key, value := range map[string]string{"command": string(d.Command), "outcome": string(d.Outcome), "annotation": d.Annotation, "value": d.Value} {
		if value != "" {
			m[key] = value
		}
	}
	return m
}

func decode(m map[string]string) (Data, error) {
	d := Data{Command: Command(m["command"]), Outcome: connectoroffsets.AnswerState(m["outcome"]), Annotation: m["annotation"], Value: m["value"]}
	if d.Command == None && d != (Data{}) {
		return Data{}, fmt.Errorf("reading the data of a connector: %v has no command", m)
	}
	return d, nil
}

type (
	guard  = transitions.Guard[Facts, Data]
	choice = machines.Choice[Facts, Data]
)

// reads returns a verdict over what Connect reports. It is unknown if that was read before the answer to a command.
func reads(f *Facts, condition func(c *Connector) (bool, string)) transitions.Verdict {
	c, known := f.Connector.Get()
	switch {
	case !known:
		return f.Connector.Gap()
	case f.Connector.At().Before(f.Answer.At):
		return transitions.Verdict{Pending: true}
	}
	return transitions.If(condition(&c))
}

// asDeclared is a choice that says that no command is due, and that none is to have its effect yet: Connect publishes a state some time after
// it has confirmed the command, and the spec may have gone back to the state that is still published. A connector that is paused keeps that as
// a confirmed pause: no state need show it when it fails, or has no worker.
var asDeclared = &choice{
	Guard: guard{Name: "as-declared", Doc: "Connect reports the connector as declared, and no request about its state is to have its effect yet", Expected: "the connector as declared", Needs: []transitions.Need{NeedConnectors}},
	Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
		var kept Data
		verdict := reads(f, func(c *Connector) (bool, string) {
			if due := f.due(c, d); due != None {
				return false, saw(due, f.Failure)
			}
			if f.Declared && f.State == Paused && c.paused(d) {
				kept = Data{Command: Pause, Outcome: connectoroffsets.Confirmed}
			}
			return f.shown(c, d), "Connect does not show yet that it was to " + string(d.Command) + " it"
		})
		return verdict, kept
	},
}

// shown reports whether Connect shows the effect of the last command, or it has none to show. One that was to change the state, and may have
// been executed, shows it within the time for which an uncertain one may still be executed.
func (f *Facts) shown(c *Connector, d Data) bool {
	var effect bool
	switch d.Command {
	case Stop:
		effect = c.State == Stopped
	case Pause:
		effect = c.State == Stopped || c.paused(d)
	case Resume:
		effect = !c.halted()
	default:
		return true
	}
	failed := d.Outcome == connectoroffsets.Refused || d.Outcome == connectoroffsets.NotExecuted
	ended := f.Answer.State != connectoroffsets.Pending && !f.Now.Before(f.Since.Add(settle))
	return effect || failed || !c.Exists || ended
}

// saw describes a connector for which a command is due.
func saw(due Command, failure *transitions.Problem) string {
	if failure != nil {
		return failure.Message
	}
	return "Connect is to " + string(due) + " it"
}

// command returns a choice of the next command, on a condition.
func command(name, doc, expected string, may func(f *Facts, d Data, due Command) (bool, string)) *choice {
	return &choice{
		Guard: guard{Name: name, Doc: doc, Expected: expected, Needs: []transitions.Need{NeedConnectors}},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			due := None
			verdict := reads(f, func(c *Connector) (bool, string) {
				if due = f.due(c, d); due == None {
					return false, "it is as declared"
				}
				return may(f, d, due)
			})
			next := Data{Command: due}
			if due == RestartIt || due == RestartTask {
				next.Annotation, next.Value = f.Restart.Annotation, f.Restart.Value
			}
			return verdict, next
		},
	}
}

// answered returns a choice that keeps the outcome of the command.
func answered(name, doc string, restart bool, outcomes ...connectoroffsets.AnswerState) *choice {
	return &choice{Guard: guard{Name: name, Doc: doc, Expected: doc}, Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
		d.Outcome = f.Answer.State
		for _, outcome := range outcomes {
			if f.Answer.State == outcome && (d.Annotation != "") == restart {
				return transitions.Allow(), d
			}
		}
		return transitions.Deny("another answer, or none yet"), Data{}
	}}
}

// overtaken is a choice for a command that is not due any more while this process has not sent it: the spec was edited before it was sent,
// or another process has sent it and did not record the answer. It may have been executed.
var overtaken = &choice{
	Guard: guard{Name: "not-due", Doc: "nothing is sent, and another request is due, or none", Expected: "the request not to be due", Needs: []transitions.Need{NeedConnectors}},
	Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
		verdict := reads(f, func(c *Connector) (bool, string) {
			return f.Answer.State == connectoroffsets.NoAnswer && !f.sends(f.due(c, d), d), "the request is due, or was sent"
		})
		d.Outcome = connectoroffsets.Uncertain
		return verdict, d
	},
}

// redirected is a choice of what ends the request, or the wait for it, when the spec declares another target than that of the attempt. It begins
// a new attempt: that the earlier target failed again and again must not delay the first request for another one.
func redirected(name string, of ...*choice) *choice {
	doc := "the spec declares another state or configuration than that of the attempt"
	return &choice{
		Guard: guard{Name: name, Doc: doc, Expected: doc, Needs: []transitions.Need{NeedConnectors}},
		Pick: func(f *Facts, d Data) (verdict transitions.Verdict, next Data) {
			if f.Attempted == "" || f.Attempted == f.target() {
				return transitions.Deny("the one of the attempt"), Data{}
			}
			for _, c := range of {
				if verdict, next = c.Pick(f, d); verdict.Answer == transitions.Yes {
					break
				}
			}
			return verdict, next
		},
	}
}

var (
	restartAnswered = answered("restart-answered", "the requested restart failed or has no answer", true, connectoroffsets.Uncertain, connectoroffsets.Refused, connectoroffsets.NotExecuted)
	commandAnswered = answered("command-answered", "the request is answered, or has no answer", false, connectoroffsets.Confirmed, connectoroffsets.Uncertain, connectoroffsets.Refused, connectoroffsets.NotExecuted)
	maySend         = command("may-send", "another request is due, or the last one may be repeated", "a pause after the last request", mayRepeat)
)

// send sends the command of the state, once in each visit.
var send = &machines.Action[Facts, Data, Effect]{
	Name: "send-command", Doc: "sends the request to Connect", Needs: []transitions.Need{NeedConnectors}, ResolvedBy: NeedConnectors,
	Effects: func(f *Facts, d Data) []Effect {
		c, known := f.Connector.Get()
		if !known || f.Answer.State != connectoroffsets.NoAnswer || !f.sends(f.due(&c, d), d) {
			return nil
		}
		e := Effect{Command: d.Command}
		if d.Command == Create {
			e.State = f.State
		}
		if d.Command == RestartIt || d.Command == RestartTask {
			e.Restart = f.Restart
		}
		return []Effect{e}
	},
}

// requests reports whether the annotation of the restart that was carried out is still there, with the value that requested it. Another
// value requests another restart. Data of an earlier release has no value, and is of any.
func (f *Facts) requests(d Data) bool {
	return f.Restart.Annotation == d.Annotation && (d.Value == "" || f.Restart.Value == d.Value)
}

// cleared says that no annotation requests the restart that was carried out.
var cleared = guard{
	Name: "annotation-removed", Doc: "the annotation of the restart is gone, or requests another one", Expected: "the annotation to be removed",
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		return transitions.If(!f.requests(d), "it is still there")
	},
}

var clearAnnotation = &machines.Action[Facts, Data, Effect]{
	Name: "clear-annotation", Doc: "removes the annotation that requested the restart",
	Effects: func(f *Facts, d Data) []Effect {
		if !f.requests(d) {
			return nil
		}
		return []Effect{{Clear: d.Annotation, Restart: f.Restart}}
	},
}

// Definition declares the machine.
func Definition() machines.Definition[Facts, Data, Effect] {
	type (
		state = machines.State[Facts, Data, Effect]
		row   = machines.Transition[Facts, Data]
	)
	const poll = states.DefaultPoll
	always := transitions.Always[Facts, Data]()
	return machines.Definition[Facts, Data, Effect]{
		Name: Name, Doc: "creates, configures, pauses, stops, restarts and deletes a connector as declared",
		States: []state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "Connect reports the connector as declared"}},
			{State: states.State{Name: Applying, Kind: states.Work, Doc: "a request about the connector is being sent", Deadline: 5 * time.Minute, Poll: poll}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: send},
			{State: states.State{Name: Confirming, Kind: states.Wait, Doc: "Connect is read until it shows the connector as declared", Deadline: 5 * time.Minute, Poll: poll}, Invariant: transitions.AlwaysBecause[Facts, Data]("another command is chosen if another is due"), OnTargetChange: machines.KeepAttempt},
			{State: states.State{Name: Clearing, Kind: states.Work, Doc: "the annotation of a restart is being removed", Deadline: time.Minute, Poll: poll}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: clearAnnotation},
		},
		Transitions: []row{
			{Event: "changed", From: Settled, To: Applying, NewAttempt: true, Choose: command("differs", "Connect reports the connector otherwise than declared", "a connector as declared", func(_ *Facts, _ Data, _ Command) (bool, string) { return true, "" })},

			{Event: "visible", From: Applying, To: Settled, Choose: asDeclared, Awaited: true, Outranks: true},
			{Event: "redirected", From: Applying, EvenIfUnknown: true, To: Confirming, NewAttempt: true, Outranks: true, Choose: redirected("redirected", restartAnswered, commandAnswered, overtaken), Doc: "the spec was edited, and the request is answered or not due any more"},
			{Event: "restarted", From: Applying, EvenIfUnknown: true, To: Clearing, Choose: answered("restart-confirmed", "Connect has confirmed the requested restart", true, connectoroffsets.Confirmed)},
			{Event: "restart-failed", From: Applying, EvenIfUnknown: true, To: Confirming, Choose: restartAnswered},
			{Event: "answered", From: Applying, EvenIfUnknown: true, To: Confirming, Choose: commandAnswered},
			{Event: "overtaken", From: Applying, To: Confirming, Choose: overtaken, Doc: "the request is not due any more, and this process has no answer to it: it is not sent, and the one that is due follows"},

			{Event: "confirmed", From: Confirming, To: Settled, Choose: asDeclared, Awaited: true},
			{Event: "edited", From: Confirming, To: Applying, NewAttempt: true, Outranks: true, Choose: redirected("edited", maySend), Doc: "the spec was edited, and a request may be sent"},
			{Event: "next", From: Confirming, To: Applying, Choose: maySend},

			{Event: "cleared", From: Clearing, To: Settled, When: cleared, Awaited: true, ClearData: true},
		},
		Needs:  []machines.Need{{Name: NeedConnectors, Doc: "the configurations and the states of all connectors (GET of Connect)"}},
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.target()} },
		Infer: machines.Inference[Facts, Data]{States: []string{Settled}, Find: func(*Facts) (machines.InferredState[Data], transitions.Verdict) {
			return machines.InferredState[Data]{State: Settled}, transitions.Allow()
		}},
		Data: machines.DataCodec[Data]{Encode: encode, Decode: decode},
	}
}

// target describes the declared connector.
func (f *Facts) target() string {
	if !f.Declared {
		return "deleted"
	}
	return string(f.State) + " " + f.Config[:min(8, len(f.Config))]
}
