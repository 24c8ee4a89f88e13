package connectoroffsets_test

import (
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	co "github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// with returns facts with the changes: a stopped connector whose only worker is accounted for, with the offsets from before, read
// twice.
func with(changes ...func(f *co.Facts)) co.Facts {
	f := co.Facts{
		Now: now, Settle: 100 * time.Second, Attempt: &lifecyclev1.Attempt{ID: id}, Failure: transitions.Problemf(co.ReasonNotExecuted, "connect answered 409: rebalance"),
		Connector: transitions.Known(stopped(worker(func(w *co.Worker) { w.Quiet = true })), now),
		Offsets:   transitions.Known(co.Offsets{Document: "{}", Digest: "d9", Match: co.Before, Steady: true}, now),
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func worker(change func(w *co.Worker)) co.Worker {
	w := co.Worker{ID: "uid-0", Name: "connect-0"}
	change(&w)
	return w
}

func stopped(workers ...co.Worker) co.Connector {
	return co.Connector{Exists: true, Configured: true, Stopped: true, Workers: workers}
}

type change = func(f *co.Facts)

func asks(r co.Request) change { return func(f *co.Facts) { f.Request = &r } }

func alter() change { return asks(co.Request{Operation: co.Alter, Digest: "d1"}) }

func invalid() change {
	return asks(co.Request{Operation: co.Alter, Digest: "d1", Problem: problem})
}

func shownAlter() change { return asks(co.Request{Operation: co.Alter, Digest: "d1", Shown: true}) }

func list() change { return asks(co.Request{Operation: co.List}) }

// record is the record of the alter.
func record(phase co.Phase, changes ...func(r *co.Record)) change {
	return func(f *co.Facts) {
		f.Record = co.Record{ID: id, Operation: co.Alter, Digest: "d1", Phase: phase}
		if phase == co.Sent {
			f.Record.Sends, f.Record.SentAt = 1, now.Add(-time.Hour)
		}
		if phase == co.Done {
			f.Record.DoneAt = now.Add(-time.Minute)
		}
		for _, c := range changes {
			c(&f.Record)
		}
	}
}

func listRecord(written string) change {
	return func(f *co.Facts) {
		f.Record = co.Record{ID: id, Operation: co.List, Phase: co.Accepted, Listed: written}
	}
}

func is(c co.Connector) change {
	return func(f *co.Facts) { f.Connector = transitions.Known(c, now) }
}

func silent() change {
	return func(f *co.Facts) { f.Connector = transitions.Unreadable[co.Connector](errSilent) }
}

func offsets(match co.Match, steady bool) change {
	return func(f *co.Facts) {
		f.Offsets = transitions.Known(co.Offsets{Document: "{}", Digest: "d9", Match: match, Steady: steady}, now)
	}
}

func tooLarge() change {
	return func(f *co.Facts) {
		f.Offsets = transitions.Known(co.Offsets{Document: "{}", Digest: "d9", Match: co.Before, Steady: true, TooLarge: problem}, now)
	}
}

func unread() change {
	return func(f *co.Facts) { f.Offsets = transitions.Unreadable[co.Offsets](errSilent) }
}

func answer(s co.AnswerState) change {
	return func(f *co.Facts) { f.Answer = co.Answer{State: s, At: now.Add(-time.Second), Text: "connect answered"} }
}

// kept is that the offsets are those that are kept.
func kept(f *co.Facts) {
	if o, known := f.Offsets.Get(); known {
		o.Kept = true
		f.Offsets = transitions.Known(o, f.Offsets.At())
	}
}

func rested(f *co.Facts) { f.Rested = true }

func longAgo(r *co.Record) { r.DoneAt = now.Add(-time.Hour) }

func released(r *co.Record) { r.RemovedAt, r.Released = now.Add(-time.Hour), true }

func held(r *co.Record) { r.Held = co.HeldMismatched }

// removedAt is that the annotations were removed some time ago.
func removedAt(ago time.Duration) func(r *co.Record) {
	return func(r *co.Record) { r.RemovedAt = now.Add(-ago) }
}

func unclear(f *co.Facts) { f.Unclear = true }

// unreadable is that the document of the alter cannot be read now.
func unreadable() change {
	return asks(co.Request{Operation: co.Alter, Problem: problem, Unreadable: true})
}

func others(f *co.Facts) { f.OthersPending = true }

func justNow(r *co.Record) {
	r.SentAt = now.Add(-time.Second)
}

func thrice(r *co.Record) { r.Sends = 3 }
