package connectoroffsets

import (
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Awaited is what a request that expired had waited for: the name of a guard, or one of those below.
type Awaited string

// What is awaited without a guard.
const (
	awaitedNothing Awaited = ""
	awaitedConnect Awaited = "connect"
)

// expired reports whether the recorded request has waited for too long. From the first write on it does not lapse: what it did must be seen.
func (f *Facts) expired() bool {
	r := &f.Record
	unsent := r.Phase == Accepted && r.Sends == 0 && !r.AcceptedAt.IsZero()
	return unsent && f.ExpireAfter > 0 && !f.Now.Before(r.AcceptedAt.Add(f.ExpireAfter))
}

// counted reports whether the record says since when the request of this attempt waits.
func (f *Facts) counted() bool {
	return f.pending() && f.Attempt != nil && f.Record.Attempt == f.Attempt.ID
}

// accepted reports whether the request is recorded, with the time of this attempt while nothing was sent.
func (f *Facts) accepted() bool {
	return f.counted() || f.pending() && (f.Record.Phase != Accepted || f.Attempt == nil)
}

// uncounted says that a request that cannot be carried out must be recorded, so that it lapses too.
var uncounted = is("limited", "the time of the request is limited, and its record does not say since when it waits", "a request whose time is limited", "it is recorded, or not limited", func(f *Facts) bool {
	return f.ExpireAfter > 0 && f.Request != nil && !f.counted() && !f.shown() && !f.repetition() && f.Record.Phase != Sent
})

// again says that the request that is recorded can be carried out, and goes on waiting.
var again = is("counted", "the request of this attempt is recorded, and its annotation shows that", "the record of the request", "it is not recorded, or not shown", func(f *Facts) bool {
	return f.counted() && f.Request.Shown
})

// expiringRefused returns a choice that ends a request that cannot be carried out, if the record is of its attempt.
func expiringRefused() *machines.Choice[Facts, Data] {
	choice := expiring(valid)
	pick := choice.Pick
	choice.Pick = func(f *Facts, d Data) (transitions.Verdict, Data) {
		if !f.counted() {
			return transitions.Deny("it is not recorded"), Data{}
		}
		return pick(f, d)
	}
	return choice
}

// expiring returns a choice that ends a request that has waited for too long, with the first of the guards that does not say yes. It awaits
// the first answer of Connect, and not that Connect answers.
func expiring(awaited ...guard) *machines.Choice[Facts, Data] {
	g := all(awaited...)
	return &machines.Choice[Facts, Data]{
		Guard: guard{Name: "expired", Doc: "nothing was sent, and the request has waited for longer than its annotation permits", Expected: "a request that has waited for too long", Needs: g.AllNeeds()},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			if !f.expired() {
				return transitions.Deny("it may wait"), Data{}
			}
			chosen := Data{Ended: true, Held: HeldExpired}
			for _, one := range awaited {
				switch v := one.Verdict(f, d); {
				case v.Answer == transitions.Yes:
				case v.Pending:
					return v, Data{}
				case v.Answer == transitions.Unknown:
					chosen.Waited = awaitedConnect
					return transitions.Allow(), chosen
				default:
					chosen.Waited = Awaited(one.Name)
					return transitions.Allow(), chosen
				}
			}
			return transitions.Allow(), chosen
		},
	}
}

// WaitedFor says what a request that lapsed had waited for.
func (r Record) WaitedFor() string {
	switch r.Waited {
	case awaitedNothing:
		return "it was about to be carried out"
	case awaitedConnect:
		return "Connect did not answer"
	case Awaited(valid.Name):
		return "it could not be carried out as it was"
	case Awaited(listed.Name):
		return "the ConfigMap was not written"
	case Awaited(exists.Name):
		return "the connector did not exist"
	case Awaited(configured.Name):
		return "the declared configuration of the connector was not applied"
	case Awaited(stopped.Name):
		return "the connector was not stopped, or had tasks"
	case Awaited(accounted.Name):
		return "a worker process might still have committed old offsets"
	case Awaited(answering.Name):
		return "a worker did not answer"
	case Awaited(kept.Name):
		return "the offsets from before were not kept"
	}
	return "an attempt had failed" // from Failed, or of another release
}
