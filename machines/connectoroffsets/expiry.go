package connectoroffsets

import (
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// What an expired request had waited for, if that is no guard.
const (
	waitedConnect = "connect"
	waitedNothing = ""
)

// expired reports whether the recorded request has waited for too long. From the first write on it does not lapse: what it did must be seen.
func (f *Facts) expired() bool {
	r := &f.Record
	unsent := r.Phase == Accepted && r.Sends == 0 && !r.AcceptedAt.IsZero()
	return unsent && f.ExpireAfter > 0 && !f.Now.Before(r.AcceptedAt.Add(f.ExpireAfter))
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
					chosen.Waited = waitedConnect
					return transitions.Allow(), chosen
				default:
					chosen.Waited = one.Name
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
	case waitedNothing:
		return "it was about to be carried out"
	case waitedConnect:
		return "Connect did not answer"
	case exists.Name:
		return "the connector did not exist"
	case configured.Name:
		return "the declared configuration of the connector was not applied"
	case stopped.Name:
		return "the connector was not stopped, or had tasks"
	case accounted.Name:
		return "a worker process might still have committed old offsets"
	case answering.Name:
		return "a worker did not answer"
	case kept.Name:
		return "the offsets from before were not kept"
	}
	return "an attempt had failed" // from Failed, or of another release
}
