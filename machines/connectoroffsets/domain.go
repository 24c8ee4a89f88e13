package connectoroffsets

import (
	"errors"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

var errDomainSilent = errors.New("connection refused")

// Domain returns the domain over which the machine is verified.
func Domain() domain.Domain[Facts, Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	return domain.Domain[Facts, Data]{
		Base: func() Facts {
			return Facts{
				Now: now, Settle: 100 * time.Second, Attempt: &lifecyclev1.Attempt{ID: "5f2c91a0"},
				Connector: transitions.Known(Connector{Exists: true, Configured: true, Stopped: true, Workers: domainWorker(Worker{Quiet: true})}, now),
				Offsets:   transitions.Known(Offsets{Match: Before, Steady: true}, now),
			}
		},
		Dimensions: dimensions(now),
		Data: func(state string) []Data {
			switch state {
			case Applying:
				return []Data{{Send: 1}, {Send: 2}}
			case Verifying:
				return []Data{{}, {Confirmed: true}}
			case RestartingWorker:
				return []Data{{Worker: "worker-0"}}
			case Finishing:
				return []Data{{}, {Ended: true}, {Ended: true, Held: HeldMismatched}, {Ended: true, Held: HeldExpired, Waited: "exists"}}
			case RecordingRemoval:
				return []Data{{}, {Meant: true}}
			default:
				return []Data{{}}
			}
		},
		Enter: func(f *Facts, entry *lifecyclev1.Lifecycle) {
			f.Answer, f.Rested, f.Attempt = Answer{}, false, entry.Attempt
		},
	}
}

func domainWorker(w Worker) []Worker {
	w.ID, w.Name = "worker-0", "connect-0"
	return []Worker{w}
}

func domainKept(f *Facts) {
	if o, known := f.Offsets.Get(); known {
		o.Kept = true
		f.Offsets = transitions.Known(o, f.Offsets.At())
	}
}

func dimensions(now time.Time) []domain.Dimension[Facts] {
	type value = domain.Value[Facts]
	set := func(name string, set func(f *Facts)) value { return value{Name: name, Set: set} }
	request := func(name string, r *Request) value { return set(name, func(f *Facts) { f.Request = r }) }
	record := func(name string, r Record) value {
		r.ID, r.Operation, r.Digest = "5f2c91a0", Alter, "d1"
		return set(name, func(f *Facts) { f.Record = r })
	}
	connector := func(name string, c Connector) value {
		return set(name, func(f *Facts) { f.Connector = transitions.Known(c, now) })
	}
	offsets := func(name string, o Offsets) value {
		return set(name, func(f *Facts) { f.Offsets = transitions.Known(o, now) })
	}
	answers := []value{{}}
	for _, s := range []AnswerState{Pending, Confirmed, Refused, NotExecuted, Uncertain} {
		answers = append(answers, set("answer "+string(s), func(f *Facts) { f.Answer = Answer{State: s, At: now} }))
	}
	return []domain.Dimension[Facts]{
		domain.Of(
			value{}, request("list requested", &Request{Operation: List}), request("alter requested", &Request{Operation: Alter, Digest: "d1"}), request("another alter requested", &Request{Operation: Alter, Digest: "d2"}),
			request("invalid alter requested", &Request{Operation: Alter, Digest: "d1", Problem: transitions.Problemf("AlterOffsets", "the connector is not stopped")}),
			request("alter shown", &Request{Operation: Alter, Digest: "d1", Shown: true}),
			request("alter unreadable", &Request{Operation: Alter, Unreadable: true, Problem: transitions.Problemf("AlterOffsets", "the ConfigMap cannot be read")}),
		),
		domain.Of(
			value{}, record("alter accepted", Record{Phase: Accepted, Attempt: "5f2c91a0"}), record("alter sent", Record{Phase: Sent, Sends: 1, SentAt: now.Add(-time.Hour)}), record("alter sent just now", Record{Phase: Sent, Sends: 1, SentAt: now}),
			record("alter sent three times", Record{Phase: Sent, Sends: 3, SentAt: now.Add(-time.Hour)}), record("alter done", Record{Phase: Done, Sends: 1, DoneAt: now}), record("alter ended", Record{Phase: Ended}),
			record("alter held", Record{Phase: Ended, Sends: 1, Held: HeldMismatched}),
			set("alter expiring", func(f *Facts) {
				f.Record = Record{ID: "5f2c91a0", Operation: Alter, Digest: "d1", Phase: Accepted, AcceptedAt: now.Add(-time.Hour), Attempt: "5f2c91a0"}
				f.ExpireAfter = time.Hour
			}),
			set("limited", func(f *Facts) { f.ExpireAfter = time.Hour }),
			record("alter expired", Record{Phase: Ended, Held: HeldExpired}),
			record("alter released", Record{Phase: Done, Sends: 1, RemovedAt: now.Add(-time.Hour), Released: true}),
			set("list accepted", func(f *Facts) { f.Record = Record{ID: "5f2c91a0", Operation: List, Phase: Accepted} }),
			set("list written", func(f *Facts) {
				f.Record, f.Entry = Record{ID: "5f2c91a0", Operation: List, Phase: Accepted, Listed: "d9"}, "d9"
			}),
		),
		domain.Of(
			value{}, connector("no connector", Connector{}), connector("running", Connector{Exists: true, Configured: true}),
			connector("a worker not accounted for", Connector{Exists: true, Configured: true, Stopped: true, Workers: domainWorker(Worker{})}),
			connector("a silent worker", Connector{Exists: true, Configured: true, Stopped: true, Workers: domainWorker(Worker{Silent: true, Doubt: transitions.Problemf("NodeNotReady", "its Node is not ready")})}),
			set("Connect silent", func(f *Facts) { f.Connector = transitions.Unreadable[Connector](errDomainSilent) }),
		),
		domain.Of(
			value{}, offsets("as wanted", Offsets{Match: Wanted, Steady: true}), offsets("other offsets", Offsets{Steady: true}),
			offsets("too large", Offsets{Match: Before, Steady: true, TooLarge: transitions.Problemf("ListOffsets", "they have 2 MiB")}),
			set("offsets unreadable", func(f *Facts) { f.Offsets = transitions.Unreadable[Offsets](errDomainSilent) }),
		),
		domain.Of(answers...),
		domain.Of(value{}, set("kept", domainKept), set("kept and rested", func(f *Facts) { f.Rested = true; domainKept(f) })),
	}
}
