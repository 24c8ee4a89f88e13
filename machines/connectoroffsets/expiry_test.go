//test:norace
package connectoroffsets_test

import (
	"time"

	co "github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

func expired(r *co.Record) { r.Held = co.HeldExpired }

// expires is that the request was accepted an hour ago, and may wait for as long.
func expires(f *co.Facts) { f.Record.AcceptedAt, f.ExpireAfter = now.Add(-time.Hour), time.Hour }

// lapses is the row of a request that has waited for too long.
func lapses(name, state string, f co.Facts, d co.Data, waited co.Awaited) row {
	data := co.Data{Ended: true, Held: co.HeldExpired, Waited: waited}
	return row{Name: "expired: " + name, State: state, Data: new(d), Facts: f, Want: want{Event: "expired", To: co.Finishing, Data: &data}}
}

// ofAttempt is that the record is of this attempt.
func ofAttempt(f *co.Facts) { f.Record.Attempt = f.Attempt.ID }

func unasked(f *co.Facts) { f.Connector = transitions.Pending[co.Connector]() }

func expiring() []row {
	accepted := record(co.Accepted)
	later := func(f *co.Facts) { f.ExpireAfter = time.Hour + 1 }
	sent := func(r *co.Record) { r.Sends = 1 }
	refusedShown := co.Request{Operation: co.Alter, Digest: "d1", Shown: true, Problem: problem}
	leaves := []co.Effect{{Kind: co.Finish, ID: id}}
	ended := co.Data{Ended: true, Held: co.HeldExpired, Waited: "exists"}
	return []row{
		lapses("no connector", co.AwaitingConnector, with(alter(), accepted, expires, is(absent)), co.Data{}, ended.Waited),
		lapses("a list", co.AwaitingConnector, with(list(), listRecord(""), expires, is(undeclared)), co.Data{}, "configured"),
		lapses("Connect is silent", co.AwaitingConnector, with(alter(), accepted, expires, silent()), co.Data{}, "connect"),
		lapses("nothing hinders it any more", co.AwaitingConnector, with(alter(), accepted, expires), co.Data{}, ""),
		lapses("tasks are left", co.AwaitingStopped, with(alter(), accepted, expires, is(running)), co.Data{}, "stopped"),
		lapses("a worker is silent", co.AwaitingStopped, with(alter(), accepted, expires, is(stopped(mute))), co.Data{}, "accounted"),
		lapses("the worker is being restarted", co.RestartingWorker, with(alter(), accepted, expires, is(stopped(mute))), co.Data{Worker: "uid-0"}, "answering"),
		lapses("the offsets are not kept", co.SavingBefore, with(alter(), accepted, expires), co.Data{}, "kept"),
		lapses("the offsets do not fit", co.Failed, with(alter(), accepted, expires, tooLarge()), co.Data{}, "rested"),
		{Name: "expired: Connect has not been asked yet", State: co.AwaitingConnector, Facts: with(alter(), accepted, expires, unasked), Want: want{}},
		{Name: "expired: Connect has not been asked about the workers yet", State: co.AwaitingStopped, Facts: with(alter(), accepted, expires, unasked), Want: want{}},
		lapses("the connector is gone meanwhile", co.AwaitingStopped, with(alter(), accepted, expires, is(absent)), co.Data{}, "stopped"),
		lapses("the worker answers now", co.RestartingWorker, with(alter(), accepted, expires), co.Data{Worker: "uid-0"}, ""),
		lapses("the offsets before do not fit", co.SavingBefore, with(alter(), accepted, expires, tooLarge()), co.Data{}, "kept"),
		lapses("the ConfigMap of a list is not written", co.Listing, with(list(), listRecord("d9"), expires), co.Data{}, "listed"),
		lapses("the offsets of a list do not fit", co.Listing, with(list(), listRecord(""), expires, tooLarge()), co.Data{}, "listed"),
		lapses("a list can be carried out", co.AwaitingConnector, with(list(), listRecord(""), expires), co.Data{}, ""),
		goes("expired: it can be carried out, and was not recorded", co.Refusing, with(alter(), expires, func(f *co.Facts) { f.Record = co.Record{} }), "corrected", co.Idle),
		lapses("it cannot be carried out", co.Refusing, with(invalid(), accepted, expires, ofAttempt), co.Data{}, "valid"),
		lapses("it could not be carried out until now", co.Refusing, with(alter(), accepted, expires, ofAttempt), co.Data{}, ""),
		{Name: "expired: it cannot be carried out, and may wait yet", State: co.Refusing, Facts: with(invalid(), accepted, expires, ofAttempt, later), Want: want{WaitingFor: []string{"valid"}}},
		{Name: "expired: another request cannot be carried out, and may wait yet", State: co.Refusing, Facts: with(invalid(), record(co.Sent), expires), Want: want{WaitingFor: []string{"valid"}}},
		goes("expired: it cannot be carried out, and is not recorded", co.Refusing, with(invalid(), expires), "limited", co.Accepting),
		goes("expired: it cannot be carried out, and is recorded for an earlier attempt", co.Refusing, with(invalid(), accepted, expires), "limited", co.Accepting),
		goes("expired: it cannot be carried out, and was recorded", co.Accepting, with(asks(refusedShown), accepted, expires, ofAttempt), "accepted", co.AwaitingConnector),
		goes("expired: it can be carried out in time", co.Refusing, with(shownAlter(), accepted, expires, ofAttempt, later), "resumed", co.AwaitingConnector),
		goes("expired: it can be carried out, and its annotation does not show it", co.Refusing, with(alter(), accepted, expires, ofAttempt, later), "corrected", co.Idle),
		goes("expired: it lapsed, cannot be carried out, and others are pending", co.Refusing, with(alter(), record(co.Ended, expired)), "corrected", co.Idle),
		stay("expired: it lapsed, cannot be carried out, and others are pending, at rest", co.Idle, with(asks(refusedShown), record(co.Ended, expired), func(f *co.Facts) { f.OthersPending = true })),
		goes("expired: invalid as well, while it stops", co.AwaitingStopped, with(invalid(), accepted, expires), "invalid", co.Refusing),
		{Name: "expired: it failed, and is invalid as well", State: co.Failed, Facts: with(invalid(), accepted, expires), Want: want{Event: "withdrawn", To: co.Finishing, Data: &co.Data{Ended: true}}},
		goes("expired: invalid as well", co.AwaitingConnector, with(invalid(), accepted, expires), "invalid", co.Refusing),
		goes("expired: not for long enough", co.AwaitingConnector, with(alter(), accepted, expires, later), "change", co.AwaitingStopped),
		goes("expired: without a limit", co.AwaitingConnector, with(alter(), accepted, expires, func(f *co.Facts) { f.ExpireAfter = 0 }), "change", co.AwaitingStopped),
		goes("expired: Connect refused it before", co.AwaitingConnector, with(alter(), record(co.Accepted, sent), expires), "change", co.AwaitingStopped),
		goes("expired: it was sent", co.Failed, with(alter(), record(co.Sent), expires, rested), "tried-again", co.AwaitingConnector),

		{Name: "expired: that is recorded, and the annotations are removed", State: co.Finishing, Data: &ended, Facts: with(shownAlter(), accepted), Want: want{WaitingFor: []string{"closed"}, Effects: leaves}},
		{Name: "expired: the annotations are still there", State: co.Finishing, Data: &ended, Facts: with(shownAlter(), record(co.Ended, expired)), Want: want{WaitingFor: []string{"not(lingering)"}, Effects: leaves}},
		by(goes("expired: the annotations are gone", co.Finishing, with(record(co.Ended, expired)), "finished", co.Idle), ended),
		goes("expired: the annotations were left", co.Idle, with(shownAlter(), record(co.Ended, expired)), "annotations-left", co.Finishing),
		goes("expired: a tool sets it again", co.Idle, with(alter(), record(co.Ended, expired)), "repeated", co.Repeated),
		goes("expired: its annotations are gone", co.Idle, with(record(co.Ended, expired)), "removed", co.RecordingRemoval),
		stay("expired: they have been gone for a minute", co.Idle, with(record(co.Ended, expired, removedAt(time.Minute)))),
		goes("expired: they have been gone for five", co.Idle, with(record(co.Ended, expired, removedAt(5*time.Minute))), "removed", co.RecordingRemoval),
		goes("expired: it is set again after that", co.Idle, with(alter(), record(co.Ended, expired, released)), "requested", co.Accepting),
	}
}
