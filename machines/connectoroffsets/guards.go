package connectoroffsets

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, Data]

const (
	// repeatWithin is how long annotations that the operator may have removed stay removed, until the same request is meant: a tool
	// sets them again earlier.
	repeatWithin = 5 * time.Minute
	// mostSends is how often a write is sent.
	mostSends = 3
)

// is returns a guard without needs.
func is(name, doc, expected, otherwise string, condition func(f *Facts) bool) guard {
	return guard{Name: name, Doc: doc, Expected: expected, Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		return transitions.If(condition(f), otherwise)
	}}
}

// digest returns what identifies the body of the request. A body that is missing or cannot be read counts as the recorded one: nothing
// shows that another change is requested.
func (f *Facts) digest() string {
	if f.Request.Digest == "" && f.Request.Operation == f.Record.Operation {
		return f.Record.Digest
	}
	return f.Request.Digest
}

// same reports whether the record is of the request.
func (f *Facts) same() bool {
	return f.Request != nil && f.Request.Operation == f.Record.Operation && f.digest() == f.Record.Digest
}

// closed reports whether the recorded request is done or ended.
func (f *Facts) closed() bool { return f.Record.Phase == Done || f.Record.Phase == Ended }

// pending reports whether the record is of the request, and that is open.
func (f *Facts) pending() bool { return f.same() && f.Record.Phase != "" && !f.closed() }

// shown reports whether the annotations are still those of a request that is done or has lapsed.
func (f *Facts) shown() bool {
	return f.same() && f.Record.Concluded() && f.Request.Shown && !f.Record.Released
}

// tracked reports whether the removal of the annotations of the closed request must be seen before it is carried out again. Offsets are
// listed as often as that is requested: to annotate again is how users see newer ones.
func (f *Facts) tracked() bool {
	r := &f.Record
	return !r.Released && (r.Phase == Done && r.Operation != List || r.Phase == Ended && r.Held != NotHeld)
}

// repetition reports whether a closed request is requested again, or still, and its removal was not seen. Annotations of a request that is
// done and that are shown are those that the operator removes.
func (f *Facts) repetition() bool { return f.same() && f.tracked() && !f.shown() }

// removed reports whether no annotation of a request is left.
func (f *Facts) removed() bool { return f.Request == nil && !f.Unclear }

// afterRemoval returns the record with what the removal of the annotations shows. The operator itself removes those of a request that is
// done or has lapsed, so that only a removal that lasts, or one by someone else (meant), shows that the same request is another one afterwards.
func (f *Facts) afterRemoval(meant bool) Record {
	r := f.Record
	if r.RemovedAt.IsZero() {
		r.RemovedAt = f.Now
	}
	lasts := f.removed() && !f.Now.Before(r.RemovedAt.Add(repeatWithin))
	r.Released = meant || lasts || r.Phase == Ended && !r.Expired()
	return r
}

// noted reports whether the record shows the removal.
func (f *Facts) noted(meant bool) bool { return !f.tracked() || f.afterRemoval(meant) == f.Record }

// withdrawn reports whether the recorded request is not requested any more, or cannot be carried out any more.
func (f *Facts) withdrawn() bool {
	return !f.same() || f.Request.Problem != nil && !f.Request.Unreadable
}

var (
	requested = is("requested", "the annotations request something of this connector", "a request", "no request", func(f *Facts) bool { return f.Request != nil })
	valid     = guard{
		Name: "valid", Doc: "the request can be carried out", Expected: "a request that can be carried out",
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			if f.Request == nil {
				return transitions.Allow()
			}
			return f.Request.Problem.Verdict()
		},
	}
	recorded  = is("recorded", "the request is recorded", "the record of the request", "it is not recorded", (*Facts).pending)
	announced = is("announced", "the request is recorded, and its annotation shows that", "the record of the request, and its annotation", "it is not recorded, or not shown", func(f *Facts) bool {
		return f.accepted() && f.Request.Shown
	})
	unfinished = is("unfinished", "a change was sent whose outcome is not recorded", "a change that was sent", "none was", func(f *Facts) bool { return f.Record.Phase == Sent })
	// unexecuted says that keepOffsets may take the present offsets for those from before the request.
	unexecuted = is("unexecuted", "the record says that no write of the request can have been executed", "the record that nothing was executed", "it says that a change was sent", func(f *Facts) bool { return f.Record.Phase != Sent })
	closed     = is("closed", "the request is recorded as done or ended", "the record of the end of the request", "it is not recorded", (*Facts).closed)
	lingering  = is("lingering", "the request is done or has lapsed on all its connectors, and its annotations are still there", "annotations that are to be removed", "there are none", func(f *Facts) bool {
		return f.shown() && !f.OthersPending
	})
	repeats = is("repeats", "the request equals the last one, whose annotations were not seen removed since", "the request to be removed, and set again if it is meant", "it is not a repetition", (*Facts).repetition)
	// unnoted says that the removal of the annotations of the closed request must be recorded.
	unnoted = is("unnoted", "the annotations of the last request are removed, and its record does not show that", "a removal to record", "there is none", func(f *Facts) bool {
		return f.removed() && !f.noted(false)
	})
	noted = guard{
		Name: "noted", Doc: "the record shows that the annotations were removed", Expected: "the record of the removal",
		Evaluate: func(f *Facts, d Data) transitions.Verdict {
			return transitions.If(f.noted(d.Meant), "it is not recorded")
		},
	}
	carriedOut = is("carried-out", "the request is done or has lapsed on this connector, and its annotations are still there", "a request that is done", "it is not done", (*Facts).shown)
	wanted     = is("wanted", "the recorded request is still requested and can be carried out", "the recorded request", "it was removed or changed", func(f *Facts) bool { return !f.withdrawn() })
	listing    = is("listing", "the request is a list", "a list", "it is a change", func(f *Facts) bool { return f.Record.Operation == List })
	listed     = is("listed", "the ConfigMap holds the offsets", "the ConfigMap with the offsets", "it does not hold them yet", func(f *Facts) bool { return f.Record.Listed != "" && f.Entry == f.Record.Listed })
	settled    = is("settled", "no earlier write can take effect any more", "Connect's time limit to pass", "an earlier write may still take effect", func(f *Facts) bool { return !f.Now.Before(f.Record.SentAt.Add(f.Settle)) })
	mayRepeat  = is("may-repeat", "the change was sent fewer than three times", "fewer than three attempts", "it was sent three times", func(f *Facts) bool { return f.Record.Sends < mostSends })
	rested     = guard{
		Name: "rested", Doc: "the pause after the failure has passed", Expected: "a pause after the failure",
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			if f.Rested || f.Failure == nil {
				return transitions.If(f.Rested, "")
			}
			return transitions.Deny(f.Failure.Message)
		},
	}
)

// connector returns a guard over the connector. It is unknown if Connect was read before the answer to a write.
func connector(name, doc, expected string, condition func(c *Connector, d Data) transitions.Verdict) guard {
	return guard{Name: name, Doc: doc, Expected: expected, Needs: []transitions.Need{NeedConnector}, Evaluate: func(f *Facts, d Data) transitions.Verdict {
		c, known := f.Connector.Get()
		switch {
		case !known:
			return f.Connector.Gap()
		case f.Connector.At().Before(f.Answer.At):
			return transitions.Verdict{Pending: true}
		}
		return condition(&c, d)
	}}
}

var (
	exists     = connector("exists", "the connector exists", "the connector to exist", func(c *Connector, _ Data) transitions.Verdict { return transitions.If(c.Exists, "it does not exist") })
	configured = connector("configured", "the connector has the declared configuration", "the declared configuration to be applied", func(c *Connector, _ Data) transitions.Verdict {
		return transitions.If(c.Configured, "it has another configuration")
	})
	stopped = connector("stopped", "Connect reports the connector as STOPPED without tasks", "the connector to be stopped, without tasks", func(c *Connector, _ Data) transitions.Verdict {
		return transitions.If(c.Stopped, "it is not stopped, or tasks are left")
	})
	accounted = connector("accounted", "no worker process can commit old offsets any more", "every worker process to have answered, to have ended, or to be fenced", func(c *Connector, _ Data) transitions.Verdict {
		if w := c.first(func(w Worker) bool { return !w.Accounted() }); w != nil {
			return transitions.Deny(because(w.Name+" may still commit old offsets", w.unaccounted()))
		}
		return transitions.Allow()
	})
	answering = connector("answering", "the worker that was silent answers, has ended, or is fenced", "the worker to answer", func(c *Connector, d Data) transitions.Verdict {
		w := c.worker(d.Worker)
		if w == nil || w.Accounted() || !w.Silent {
			return transitions.Allow()
		}
		return transitions.Deny(because(w.Name+" does not answer", w.Doubt))
	})
)

// Reasons for which a worker that nothing hinders may still commit old offsets.
const (
	reasonUnanswered transitions.Reason = "WorkerNotAnswered"
	reasonSparse     transitions.Reason = "AnswersTooFarApart"
)

// unaccounted returns why it is not known yet that the worker cannot commit old offsets any more.
func (w *Worker) unaccounted() *transitions.Problem {
	switch {
	case w.Doubt != nil:
		return w.Doubt
	case w.Sparse:
		return transitions.Problemf(reasonSparse, "its answers are too far apart, since it is slow or too many connectors are changed at once: change the offsets of fewer connectors")
	}
	return transitions.Problemf(reasonUnanswered, "it has not answered, or not for long enough")
}

// because adds a problem to a text, if there is one.
func because(text string, problem *transitions.Problem) string {
	if problem == nil {
		return text
	}
	return text + ": " + problem.Message
}

// silent selects a worker that must be restarted.
var silent = guard{Name: "worker-silent", Doc: "a worker that may commit old offsets has been silent for too long", Expected: "a worker that must be restarted", Needs: []transitions.Need{NeedConnector}}

func pickSilent(f *Facts, _ Data) (transitions.Verdict, Data) {
	c, known := f.Connector.Get()
	switch {
	case !known:
		return f.Connector.Gap(), Data{}
	case f.withdrawn():
		return transitions.Deny("the request was removed or changed"), Data{}
	}
	if w := c.first(func(w Worker) bool { return w.Silent && !w.Accounted() }); w != nil {
		return transitions.Allow(), Data{Worker: w.ID}
	}
	return transitions.Deny("every worker answers"), Data{}
}

// offsets returns a guard over the offsets.
func offsets(name, doc, expected string, condition func(o *Offsets) transitions.Verdict) guard {
	return guard{Name: name, Doc: doc, Expected: expected, Needs: []transitions.Need{NeedOffsets}, Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		o, known := f.Offsets.Get()
		if !known {
			return f.Offsets.Gap()
		}
		return condition(&o)
	}}
}

// readable is unknown while Connect does not answer with the offsets, so that an action that writes them is blocked, which is shown.
var readable = guard{
	Name: "offsets-read", Doc: "the connector exists, and Connect answers with its offsets", Expected: "the connector with its offsets",
	Needs: []transitions.Need{NeedConnector, NeedOffsets},
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		if verdict := exists.Evaluate(f, d); verdict.Answer != transitions.Yes {
			return verdict
		}
		if _, known := f.Offsets.Get(); !known {
			return f.Offsets.Gap()
		}
		return transitions.Allow()
	},
}

// reads returns a guard that says yes if two readings were equal and match.
func reads(name string, match Match, expected string) guard {
	return offsets(name, "two readings one flush interval apart show "+expected, expected+" at two readings", func(o *Offsets) transitions.Verdict {
		if u := o.Unanswered; u != nil {
			return transitions.Deny(because("the worker "+u.Worker+" has not answered since the change", u.Doubt))
		}
		return transitions.If(o.Steady && o.Match == match, "the offsets are others, or were read only once")
	})
}

var (
	// kept compares the documents: the connector may have run since its offsets were kept for a request that was not sent.
	kept = offsets("kept", "the present offsets are kept in the operator's ConfigMap", "the present offsets to be kept", func(o *Offsets) transitions.Verdict {
		return transitions.If(o.Kept, "they are not kept yet")
	})
	fits = offsets("fits", "the offsets fit into their ConfigMap, or are in it", "offsets that fit into a ConfigMap", func(o *Offsets) transitions.Verdict {
		if o.Kept {
			return transitions.Allow()
		}
		return o.TooLarge.Verdict()
	})
	asWanted = reads("as-wanted", Wanted, "the requested offsets")
	asBefore = reads("as-before", Before, "the offsets from before the request")
	asOther  = reads("as-other", Other, "other offsets than before and than requested")
)

// confirmed says whether Connect has confirmed the change.
var confirmed = guard{
	Name: "confirmed", Doc: "Connect has confirmed the change", Expected: "Connect's confirmation",
	Evaluate: func(_ *Facts, d Data) transitions.Verdict { return transitions.If(d.Confirmed, "it has not confirmed") },
}

// answered returns a guard over the answer to the write of this visit.
func answered(name, expected string, state AnswerState) guard {
	return guard{Name: name, Doc: "Connect's answer is " + expected, Expected: expected, Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		return transitions.If(f.Answer.State == state, f.Answer.Text)
	}}
}

// resent reports that the write of this visit was recorded as sent by a process that ended: it is not sent again.
func resent(f *Facts, d Data) bool {
	return f.Answer.State == NoAnswer && f.Record.Phase == Sent && f.Record.Sends >= d.Send
}

// removal leads to RecordingRemoval from a request that was recognized as a repetition: someone else than the operator removed it.
var removal = &machines.Choice[Facts, Data]{
	Guard: guard{Name: "removed", Doc: "the annotations of the request are removed", Expected: "the request to be removed, and set again if it is meant"},
	Pick: func(f *Facts, _ Data) (transitions.Verdict, Data) {
		return transitions.If(f.removed(), "annotations are there"), Data{Meant: true}
	},
}

// abandoning returns a choice that ends a request whose effect is not known. Unless its annotations are removed, it is held: the same
// request must not follow as soon as it can be carried out again.
func abandoning() *machines.Choice[Facts, Data] {
	choice := ending()
	pick := choice.Pick
	choice.Pick = func(f *Facts, d Data) (transitions.Verdict, Data) {
		verdict, chosen := pick(f, d)
		if !f.removed() {
			chosen.Held = HeldMismatched
		}
		return verdict, chosen
	}
	return choice
}

// ending returns a choice that ends the request, because it was withdrawn or became invalid.
func ending(also ...guard) *machines.Choice[Facts, Data] {
	g := all(also...)
	return &machines.Choice[Facts, Data]{
		Guard: guard{Name: "withdrawn", Doc: "the request was removed or changed, or cannot be carried out any more, and is without effect", Expected: "the request to be removed or changed", Needs: g.AllNeeds()},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			if !f.withdrawn() {
				return transitions.Deny("it is still requested"), Data{}
			}
			return g.Verdict(f, d), Data{Ended: true}
		},
	}
}

var refused = answered("refused", "a refusal", Refused)

func all(guards ...guard) guard { return transitions.All(guards...) }

func not(g guard, expected string) guard { return transitions.Not(g, expected) }
