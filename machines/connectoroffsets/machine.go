// Package connectoroffsets is the lifecycle of the offsets of one connector: a user requests that they are listed, altered or reset,
// and each request has its effect once, whatever ends or is lost in between.
package connectoroffsets

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "connector-offsets"

// States of the machine.
const (
	Idle              = "Idle"
	Refusing          = "Refusing"
	Repeated          = "Repeated"
	RecordingRemoval  = "RecordingRemoval"
	Accepting         = "Accepting"
	AwaitingConnector = "AwaitingConnector"
	Listing           = "Listing"
	AwaitingStopped   = "AwaitingStopped"
	RestartingWorker  = "RestartingWorker"
	SavingBefore      = "SavingBefore"
	Applying          = "Applying"
	Verifying         = "Verifying"
	Retrying          = "Retrying"
	Failed            = "Failed"
	Mismatched        = "Mismatched"
	Finishing         = "Finishing"
)

type (
	state = machines.State[Facts, Data, Effect]
	row   = machines.Transition[Facts, Data]
)

var (
	always = transitions.Always[Facts, Data]()
	// safe is what must hold from the stop to the change.
	safe = all(exists, stopped, accounted)
	// permitted is what must hold when the change is sent.
	permitted = all(safe, recorded, valid, kept)
)

// numbered leads to Applying with the number of the write to send.
func numbered(g guard) *machines.Choice[Facts, Data] {
	return &machines.Choice[Facts, Data]{
		Guard: guard{Name: "may-send", Doc: "the change may be sent", Expected: "that the change may be sent", Needs: g.AllNeeds()},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			return g.Verdict(f, d), Data{Send: f.Record.Sends + 1}
		},
	}
}

// judged leads to Verifying with whether Connect has confirmed the write.
func judged(name, doc string, confirmation bool, of func(f *Facts, d Data) bool) *machines.Choice[Facts, Data] {
	return &machines.Choice[Facts, Data]{
		Guard: guard{Name: name, Doc: doc, Expected: doc},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			return transitions.If(of(f, d), "no such answer"), Data{Confirmed: confirmation}
		},
	}
}

// Definition declares the machine.
//
//nolint:funlen // the complete graph is readable in one place
func Definition() machines.Definition[Facts, Data, Effect] {
	const poll = 5 * time.Second
	wait := func(name, doc string, deadline time.Duration, onTargetChange, why string) state {
		return state{State: states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline, Poll: poll}, Invariant: transitions.AlwaysBecause[Facts, Data](why), OnTargetChange: onTargetChange}
	}
	work := func(name, doc string, deadline time.Duration, onTargetChange string, do *action) state {
		return state{State: states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: deadline, Poll: poll}, Invariant: always, OnTargetChange: onTargetChange, Action: do}
	}
	hold := func(name, doc, onTargetChange string) state {
		return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: states.Advice, Doc: doc, Poll: poll}, OnTargetChange: onTargetChange}
	}
	keep := machines.KeepAttempt
	return machines.Definition[Facts, Data, Effect]{
		Name: Name, Doc: "lists, alters and resets the offsets of a connector",
		States: []state{
			{State: states.State{Name: Idle, Kind: states.Rest, Doc: "no request is open"}},
			work(Accepting, "the request is being recorded", time.Minute, Idle, acceptRequest),
			wait(AwaitingConnector, "the connector does not exist or has another configuration", 10*time.Minute, Idle, "a changed request is another target"),
			work(Listing, "the offsets are being written to the ConfigMap", 2*time.Minute, Idle, writeList),
			wait(AwaitingStopped, "the connector is stopping, or a worker may still commit old offsets", 10*time.Minute, Idle, "a changed request is another target"),
			work(SavingBefore, "the present offsets are being kept", 2*time.Minute, Idle, keepOffsets),
			work(Applying, "the change is being sent", 5*time.Minute, keep, sendChange),
			wait(Verifying, "the offsets are being read until they show what the change did", 10*time.Minute, keep, "readings end the wait"),
			work(Finishing, "the request is being recorded as done", 2*time.Minute, keep, finishRequest),
			wait(Retrying, "the change is sent again after a pause", 10*time.Minute, keep, "the pause ends"),
			work(RestartingWorker, "a worker that does not answer is being restarted", 5*time.Minute, Idle, restartWorker),
			hold(Refusing, "the request cannot be carried out as it is", Idle),
			hold(Repeated, "the request equals the last one, whose annotations were not seen removed since; it is carried out if it is removed and set again", Idle),
			work(RecordingRemoval, "the removal of the annotations is being recorded", time.Minute, keep, recordRemoval),
			hold(Failed, "the request failed; it is tried again after a pause", Idle),
			hold(Mismatched, "the offsets are neither those from before nor those requested; nothing is sent again", Idle),
		},
		Transitions: []row{
			{Event: "unfinished", From: Idle, To: Verifying, NewAttempt: true, When: unfinished, Outranks: true, Doc: "a change was sent, and the offsets show what it did"},
			{Event: "annotations-left", From: Idle, To: Finishing, NewAttempt: true, When: lingering, Outranks: true, Doc: "the request is done or has lapsed on all its connectors"},
			{Event: "repeated", From: Idle, To: Repeated, NewAttempt: true, When: repeats, Outranks: true, Doc: "the same request was closed, and its annotations were not seen removed since"},
			{Event: "removed", From: Idle, To: RecordingRemoval, NewAttempt: true, Quiet: true, When: unnoted, Doc: "the annotations of the last request are removed: the same request may be another one afterwards"},
			{Event: "invalid", From: Idle, To: Refusing, NewAttempt: true, When: all(not(valid, "a request that cannot be carried out"), not(carriedOut, "a request that is not done")), Doc: "the request cannot be carried out"},
			{Event: "requested", From: Idle, To: Accepting, NewAttempt: true, When: all(requested, not(carriedOut, "a request that is not done"), valid), Doc: "the annotations request something"},

			{Event: "accepted", From: Accepting, To: AwaitingConnector, When: announced, Awaited: true, Doc: "the request has an identity"},

			{Event: "unfinished", From: AwaitingConnector, To: Verifying, When: all(unfinished, not(valid, "a request that cannot be carried out")), EvenIfUnknown: true, Outranks: true, Doc: "the request cannot be carried out any more, and the offsets show what an earlier attempt did"},
			{Event: "invalid", From: AwaitingConnector, To: Refusing, When: not(valid, "a request that cannot be carried out"), EvenIfUnknown: true, Outranks: true, Doc: "the request cannot be carried out any more"},
			{Event: "expired", From: AwaitingConnector, To: Finishing, Choose: expiring(exists, configured), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "list", From: AwaitingConnector, To: Listing, When: all(listing, exists, configured), Outranks: true, Doc: "the connector is as declared, and its offsets can be listed"},
			{Event: "change", From: AwaitingConnector, To: AwaitingStopped, When: all(exists, configured), Awaited: true, Doc: "the connector is as declared"},

			{Event: "listed", From: Listing, To: Finishing, When: listed, Awaited: true, Outranks: true},
			{Event: "expired", From: Listing, To: Finishing, Choose: expiring(listed), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "too-large", From: Listing, To: Failed, When: not(fits, "offsets that do not fit"), Doc: "the offsets do not fit into the ConfigMap"},

			{Event: "unfinished", From: AwaitingStopped, To: Verifying, When: all(unfinished, not(valid, "a request that cannot be carried out")), EvenIfUnknown: true, Outranks: true, Doc: "the request cannot be carried out any more, and the offsets show what an earlier attempt did"},
			{Event: "invalid", From: AwaitingStopped, To: Refusing, When: not(valid, "a request that cannot be carried out"), EvenIfUnknown: true, Outranks: true, Doc: "the request cannot be carried out any more"},
			{Event: "expired", From: AwaitingStopped, To: Finishing, Choose: expiring(stopped, accounted), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "connector-gone", From: AwaitingStopped, To: AwaitingConnector, When: not(exists, "no connector"), Outranks: true, Doc: "the connector was deleted"},
			{Event: "stopped", From: AwaitingStopped, To: SavingBefore, When: all(stopped, accounted), Awaited: true, Doc: "nothing can commit old offsets any more"},
			{Event: "worker-silent", From: AwaitingStopped, To: RestartingWorker, Choose: &machines.Choice[Facts, Data]{Guard: silent, Pick: pickSilent}, Doc: "a silent worker may commit old offsets when it continues"},

			{Event: "expired", From: RestartingWorker, To: Finishing, Choose: expiring(answering), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "worker-answers", From: RestartingWorker, To: AwaitingStopped, When: answering, Awaited: true, ClearData: true},

			{Event: "expired", From: SavingBefore, To: Finishing, Choose: expiring(kept), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "saved", From: SavingBefore, To: Applying, Choose: numbered(all(kept, unexecuted)), Awaited: true, OneWay: true, Outranks: true, Doc: "the offsets from before can be restored"},
			{Event: "too-large", From: SavingBefore, To: Failed, When: not(fits, "offsets that do not fit"), Doc: "the offsets from before cannot be kept"},

			{Event: "confirmed", From: Applying, To: Verifying, Choose: judged("change-confirmed", "Connect has confirmed the write of this visit", true, func(f *Facts, _ Data) bool { return f.Answer.State == Confirmed }), Doc: "Connect has executed the change"},
			{Event: "uncertain", From: Applying, To: Verifying, Choose: judged("change-uncertain", "the write of this visit may have been executed", false, func(f *Facts, d Data) bool { return f.Answer.State == Uncertain || resent(f, d) }), Doc: "the offsets show whether the change was executed"},
			{Event: "not-executed", From: Applying, To: Retrying, When: answered("not-executed", "that it was not executed", NotExecuted), Doc: "a rebalance is expected, or Connect was not reached"},
			{Event: "connector-gone", From: Applying, To: AwaitingConnector, When: all(refused, not(exists, "no connector")), ClearData: true, Doc: "Connect refused because the connector does not exist"},
			{Event: "not-stopped", From: Applying, To: AwaitingStopped, When: all(refused, exists, not(stopped, "a connector that is not stopped")), ClearData: true, Doc: "Connect refused because the connector is not stopped"},
			{Event: "refused", From: Applying, To: Failed, When: all(refused, exists, stopped), ClearData: true, Doc: "Connect refused the change itself"},
			{Event: "outcome-visible", From: Applying, To: Finishing, When: all(answered("pending", "still awaited", Pending), settled, asWanted), Awaited: true, Doc: "the offsets are as requested, whatever becomes of the answer"},

			{Event: "not-sent", From: Verifying, To: Idle, When: not(unfinished, "a change that was not sent"), Outranks: true, ClearData: true, Doc: "nothing was sent, or the end is recorded"},
			{Event: "verified", From: Verifying, To: Finishing, When: asWanted, Awaited: true, Outranks: true, ClearData: true},
			{Event: "overwritten", From: Verifying, To: Mismatched, When: all(asBefore, confirmed), ClearData: true, Doc: "Connect confirmed the change, and it is not there"},
			{Event: "withdrawn", From: Verifying, To: Finishing, Choose: ending(asBefore, not(confirmed, "a change without confirmation"), settled), Outranks: true, Doc: "the change had no effect, and is not requested any more"},
			{Event: "no-effect", From: Verifying, To: Retrying, When: all(asBefore, not(confirmed, "a change without confirmation"), settled, mayRepeat), Outranks: true, ClearData: true, Doc: "the change had no effect"},
			{Event: "gave-up", From: Verifying, To: Failed, When: all(asBefore, not(confirmed, "a change without confirmation"), settled), ClearData: true, Doc: "the change had no effect three times"},
			{Event: "mismatch", From: Verifying, To: Mismatched, When: all(asOther, settled), ClearData: true, Doc: "another program changed the offsets, or the change was executed in part"},

			{Event: "withdrawn", From: Retrying, To: Verifying, When: not(wanted, "the request to be removed"), Outranks: true, Doc: "the change is not requested any more"},
			{Event: "retried", From: Retrying, To: Applying, Choose: numbered(rested), Awaited: true, OneWay: true, Doc: "the pause has passed"},

			{Event: "withdrawn", From: Failed, To: Finishing, Choose: ending(), Outranks: true, Doc: "the request was removed or changed"},
			{Event: "expired", From: Failed, To: Finishing, Choose: expiring(rested), EvenIfUnknown: true, Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "tried-again", From: Failed, To: AwaitingConnector, When: rested, Awaited: true, Doc: "the pause has passed"},

			{Event: "withdrawn", From: Mismatched, To: Finishing, Choose: abandoning(), Awaited: true, Outranks: true, Doc: "the request was removed or changed"},
			{Event: "verified", From: Mismatched, To: Finishing, When: asWanted, Doc: "the offsets are as requested now"},

			{Event: "expired", From: Refusing, To: Finishing, Choose: expiringRefused(), Outranks: true, Doc: "the request has waited for too long, and nothing was sent"},
			{Event: "limited", From: Refusing, To: Accepting, When: all(not(valid, "a request that cannot be carried out"), uncounted), Doc: "the request is recorded although it cannot be carried out, so that it lapses in time"},
			{Event: "resumed", From: Refusing, To: AwaitingConnector, When: all(valid, again), Outranks: true, Doc: "the recorded request can be carried out, and has waited since it was accepted"},
			{Event: "corrected", From: Refusing, To: Idle, When: valid, Awaited: true, Doc: "the request can be carried out, or was removed"},
			{Event: "removed", From: Repeated, To: RecordingRemoval, Choose: removal, Awaited: true, Doc: "the request was removed"},
			{Event: "noted", From: RecordingRemoval, To: Idle, When: noted, Awaited: true, ClearData: true, Quiet: true, Doc: "the record shows the removal"},

			{Event: "finished", From: Finishing, To: Idle, When: all(closed, not(lingering, "the annotations to be removed")), Awaited: true, ClearData: true, Doc: "the end of the request is recorded, and its annotations are gone"},
		},
		Needs: []machines.Need{
			{Name: NeedConnector, Doc: "the configuration, the status and the tasks of the connector, from each worker (GET of Connect)"},
			{Name: NeedOffsets, Doc: "the offsets of the connector (GET of Connect)"},
		},
		Target: func(f *Facts) machines.Target {
			switch {
			case f.Request != nil:
				return machines.Target{To: string(f.Request.Operation) + f.digest()}
			case f.Unclear && f.Record.Phase != Accepted, f.tracked(): // nothing shows, or no record, that another change is requested
				return machines.Target{To: string(f.Record.Operation) + f.Record.Digest}
			}
			return machines.Target{}
		},
		Infer: machines.Inference[Facts, Data]{States: []string{Idle, Verifying, Repeated}, Find: func(f *Facts) (machines.InferredState[Data], transitions.Verdict) {
			switch {
			case f.Record.Phase == Sent:
				return machines.InferredState[Data]{State: Verifying}, transitions.Allow()
			case f.repetition():
				return machines.InferredState[Data]{State: Repeated}, transitions.Allow()
			}
			return machines.InferredState[Data]{State: Idle}, transitions.Allow()
		}},
		Data:    machines.DataCodec[Data]{Encode: encode, Decode: decode},
		Records: []machines.Record{requests.Record},
	}
}
