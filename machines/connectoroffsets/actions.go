package connectoroffsets

import (
	"fmt"
	"strconv"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// EffectKind is what an effect does.
type EffectKind string

// Effects.
const (
	// Show writes the annotation that shows the recorded request.
	Show EffectKind = "show"
	// Write writes the document of a list into the ConfigMap that the resource names.
	Write EffectKind = "write"
	// Keep writes the offsets from before a change into the operator's ConfigMap.
	Keep EffectKind = "keep"
	// Change sends the alter or the reset to Connect.
	Change EffectKind = "change"
	// Restart restarts a worker that does not answer.
	Restart EffectKind = "restart"
	// Finish removes the annotations of the request with the ID, if it is done on all its connectors. Annotations of another request
	// stay.
	Finish EffectKind = "finish"
)

// Effect is one effect. Fields that its kind does not use are empty.
type Effect struct {
	Kind EffectKind
	// ID of the request.
	ID string
	// Operation and Digest of a Change. The body must have the digest.
	Operation Operation
	Digest    string
	// Document of a Write or Keep.
	Document string
	// Worker of a Restart.
	Worker string
	// Leave is true if a Finish leaves the annotations: the request had no effect, another one was made meanwhile, or there are none.
	Leave bool
}

// Data is what transitions choose.
type Data struct {
	// Send is the number of the write that is to be sent.
	Send int
	// Confirmed is true if Connect has confirmed the last write.
	Confirmed bool
	// Worker is the process to restart.
	Worker string
	// Ended is true if the request ends without an effect, or with one that is not known.
	Ended bool
	// Held is why the same request does not follow, and Waited is what a request that expired had waited for.
	Held   Hold
	Waited Awaited
	// Meant is true if the annotations of a repetition were removed.
	Meant bool
}

func encode(d Data) map[string]string {
	m := map[string]string{}
	if d.Send > 0 {
		m["send"] = strconv.Itoa(d.Send)
	}
	if d.Confirmed {
		m["confirmed"] = "true"
	}
	if d.Worker != "" {
		m["worker"] = d.Worker
	}
	if d.Ended {
		m["ended"] = "true"
	}
	if d.Held != NotHeld {
		m["held"] = string(d.Held)
	}
	if d.Waited != awaitedNothing {
		m["waited"] = string(d.Waited)
	}
	if d.Meant {
		m["meant"] = "true"
	}
	return m
}

func decode(m map[string]string) (d Data, err error) {
	if text := m["send"]; text != "" {
		if d.Send, err = strconv.Atoi(text); err != nil || d.Send < 1 {
			return Data{}, fmt.Errorf("reading the number of a write: %q is none", text)
		}
	}
	d.Confirmed, d.Worker, d.Ended = m["confirmed"] == "true", m["worker"], m["ended"] == "true"
	d.Held, d.Waited, d.Meant = Hold(m["held"]), Awaited(m["waited"]), m["meant"] == "true"
	return d, nil
}

type action = machines.Action[Facts, Data, Effect]

// entry returns the record of the connector as an action writes it.
func (f *Facts) entry(r Record) []machines.RecordEntry {
	return []machines.RecordEntry{requests.Entry(f.Name, r)}
}

// acceptRequest records the request once for each attempt, and shows it. An id that is recorded for it already stays.
var acceptRequest = &action{
	Name: "accept-request", Doc: "records the request and shows its id in an annotation",
	Effects: func(f *Facts, _ Data) []Effect {
		switch {
		case f.Request == nil || f.Attempt == nil || f.accepted() && f.Request.Shown:
			return nil
		case f.pending():
			return []Effect{{Kind: Show, ID: f.Record.ID}}
		}
		return []Effect{{Kind: Show, ID: f.Attempt.ID}}
	},
	Records: func(f *Facts, _ Data) []machines.RecordEntry {
		if f.pending() {
			r := f.Record
			if r.Phase == Accepted && f.Attempt != nil && r.Attempt != f.Attempt.ID { // it was set again: it has not waited since the first time
				r.AcceptedAt, r.Attempt = f.Now, f.Attempt.ID
			}
			return f.entry(r)
		}
		return f.entry(Record{ID: f.Attempt.ID, Operation: f.Request.Operation, Digest: f.Request.Digest, Phase: Accepted, AcceptedAt: f.Now, Attempt: f.Attempt.ID})
	},
}

// writeList has a precondition so that it writes a live reading: an answer that was read earlier may be from before the request.
var writeList = &action{
	Name: "write-list", Doc: "writes the offsets into the ConfigMap that the resource names", Needs: []transitions.Need{NeedOffsets},
	Precondition: readable, OnPreconditionFailed: AwaitingConnector,
	Effects: func(f *Facts, _ Data) []Effect {
		o, known := f.Offsets.Get()
		if !known || o.TooLarge != nil || f.Record.Listed != "" && f.Entry == f.Record.Listed {
			return nil
		}
		return []Effect{{Kind: Write, ID: f.Record.ID, Document: o.Document}}
	},
	Records: func(f *Facts, _ Data) []machines.RecordEntry {
		r := f.Record
		if o, known := f.Offsets.Get(); known {
			r.Listed = o.Digest
		}
		return f.entry(r)
	},
}

// keepOffsets keeps the offsets again if they have changed since: until a write of the request may have been executed, the present ones
// are those from before it. Each way to the state from a write that was sent has shown that nothing was executed. The record says so again
// before anything is kept.
var keepOffsets = &action{
	Name: "keep-offsets", Doc: "keeps the present offsets in the operator's ConfigMap, and records that no write of the request was executed",
	Needs: []transitions.Need{NeedOffsets}, Precondition: all(readable, stopped, accounted), OnPreconditionFailed: AwaitingStopped,
	Effects: func(f *Facts, _ Data) []Effect {
		o, known := f.Offsets.Get()
		if !known || o.TooLarge != nil && !o.Kept || o.Kept && f.Record.Phase != Sent {
			return nil
		}
		return []Effect{{Kind: Keep, ID: f.Record.ID, Document: o.Document}}
	},
	Records: func(f *Facts, _ Data) []machines.RecordEntry {
		r := f.Record
		r.Phase = Accepted
		return f.entry(r)
	},
}

// sendChange sends the write that the transition into the state has numbered, once: the number is recorded before. If a process ended
// in between, the write is not sent again before the offsets show that it had no effect.
var sendChange = &action{
	Name: "send-change", Doc: "sends the change to Connect", ResolvedBy: NeedOffsets,
	Precondition: permitted, OnPreconditionFailed: Verifying,
	Effects: func(f *Facts, d Data) []Effect {
		if f.Answer.State != NoAnswer || f.Record.Sends >= d.Send {
			return nil
		}
		return []Effect{{Kind: Change, ID: f.Record.ID, Operation: f.Record.Operation, Digest: f.Record.Digest}}
	},
	Records: func(f *Facts, d Data) []machines.RecordEntry {
		r := f.Record
		r.Phase, r.Sends, r.SentAt = Sent, d.Send, f.Now
		return f.entry(r)
	},
}

var restartWorker = &action{
	Name: "restart-worker", Doc: "restarts the worker that does not answer",
	Precondition: all(wanted, not(answering, "a worker that does not answer")), OnPreconditionFailed: AwaitingStopped,
	Effects: func(_ *Facts, d Data) []Effect { return []Effect{{Kind: Restart, Worker: d.Worker}} },
}

// finishRequest records the end, and then removes the annotations.
var finishRequest = &action{
	Name: "finish-request", Doc: "records the request as done or ended, and removes its annotations once it is done on all its connectors",
	Effects: func(f *Facts, d Data) []Effect {
		if f.closed() && (f.OthersPending || !f.shown()) {
			return nil
		}
		return []Effect{{Kind: Finish, ID: f.Record.ID, Leave: d.Ended && d.Held != HeldExpired || !f.same()}}
	},
	Records: func(f *Facts, d Data) []machines.RecordEntry {
		r := f.Record
		if f.closed() {
			return f.entry(r)
		}
		r.Phase, r.DoneAt = Done, f.Now
		if d.Ended {
			r.Phase, r.Held, r.Waited = Ended, d.Held, d.Waited
		}
		return f.entry(r)
	},
}

// recordRemoval has an effect that changes nothing, because records are stored before an effect. It does not ask whether the annotations
// are there again: they were seen removed.
var recordRemoval = &action{
	Name: "record-removal", Doc: "records that the annotations of the last request were removed",
	Effects: func(f *Facts, d Data) []Effect {
		if f.noted(d.Meant) {
			return nil
		}
		return []Effect{{Kind: Finish, ID: f.Record.ID, Leave: true}}
	},
	Records: func(f *Facts, d Data) []machines.RecordEntry { return f.entry(f.afterRemoval(d.Meant)) },
}
