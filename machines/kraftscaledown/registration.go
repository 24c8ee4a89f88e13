package kraftscaledown

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// listed evaluates the registration of the selected broker.
func listed(name, doc, expected string, judge func(f *Facts, marked bool, b kafka.Broker, found bool) transitions.Verdict) guard {
	return guard{Name: name, Doc: doc, Expected: expected, Needs: registrations(), Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		brokers, known := f.Brokers.Get()
		if !known {
			return f.Brokers.Gap()
		}
		b, found := brokers.Find(m.Node)
		b.ID = m.Node
		return judge(f, brokers.FencingReported, b, found)
	}}
}

var (
	// notRegistered needs a Kafka that lists fenced brokers: before 4.0 an absent broker may be registered.
	notRegistered = listed("not-registered", "Kafka, which lists fenced brokers, does not list the selected broker", "the broker not to be registered",
		func(f *Facts, marked bool, b kafka.Broker, found bool) transitions.Verdict {
			return transitions.If(marked && !found, f.name(b.ID)+" may be registered")
		})
	fenced = listed("broker-fenced", "Kafka lists the selected broker as fenced", "Kafka to report the broker as fenced",
		func(f *Facts, _ bool, b kafka.Broker, found bool) transitions.Verdict {
			return transitions.If(found && b.Fencing == kafka.Fenced, registration(f, b, found))
		})
	// sessionEnded accepts what led here: a fenced broker, or before 4.0 one that is absent.
	sessionEnded = listed("session-ended", "Kafka lists the selected broker as fenced, or does not list fenced brokers and does not list it", "the session of the broker to have ended",
		func(f *Facts, marked bool, b kafka.Broker, found bool) transitions.Verdict {
			return transitions.If(found && b.Fencing == kafka.Fenced || !marked && !found, registration(f, b, found))
		})
	unlisted = listed("broker-unlisted", "Kafka does not list the selected broker", "Kafka not to list the broker",
		func(f *Facts, _ bool, b kafka.Broker, found bool) transitions.Verdict {
			return transitions.If(!found, f.name(b.ID)+" is registered again")
		})
	absent = listed("broker-absent", "Kafka, which does not list fenced brokers, does not list the selected broker", "Kafka not to list the broker",
		func(f *Facts, marked bool, b kafka.Broker, found bool) transitions.Verdict {
			return transitions.If(!marked && !found, registration(f, b, found))
		})
	// absentForSession is satisfied by an answer that is one session timeout younger than the answer that led here.
	absentForSession = listed("absent-for-a-session", "Kafka still does not list the selected broker after a session timeout", "Kafka not to list the broker for a session timeout",
		func(f *Facts, marked bool, b kafka.Broker, found bool) transitions.Verdict {
			until := f.EnteredAt.Add(f.SessionTimeout)
			switch {
			case marked || found:
				return transitions.Deny(registration(f, b, found))
			case f.Brokers.At().Before(until):
				return transitions.Deny("the session of " + f.name(b.ID) + " may not have ended yet")
			}
			return transitions.Allow()
		})
)

// registration describes what Kafka reports of the broker.
func registration(f *Facts, b kafka.Broker, found bool) string {
	switch {
	case !found:
		return fmt.Sprintf("Kafka does not list %s", f.name(b.ID))
	case b.Fencing == kafka.Fenced:
		return fmt.Sprintf("Kafka reports %s as fenced", f.name(b.ID))
	default:
		return fmt.Sprintf("Kafka reports broker %d as alive, and no pod of this cluster runs it", b.ID)
	}
}

// alive reports whether Kafka lists the broker and does not report it as fenced.
func (f *Facts) alive(id int32) bool {
	brokers, _ := f.Brokers.Get()
	b, found := brokers.Find(id)
	return found && b.Fencing != kafka.Fenced
}
