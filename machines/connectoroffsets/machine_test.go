//test:norace
package connectoroffsets_test

import (
	"errors"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	co "github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row  = machinetest.Row[co.Facts, co.Data, co.Effect]
	want = machinetest.Want[co.Data, co.Effect]
)

const id = "5f2c91a0"

var (
	now       = machinetest.Start
	errSilent = errors.New("connection refused")
	problem   = transitions.Problemf("AlterOffsets", "the connector is not stopped")
)

var (
	running    = co.Connector{Exists: true, Configured: true}
	absent     = co.Connector{}
	undeclared = co.Connector{Exists: true, Stopped: true}
	loose      = worker(func(*co.Worker) {})
	mute       = worker(func(w *co.Worker) { w.Silent = true })
)

func stay(name, state string, f co.Facts, waits ...string) row {
	return row{Name: name, State: state, Facts: f, Want: want{WaitingFor: waits}}
}

func goes(name, state string, f co.Facts, event, to string) row {
	return row{Name: name, State: state, Facts: f, Want: want{Event: event, To: to}}
}

// by returns the row with persisted data.
func by(r row, d co.Data) row {
	r.Data = &d
	return r
}

func idle() []row {
	again := []row{
		goes("idle: the same request was ended without an effect", co.Idle, with(alter(), record(co.Ended)), "requested", co.Accepting),
		goes("idle: the same request was done, and removed since", co.Idle, with(alter(), record(co.Done, released)), "requested", co.Accepting),
		goes("idle: it is, and the annotation of the operator was left", co.Idle, with(shownAlter(), record(co.Done, released)), "requested", co.Accepting),
		goes("idle: the same request was held, and removed since", co.Idle, with(alter(), record(co.Ended, held, released)), "requested", co.Accepting),
		goes("idle: the same request was held", co.Idle, with(shownAlter(), record(co.Ended, held)), "repeated", co.Repeated),
		goes("idle: another document than the one that was done", co.Idle, with(asks(co.Request{Operation: co.Alter, Digest: "d2"}), record(co.Done)), "requested", co.Accepting),
		goes("idle: another request than the one that was done", co.Idle, with(list(), record(co.Done)), "requested", co.Accepting),
	}
	return append(again, []row{
		stay("idle: nothing is requested", co.Idle, with()),
		stay("idle: nothing is requested, and the last request ended", co.Idle, with(record(co.Ended))),
		stay("idle: nothing is requested, and the last list is done", co.Idle, with(listRecord("w1"), func(f *co.Facts) { f.Record.Phase = co.Done })),
		goes("idle: the annotations of a request that is done are gone", co.Idle, with(record(co.Done)), "removed", co.RecordingRemoval),
		goes("idle: they have been gone for five minutes", co.Idle, with(record(co.Done, removedAt(5*time.Minute))), "removed", co.RecordingRemoval),
		goes("idle: the annotations of a request that is held are gone", co.Idle, with(record(co.Ended, held)), "removed", co.RecordingRemoval),
		stay("idle: they have been gone for less", co.Idle, with(record(co.Done, removedAt(4*time.Minute)))),
		stay("idle: their removal is recorded", co.Idle, with(record(co.Done, released))),
		stay("idle: what the annotations request is unclear", co.Idle, with(record(co.Done, removedAt(time.Hour)), unclear)),
		goes("idle: a request", co.Idle, with(alter()), "requested", co.Accepting),
		goes("idle: a request that cannot be carried out", co.Idle, with(invalid()), "invalid", co.Refusing),
		goes("idle: a change was sent before the status was lost", co.Idle, with(alter(), record(co.Sent)), "unfinished", co.Verifying),
		goes("idle: a change was sent and its request removed", co.Idle, with(record(co.Sent)), "unfinished", co.Verifying),
		goes("idle: a change was sent and its request became invalid", co.Idle, with(invalid(), record(co.Sent)), "unfinished", co.Verifying),
		goes("idle: the annotations of a request that is done are still there", co.Idle, with(shownAlter(), record(co.Done)), "annotations-left", co.Finishing),
		goes("idle: they are, and the request is invalid now", co.Idle, with(asks(co.Request{Operation: co.Alter, Digest: "d1", Shown: true, Problem: problem}), record(co.Done)), "annotations-left", co.Finishing),
		stay("idle: the request is done here and not on other connectors", co.Idle, with(shownAlter(), others, record(co.Done))),
		goes("idle: the same request was set again", co.Idle, with(alter(), record(co.Done)), "repeated", co.Repeated),
		goes("idle: it was done long ago, and not removed since", co.Idle, with(alter(), record(co.Done, longAgo)), "repeated", co.Repeated),
		goes("idle: it was removed, and not for long", co.Idle, with(alter(), record(co.Done, longAgo, removedAt(time.Hour))), "repeated", co.Repeated),
		goes("idle: it was set again, and its document cannot be read", co.Idle, with(unreadable(), record(co.Done)), "repeated", co.Repeated),
		goes("idle: the same request was set again and is invalid now", co.Idle, with(invalid(), record(co.Done)), "repeated", co.Repeated),

		goes("idle: a list was requested again", co.Idle, with(list(), listRecord("w1"), func(f *co.Facts) { f.Record.Phase, f.Record.DoneAt = co.Done, now }), "requested", co.Accepting),

		{Name: "repeated: removed", State: co.Repeated, Facts: with(record(co.Done)), Want: want{Event: "removed", To: co.RecordingRemoval, Data: new(co.Data{Meant: true})}},
		stay("repeated: still set", co.Repeated, with(alter(), record(co.Done)), "removed"),
		{Name: "repeated: another document", State: co.Repeated, Attempt: "alterd1", Facts: with(asks(co.Request{Operation: co.Alter, Digest: "d2"}), record(co.Done)), Want: want{Event: machines.EventTargetChanged, To: co.Idle}},
		{Name: "repeated: removed, with the attempt of the request", State: co.Repeated, Attempt: "alterd1", Facts: with(record(co.Done)), Want: want{Event: "removed", To: co.RecordingRemoval, Data: new(co.Data{Meant: true})}},
		stay("repeated: still set, and the connector is to run", co.Repeated, with(invalid(), record(co.Done)), "removed"),
		{Name: "repeated: its document cannot be read", State: co.Repeated, Attempt: "alterd1", Facts: with(unreadable(), record(co.Done)), Want: want{WaitingFor: []string{"removed"}}},
		{Name: "repeated: what the annotations request is unclear", State: co.Repeated, Attempt: "alterd1", Facts: with(record(co.Done), unclear), Want: want{WaitingFor: []string{"removed"}}},
		goes("refusing: corrected", co.Refusing, with(alter()), "corrected", co.Idle),
		{Name: "refusing: not corrected", State: co.Refusing, Facts: with(invalid()), Want: want{WaitingFor: []string{"valid"}}},
	}...)
}

func removing() []row {
	meant := co.Data{Meant: true}
	notes := want{WaitingFor: []string{"noted"}, Effects: []co.Effect{{Kind: co.Finish, ID: id, Leave: true}}}
	in := func(name string, d co.Data, f co.Facts, w want) row {
		return row{Name: "removed: " + name, State: co.RecordingRemoval, Data: new(d), Facts: f, Want: w}
	}
	done := want{Event: "noted", To: co.Idle}
	return []row{
		in("the removal is recorded", co.Data{}, with(record(co.Done)), notes),
		in("the removal is recorded, although a tool has set the request again", co.Data{}, with(alter(), record(co.Done)), notes),
		in("that it lasts is recorded", co.Data{}, with(record(co.Done, removedAt(5*time.Minute))), notes),
		in("it did not last", co.Data{}, with(alter(), record(co.Done, removedAt(5*time.Minute))), done),
		in("it does not last yet", co.Data{}, with(record(co.Done, removedAt(time.Minute))), done),
		in("that of a repetition is recorded", meant, with(record(co.Done, removedAt(time.Minute))), notes),
		in("that of a repetition is recorded, and it is set again", meant, with(alter(), record(co.Done, removedAt(time.Minute))), notes),
		in("that of a request that is held is recorded", co.Data{}, with(record(co.Ended, held)), notes),
		in("it is recorded", meant, with(record(co.Done, released)), done),
	}
}

func accepting() []row {
	show := []co.Effect{{Kind: co.Show, ID: id}}
	return []row{
		{Name: "accepting: the request is recorded and shown", State: co.Accepting, Facts: with(alter()), Want: want{WaitingFor: []string{"announced"}, Effects: show}},
		{Name: "accepting: a request that was ended is recorded again", State: co.Accepting, Facts: with(alter(), record(co.Ended)), Want: want{WaitingFor: []string{"announced"}, Effects: show}},
		{Name: "accepting: the record is of another request", State: co.Accepting, Facts: with(alter(), listRecord("")), Want: want{WaitingFor: []string{"announced"}, Effects: show}},
		{Name: "accepting: the attempt is not persisted yet", State: co.Accepting, Facts: with(alter(), func(f *co.Facts) { f.Attempt = nil }), Want: want{WaitingFor: []string{"announced"}}},
		{Name: "accepting: it is recorded and not shown", State: co.Accepting, Facts: with(alter(), record(co.Accepted, func(r *co.Record) { r.ID = "other" })), Want: want{WaitingFor: []string{"announced"}, Effects: []co.Effect{{Kind: co.Show, ID: "other"}}}},
		goes("accepting: recorded and shown", co.Accepting, with(shownAlter(), record(co.Accepted, func(r *co.Record) { r.Attempt = id })), "accepted", co.AwaitingConnector),
		goes("accepting: recorded and shown, and sent before", co.Accepting, with(shownAlter(), record(co.Sent)), "accepted", co.AwaitingConnector),
		{Name: "accepting: shown, and recorded by an earlier attempt", State: co.Accepting, Facts: with(shownAlter(), record(co.Accepted, func(r *co.Record) { r.ID, r.Attempt = "other", "other" })), Want: want{WaitingFor: []string{"announced"}, Effects: []co.Effect{{Kind: co.Show, ID: "other"}}}},

		goes("connector: as declared, for a change", co.AwaitingConnector, with(alter(), record(co.Accepted)), "change", co.AwaitingStopped),
		goes("connector: as declared, for a list", co.AwaitingConnector, with(list(), listRecord("")), "list", co.Listing),
		goes("connector: the request became invalid", co.AwaitingConnector, with(invalid(), record(co.Accepted)), "invalid", co.Refusing),
		goes("connector: the request became invalid while Connect is silent", co.AwaitingConnector, with(invalid(), record(co.Accepted), silent()), "invalid", co.Refusing),
		goes("connector: as declared, for a change that was sent before", co.AwaitingConnector, with(alter(), record(co.Sent)), "change", co.AwaitingStopped),
		goes("connector: the request became invalid, and was sent before", co.AwaitingConnector, with(invalid(), record(co.Sent), silent()), "unfinished", co.Verifying),
		stay("connector: absent, for a change", co.AwaitingConnector, with(alter(), record(co.Accepted), is(absent)), "configured", "exists"),
		stay("connector: absent, for a list", co.AwaitingConnector, with(list(), listRecord(""), is(absent)), "configured", "exists"),
		stay("connector: another configuration, for a change", co.AwaitingConnector, with(alter(), record(co.Accepted), is(undeclared)), "configured"),
		stay("connector: another configuration, for a list", co.AwaitingConnector, with(list(), listRecord(""), is(undeclared)), "configured"),
		stay("connector: silent, for a change", co.AwaitingConnector, with(alter(), record(co.Accepted), silent()), "configured", "exists"),
		stay("connector: silent, for a list", co.AwaitingConnector, with(list(), listRecord(""), silent()), "configured", "exists"),
	}
}

func listing() []row {
	written := func(entry string) change { return func(f *co.Facts) { f.Entry = entry } }
	write := []co.Effect{{Kind: co.Write, ID: id, Document: "{}"}}
	return []row{
		{Name: "listing: the document is written", State: co.Listing, Facts: with(list(), listRecord("")), Want: want{WaitingFor: []string{"listed"}, Effects: write}},
		{Name: "listing: the document was recorded and not written", State: co.Listing, Facts: with(list(), listRecord("d8"), written("d7")), Want: want{WaitingFor: []string{"listed"}, Effects: write}},
		goes("listing: the connector is gone", co.Listing, with(list(), listRecord(""), is(absent)), "precondition-failed", co.AwaitingConnector),
		{Name: "listing: Connect is silent", State: co.Listing, Facts: with(list(), listRecord(""), silent()), Want: want{WaitingFor: []string{"listed"}, Blocked: []string{"offsets-read"}}},
		{Name: "listing: the offsets cannot be read", State: co.Listing, Facts: with(list(), listRecord(""), unread()), Want: want{WaitingFor: []string{"listed"}}},
		goes("listing: the ConfigMap holds what was recorded, and the offsets have moved since", co.Listing, with(list(), listRecord("d8"), written("d8")), "listed", co.Finishing),
		goes("listing: it holds it, and the offsets do not fit any more", co.Listing, with(list(), listRecord("d8"), written("d8"), tooLarge()), "listed", co.Finishing),
		goes("listing: the document does not fit", co.Listing, with(list(), listRecord(""), tooLarge()), "too-large", co.Failed),
	}
}

func stopping() []row {
	accepted := record(co.Accepted)
	fenced, ended := worker(func(w *co.Worker) { w.Fenced = true }), worker(func(w *co.Worker) { w.Ended, w.Silent = true, true })
	return []row{
		goes("stopping: nothing can commit old offsets", co.AwaitingStopped, with(alter(), accepted), "stopped", co.SavingBefore),
		goes("stopping: the workers are fenced or have ended", co.AwaitingStopped, with(alter(), accepted, is(stopped(fenced, ended))), "stopped", co.SavingBefore),
		stay("stopping: tasks are left", co.AwaitingStopped, with(alter(), accepted, is(running)), "stopped"),
		stay("stopping: a worker has not answered for long enough", co.AwaitingStopped, with(alter(), accepted, is(stopped(loose))), "accounted"),
		stay("stopping: Connect is silent", co.AwaitingStopped, with(alter(), accepted, silent()), "accounted", "stopped"),
		goes("stopping: the connector was deleted", co.AwaitingStopped, with(alter(), accepted, is(absent)), "connector-gone", co.AwaitingConnector),
		goes("stopping: the connector was deleted, and nothing can commit old offsets", co.AwaitingStopped, with(alter(), accepted, is(co.Connector{Stopped: true})), "connector-gone", co.AwaitingConnector),
		goes("stopping: the request became invalid", co.AwaitingStopped, with(invalid(), accepted), "invalid", co.Refusing),
		goes("stopping: nothing can commit old offsets, for a change that was sent before", co.AwaitingStopped, with(alter(), record(co.Sent)), "stopped", co.SavingBefore),
		goes("stopping: the request became invalid, and was sent before", co.AwaitingStopped, with(invalid(), record(co.Sent), silent()), "unfinished", co.Verifying),
		goes("stopping: the request became invalid while Connect is silent", co.AwaitingStopped, with(invalid(), accepted, silent()), "invalid", co.Refusing),
		goes("stopping: it became invalid and the connector was deleted", co.AwaitingStopped, with(invalid(), accepted, is(absent)), "invalid", co.Refusing),
		{Name: "stopping: a worker is silent", State: co.AwaitingStopped, Facts: with(alter(), accepted, is(stopped(mute))), Want: want{Event: "worker-silent", To: co.RestartingWorker, Data: new(co.Data{Worker: "uid-0"})}},
		stay("stopping: a worker is silent and the record is lost", co.AwaitingStopped, with(alter(), is(stopped(mute))), "accounted"),
		goes("stopping: the connector was deleted and a worker is silent", co.AwaitingStopped, with(alter(), accepted, is(co.Connector{Workers: []co.Worker{mute}})), "connector-gone", co.AwaitingConnector),

		{Name: "restarting: the silent worker", State: co.RestartingWorker, Data: new(co.Data{Worker: "uid-0"}), Facts: with(alter(), accepted, is(stopped(mute))), Want: want{WaitingFor: []string{"answering"}, Effects: []co.Effect{{Kind: co.Restart, Worker: "uid-0"}}}},
		by(goes("restarting: it answers", co.RestartingWorker, with(alter(), accepted, is(stopped(loose))), "worker-answers", co.AwaitingStopped), co.Data{Worker: "uid-0"}),
		by(goes("restarting: another process is in its place", co.RestartingWorker, with(alter(), accepted, is(stopped())), "worker-answers", co.AwaitingStopped), co.Data{Worker: "uid-0"}),
		by(goes("restarting: it has ended", co.RestartingWorker, with(alter(), accepted, is(stopped(ended))), "worker-answers", co.AwaitingStopped), co.Data{Worker: "uid-0"}),
		{Name: "restarting: the request became invalid", State: co.RestartingWorker, Data: new(co.Data{Worker: "uid-0"}), Facts: with(invalid(), accepted, is(stopped(mute))), Want: want{Event: machines.EventPreconditionFailed, To: co.AwaitingStopped}},
		{Name: "restarting: Connect is silent", State: co.RestartingWorker, Data: new(co.Data{Worker: "uid-0"}), Facts: with(alter(), accepted, silent()), Want: want{WaitingFor: []string{"answering"}, Blocked: []string{"not(answering)"}}},

		{Name: "saving: the present offsets are kept", State: co.SavingBefore, Facts: with(alter(), accepted), Want: want{WaitingFor: []string{"may-send"}, Effects: []co.Effect{{Kind: co.Keep, ID: id, Document: "{}"}}}},
		{Name: "saving: the offsets cannot be read", State: co.SavingBefore, Facts: with(alter(), accepted, unread()), Want: want{WaitingFor: []string{"may-send"}}},
		goes("saving: they do not fit", co.SavingBefore, with(alter(), accepted, tooLarge()), "too-large", co.Failed),
		{Name: "saving: they are kept", State: co.SavingBefore, Facts: with(alter(), accepted, kept), Want: want{Event: "saved", To: co.Applying, Data: new(co.Data{Send: 1})}},
		{Name: "saving: they are kept, and would not fit any more", State: co.SavingBefore, Facts: with(alter(), accepted, tooLarge(), kept), Want: want{Event: "saved", To: co.Applying, Data: new(co.Data{Send: 1})}},
		{Name: "saving: they are kept, and the record says that a change was sent", State: co.SavingBefore, Facts: with(alter(), record(co.Sent), tooLarge(), kept), Want: want{WaitingFor: []string{"may-send"}, Effects: []co.Effect{{Kind: co.Keep, ID: id, Document: "{}"}}}},
		{Name: "saving: they have changed since Connect refused a change", State: co.SavingBefore, Facts: with(alter(), record(co.Sent)), Want: want{WaitingFor: []string{"may-send"}, Effects: []co.Effect{{Kind: co.Keep, ID: id, Document: "{}"}}}},
		goes("saving: the connector runs again", co.SavingBefore, with(alter(), accepted, is(running)), machines.EventPreconditionFailed, co.AwaitingStopped),
		goes("saving: the connector was deleted", co.SavingBefore, with(alter(), accepted, is(co.Connector{Stopped: true})), machines.EventPreconditionFailed, co.AwaitingStopped),
		goes("saving: a worker was restarted", co.SavingBefore, with(alter(), accepted, is(stopped(loose))), machines.EventPreconditionFailed, co.AwaitingStopped),
		{Name: "saving: Connect is silent", State: co.SavingBefore, Facts: with(alter(), accepted, silent()), Want: want{WaitingFor: []string{"may-send"}, Blocked: []string{"offsets-read", "stopped", "accounted"}}},
	}
}

func applying() []row {
	accepted, sent := record(co.Accepted), record(co.Sent)
	send := []co.Effect{{Kind: co.Change, ID: id, Operation: co.Alter, Digest: "d1"}}
	in := func(name string, f co.Facts, w want) row {
		return row{Name: "applying: " + name, State: co.Applying, Data: new(co.Data{Send: 1}), Facts: f, Want: w}
	}
	verifies := func(confirmed bool) *co.Data { return new(co.Data{Confirmed: confirmed}) }
	failed := want{Event: machines.EventPreconditionFailed, To: co.Verifying}
	return []row{
		in("the change is sent", with(alter(), accepted, kept), want{WaitingFor: []string{"as-wanted", "pending"}, Effects: send}),
		{Name: "applying: the change is sent a second time", State: co.Applying, Data: new(co.Data{Send: 2}), Facts: with(alter(), sent, kept), Want: want{WaitingFor: []string{"as-wanted", "pending"}, Effects: send}},
		in("it was sent by a process that ended", with(alter(), sent, kept), want{Event: "uncertain", To: co.Verifying, Data: verifies(false)}),
		in("the answer is awaited", with(alter(), sent, kept, answer(co.Pending)), want{WaitingFor: []string{"as-wanted"}}),
		in("the answer is awaited and the offsets cannot be read", with(alter(), sent, kept, answer(co.Pending), unread()), want{WaitingFor: []string{"as-wanted"}}),
		in("Connect confirmed", with(alter(), sent, kept, answer(co.Confirmed)), want{Event: "confirmed", To: co.Verifying, Data: verifies(true)}),
		in("the outcome is uncertain", with(alter(), sent, kept, answer(co.Uncertain)), want{Event: "uncertain", To: co.Verifying, Data: verifies(false)}),
		in("a rebalance is expected", with(alter(), sent, kept, answer(co.NotExecuted)), want{Event: "not-executed", To: co.Retrying, Data: new(co.Data{Send: 1})}),
		in("refused, and the connector does not exist", with(alter(), sent, kept, answer(co.Refused), is(co.Connector{Stopped: true})), want{Event: "connector-gone", To: co.AwaitingConnector}),
		in("refused, and the connector is not stopped", with(alter(), sent, kept, answer(co.Refused), is(running)), want{Event: "not-stopped", To: co.AwaitingStopped}),
		in("refused, and the connector is gone and not stopped", with(alter(), sent, kept, answer(co.Refused), is(absent)), want{Event: "connector-gone", To: co.AwaitingConnector}),
		in("refused, and the connector is stopped", with(alter(), sent, kept, answer(co.Refused)), want{Event: "refused", To: co.Failed}),
		in("refused, and Connect is silent", with(alter(), sent, kept, answer(co.Refused), silent()), want{WaitingFor: []string{"as-wanted", "pending"}}),
		in("refused, and Connect was read before", with(alter(), sent, kept, answer(co.Refused), func(f *co.Facts) { f.Connector = transitions.Known(running, now.Add(-time.Minute)) }), want{WaitingFor: []string{"as-wanted", "pending"}}),
		in("the offsets are as requested long after it was sent", with(alter(), sent, kept, answer(co.Pending), offsets(co.Wanted, true)), want{Event: "outcome-visible", To: co.Finishing, Data: new(co.Data{Send: 1})}),
		in("the offsets are as requested just after it was sent", with(alter(), record(co.Sent, justNow), kept, answer(co.Pending), offsets(co.Wanted, true)), want{WaitingFor: []string{"settled"}}),
		in("the connector is not stopped any more", with(alter(), accepted, kept, is(running)), failed),
		in("the connector was deleted", with(alter(), accepted, kept, is(co.Connector{Stopped: true})), failed),
		in("a worker was restarted", with(alter(), accepted, kept, is(stopped(loose))), failed),
		in("the request became invalid", with(invalid(), accepted, kept), failed),
		in("the request was removed", with(accepted, kept), failed),
		in("what was kept was deleted, or the offsets have changed since", with(alter(), accepted), failed),
		in("the offsets cannot be read", with(alter(), accepted, unread()), want{WaitingFor: []string{"as-wanted", "pending"}, Blocked: []string{"kept"}}),
		in("Connect is silent", with(alter(), accepted, kept, silent()), want{WaitingFor: []string{"as-wanted", "pending"}, Blocked: []string{"exists", "stopped", "accounted"}}),
	}
}

func verifying() []row {
	sent := record(co.Sent)
	in := func(name string, d co.Data, f co.Facts, w want) row {
		return row{Name: "verifying: " + name, State: co.Verifying, Data: new(d), Facts: f, Want: w}
	}
	none, confirmed := co.Data{}, co.Data{Confirmed: true}
	awaits := want{WaitingFor: []string{"as-wanted"}}
	return []row{
		in("nothing was sent", none, with(alter(), record(co.Accepted)), want{Event: "not-sent", To: co.Idle}),
		in("the end is recorded", none, with(alter(), record(co.Done), offsets(co.Wanted, true)), want{Event: "not-sent", To: co.Idle}),
		in("as requested", none, with(alter(), sent, offsets(co.Wanted, true)), want{Event: "verified", To: co.Finishing}),
		in("as requested, and confirmed", confirmed, with(alter(), record(co.Sent, justNow), offsets(co.Wanted, true)), want{Event: "verified", To: co.Finishing}),
		in("as requested at one reading", none, with(alter(), sent, offsets(co.Wanted, false)), awaits),
		in("as before at one reading", none, with(alter(), sent, offsets(co.Before, false)), awaits),
		in("other offsets at one reading", none, with(alter(), sent, offsets(co.Other, false)), awaits),
		in("the offsets cannot be read", none, with(alter(), sent, unread()), awaits),
		in("withdrawn, and the offsets cannot be read", none, with(sent, unread()), awaits),
		in("confirmed just now, and other offsets", confirmed, with(alter(), record(co.Sent, justNow), offsets(co.Other, true)), awaits),
		in("confirmed, and as before", confirmed, with(alter(), sent), want{Event: "overwritten", To: co.Mismatched}),
		in("confirmed, as before, and withdrawn", confirmed, with(sent), want{Event: "overwritten", To: co.Mismatched}),
		in("as before, and it may still take effect", none, with(alter(), record(co.Sent, justNow)), awaits),
		in("as before, withdrawn, and it may still take effect", none, with(record(co.Sent, justNow)), awaits),
		in("as before, sent once", none, with(alter(), sent), want{Event: "no-effect", To: co.Retrying}),
		in("as before, sent three times", none, with(alter(), record(co.Sent, thrice)), want{Event: "gave-up", To: co.Failed}),
		in("as before, and withdrawn", none, with(sent), want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true})}),
		in("as before, and the document cannot be read", none, with(unreadable(), sent), want{Event: "no-effect", To: co.Retrying}),
		in("as before, and invalid now", none, with(invalid(), sent), want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true})}),
		in("other offsets", none, with(alter(), sent, offsets(co.Other, true)), want{Event: "mismatch", To: co.Mismatched}),
		in("other offsets, and it may still take effect", none, with(alter(), record(co.Sent, justNow), offsets(co.Other, true)), awaits),

		{Name: "retrying: the pause has passed", State: co.Retrying, Facts: with(alter(), sent, rested), Want: want{Event: "retried", To: co.Applying, Data: new(co.Data{Send: 2})}},
		stay("retrying: the pause has not passed", co.Retrying, with(alter(), sent), "may-send"),
		goes("retrying: withdrawn", co.Retrying, with(sent, rested), "withdrawn", co.Verifying),

		{Name: "failed: withdrawn", State: co.Failed, Attempt: "alterd1", Facts: with(invalid(), sent, rested), Want: want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true})}},
		{Name: "failed: the document cannot be read", State: co.Failed, Attempt: "alterd1", Facts: with(unreadable(), sent), Want: want{WaitingFor: []string{"rested"}}},
		goes("failed: the pause has passed", co.Failed, with(alter(), sent, rested), "tried-again", co.AwaitingConnector),
		stay("failed: the pause has not passed", co.Failed, with(alter(), sent), "rested"),

		{Name: "mismatched: the connector is to run", State: co.Mismatched, Facts: with(invalid(), sent, offsets(co.Wanted, true)), Want: want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true, Held: co.HeldMismatched})}},
		{Name: "mismatched: what the annotations request is unclear", State: co.Mismatched, Attempt: "alterd1", Facts: with(unclear, sent, offsets(co.Other, true)), Want: want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true, Held: co.HeldMismatched})}},
		{Name: "mismatched: removed", State: co.Mismatched, Facts: with(sent, offsets(co.Other, true)), Want: want{Event: "withdrawn", To: co.Finishing, Data: new(co.Data{Ended: true})}},
		{Name: "mismatched: the document cannot be read", State: co.Mismatched, Attempt: "alterd1", Facts: with(unreadable(), sent, offsets(co.Other, true)), Want: want{WaitingFor: []string{"withdrawn"}}},
		stay("mismatched: still requested", co.Mismatched, with(alter(), sent, offsets(co.Other, true)), "withdrawn"),
		goes("mismatched: as requested now", co.Mismatched, with(alter(), sent, offsets(co.Wanted, true)), "verified", co.Finishing),
		stay("mismatched: the offsets cannot be read", co.Mismatched, with(alter(), sent, unread()), "as-wanted", "withdrawn"),
	}
}

func finishing() []row {
	finish, leave := []co.Effect{{Kind: co.Finish, ID: id}}, []co.Effect{{Kind: co.Finish, ID: id, Leave: true}}
	return []row{
		{Name: "finishing: the end is recorded and the annotations are removed", State: co.Finishing, Facts: with(shownAlter(), record(co.Sent)), Want: want{WaitingFor: []string{"closed"}, Effects: finish}},
		{Name: "finishing: it had no effect", State: co.Finishing, Data: new(co.Data{Ended: true}), Facts: with(shownAlter(), record(co.Sent)), Want: want{WaitingFor: []string{"closed"}, Effects: leave}},
		{Name: "finishing: what it did is not known", State: co.Finishing, Data: new(co.Data{Ended: true, Held: co.HeldMismatched}), Facts: with(invalid(), record(co.Sent)), Want: want{WaitingFor: []string{"closed"}, Effects: leave}},
		{Name: "finishing: another document was requested meanwhile", State: co.Finishing, Facts: with(asks(co.Request{Operation: co.Alter, Digest: "d2", Shown: true}), record(co.Sent)), Want: want{WaitingFor: []string{"closed"}, Effects: leave}},
		{Name: "finishing: the annotations are still there", State: co.Finishing, Facts: with(shownAlter(), record(co.Done)), Want: want{WaitingFor: []string{"not(lingering)"}, Effects: finish}},
		goes("finishing: the annotations are gone", co.Finishing, with(record(co.Done)), "finished", co.Idle),
		goes("finishing: other connectors are not done", co.Finishing, with(shownAlter(), others, record(co.Done)), "finished", co.Idle),
		goes("finishing: a tool set the request again", co.Finishing, with(alter(), record(co.Done)), "finished", co.Idle),
		by(goes("finishing: it ended without an effect", co.Finishing, with(shownAlter(), record(co.Ended)), "finished", co.Idle), co.Data{Ended: true}),

		{Name: "no persisted state: nothing is requested", Facts: with(), Want: want{Event: machines.EventInferred, To: co.Idle}},
		{Name: "no persisted state: a change was sent", Facts: with(alter(), record(co.Sent)), Want: want{Event: machines.EventInferred, To: co.Verifying, Data: new(co.Data{})}},
		{Name: "no persisted state: the same request was done long ago", Facts: with(alter(), record(co.Done, func(r *co.Record) { r.DoneAt = now.Add(-time.Hour) })), Want: want{Event: machines.EventInferred, To: co.Repeated}},
		{Name: "no persisted state: the same request is held", Facts: with(shownAlter(), record(co.Ended, held)), Want: want{Event: machines.EventInferred, To: co.Repeated}},
		{Name: "no persisted state: the same request was done, and removed since", Facts: with(alter(), record(co.Done, released)), Want: want{Event: machines.EventInferred, To: co.Idle}},
		{Name: "no persisted state: a list was requested again", Facts: with(list(), listRecord("w1"), func(f *co.Facts) { f.Record.Phase = co.Done }), Want: want{Event: machines.EventInferred, To: co.Idle}},
		{Name: "no persisted state: the annotations are to be removed", Facts: with(shownAlter(), record(co.Done)), Want: want{Event: machines.EventInferred, To: co.Idle}},
		{Name: "data of another release", State: co.Applying, Coded: map[string]string{"send": "x"}, Facts: with(alter(), record(co.Sent)), Want: want{Event: machines.EventInferred, To: co.Verifying}},
		{Name: "data without a number", State: co.Applying, Coded: map[string]string{"send": "0"}, Facts: with(alter(), record(co.Sent)), Want: want{Event: machines.EventInferred, To: co.Verifying}},
	}
}

func TestDefinitionTransitions(t *testing.T) {
	machine := compiled(t)
	rows := machinetest.TargetChanged(machine, with(alter()))
	for _, part := range [][]row{idle(), removing(), accepting(), listing(), stopping(), applying(), verifying(), finishing(), expiring()} {
		rows = append(rows, part...)
	}
	machinetest.Run(t, machine, rows)
}
