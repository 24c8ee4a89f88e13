package kraftscaledown

import (
	"slices"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// confirmed is satisfied by Kafka's answer once the registrations show it, which Kafka before 4.0 does not. The answer that the
// broker was not registered is as good.
var confirmed = guard{
	Name: "unregistration-confirmed", Doc: "Kafka answered that the broker was unregistered and does not list it any more, or that it was not registered", Needs: registrations(),
	Expected: "Kafka's answer",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		brokers, known := f.Brokers.Get()
		_, found := brokers.Find(m.Node)
		switch {
		case f.NotRegistered:
			return transitions.Allow()
		case f.Answer.Status != kafkaversion.Done:
			return transitions.Deny("Kafka has not confirmed it")
		case !known:
			return f.Brokers.Gap()
		}
		return transitions.If(!found, f.name(m.Node)+" is still listed")
	},
}

var refused = guard{
	Name: "unregistration-refused", Doc: "Kafka refused to unregister the broker", Expected: "a refusal",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Answer.Status == kafkaversion.Refused && !f.NotRegistered, "not refused")
	},
}

// uncertain is satisfied if a request may take effect that no answer will report: its answer was lost, or the process that sent it
// ended.
var uncertain = guard{
	Name: "unregistration-uncertain", Doc: "the answer to a request to unregister was lost, or its sender ended", Expected: "a lost answer",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		lost := f.Answer.Status == kafkaversion.Unknown || f.Answer.Status == kafkaversion.NoAnswer && f.unsettled() && !f.InFlight.Sent
		return transitions.If(lost, "answered, in flight, or not requested")
	},
}

// unasked is satisfied before the request to unregister is sent.
var unasked = guard{
	Name: "not-requested", Doc: "no request to unregister was sent in this visit of the state", Expected: "no request in flight",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Answer.Status == kafkaversion.NoAnswer, "a request was sent")
	},
}

// settled makes the cancelling of a removal, and the reuse of an id, wait: a broker that is unregistered after it has started again
// hangs without leaving, until it is restarted.
var settled = guard{
	Name: "requests-settled", Doc: "no earlier request to unregister can take effect any more", Expected: "earlier requests to have had their effect",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(!f.unsettled(), "a request may take effect until "+f.InFlight.Until.UTC().Format("2006-01-02T15:04:05Z07:00"))
	},
}

// StillRegistered separates the name of a broker from the refusal in what UnregistrationRefused waits for.
const StillRegistered = " is still registered: "

// askAgain ends the back-off after a refusal. pickAgain evaluates it.
var askAgain = guard{
	Name: "time-to-ask-again", Doc: "the back-off after a refusal has passed", Expected: "Kafka to unregister the broker; retried after a back-off",
	Needs: []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedMoves},
}

// pickAgain chooses the broker after the refused one, so that a refusal holds up no other broker.
func pickAgain(f *Facts, m roll.Data) (transitions.Verdict, roll.Data) {
	if f.Now.Before(f.EnteredAt.Add(f.Pause)) {
		return transitions.Deny(f.name(m.Node) + StillRegistered + f.Answer.Text + beside(f.drainRefused())), m
	}
	ids, otherwise := f.gone()
	if len(ids) == 0 && otherwise.Answer == transitions.Unknown {
		return otherwise, m
	}
	if at := slices.Index(ids, m.Node); len(ids) > 0 {
		m.Node = ids[(at+1)%len(ids)]
	}
	return transitions.Allow(), m
}
