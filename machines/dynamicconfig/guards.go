package dynamicconfig

import (
	"strings"
	"time"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, struct{}]

// shows is how long brokers take at most to report an altered value.
const shows = 15 * time.Second

// asDeclared says that nothing is to be altered. It waits for the answer of one broker at least: without any, nothing shows that a
// request has taken effect.
var asDeclared = guard{
	Name: "values-as-declared", Doc: "every broker that answers uses the declared values, and no dynamic value is left that is not needed",
	Expected: "every broker to report the declared values", Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		due, known := f.due()
		reported, _ := f.Settings.Get()
		switch {
		case !known:
			return f.Settings.Gap()
		case len(reported) == 0 && len(f.Brokers) > 0:
			return transitions.Verdict{Observed: "no broker is ready", Pending: true}
		}
		return transitions.If(due.none(), due.first())
	},
}

// recorded protects users' values: a value that is not in the record is never deleted unless it is declared.
var recorded = guard{
	Name: "recorded", Doc: "the record names every configuration that is to be set", Expected: "the record to name what is altered", Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		due, known := f.due()
		if !known {
			return f.Settings.Gap()
		}
		return transitions.If(f.covers(due), "the record does not name them yet")
	},
}

var surplus = guard{
	Name: "record-has-more", Doc: "the record names a configuration without a dynamic value", Expected: "a recorded configuration without a dynamic value",
	Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		if len(f.Recorded) == 0 {
			return transitions.Deny("nothing is recorded")
		}
		if _, known := f.Settings.Get(); !known {
			return f.Settings.Gap()
		}
		return transitions.If(len(f.left()) > 0, "each recorded configuration has a dynamic value")
	},
}

// quiet excludes a request that may still take effect: its value would not be recognized as Detent's any more.
var quiet = guard{
	Name: "no-request-in-flight", Doc: "no request may take effect any more, and the values were read after that", Expected: "earlier requests to have an effect or none",
	Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		if _, known := f.Settings.Get(); !known {
			return f.Settings.Gap()
		}
		return transitions.If(!f.Settings.At().Before(f.InFlight.Until), "a request may still take effect")
	},
}

// sound blocks alterations while the spec cannot be applied.
var sound = guard{
	Name: "declaration-sound", Doc: "the spec can be applied", Expected: "a spec that can be applied; kafka-version-change reports the error",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict { return f.Problem.Verdict() },
}

var unasked = guard{
	Name: "not-requested", Doc: "nothing was requested in this visit of the state", Expected: "no request",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		return transitions.If(f.Answer.Status == kafkaversion.NoAnswer, "requested")
	},
}

// answered excludes a request in flight, whose values may differ from those that are declared by now.
var answered = guard{
	Name: "request-answered", Doc: "no request of this visit is in flight", Expected: "Kafka's answer",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		return transitions.If(f.Answer.Status != kafkaversion.Asked, "Kafka has not answered yet")
	},
}

var refused = guard{
	Name: "alteration-refused", Doc: "Kafka refused a value", Expected: "a refusal",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		return transitions.If(f.Answer.Status == kafkaversion.Refused, "not refused")
	},
}

// ownOnly tells values that a user set on single brokers from declared ones: no process is started with them, so that Kafka's refusal
// to change them opposes no restart.
var ownOnly = guard{
	Name: "own-values-only", Doc: "nothing is to be altered but values of single brokers", Expected: "a request for single brokers", Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		due, known := f.due()
		if !known {
			return f.Settings.Gap()
		}
		return transitions.If(due.onlyOwn() != nil, "a value of all brokers is to be altered")
	},
}

// between is the time between two steps of the size of a thread pool. The brokers have reported the first one by then.
const between = 5 * time.Second

// stepped repeats the request with the next size of a thread pool. If the brokers report the previous one, the repetition is harmless.
var stepped = guard{
	Name: "step-taken", Doc: "Kafka confirmed the size of a thread pool, and another one is due", Expected: "a confirmed size of a thread pool", Needs: settings(),
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		due, known := f.due()
		switch {
		case f.Answer.Status != kafkaversion.Done || f.Now.Before(f.EnteredAt.Add(between)):
			return transitions.Deny("no size was confirmed, or one just now")
		case !known:
			return f.Settings.Gap()
		}
		return transitions.If(len(due.next) > 0, "no thread pool is being changed")
	},
}

// failed is also satisfied if Kafka confirmed the request and a broker does not show it in time.
var failed = guard{
	Name: "alteration-failed", Doc: "the request has no outcome, or the brokers do not show it in time", Expected: "a request without an effect",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		late := f.Answer.Status == kafkaversion.Done && !f.Now.Before(f.EnteredAt.Add(shows))
		return transitions.If(f.Answer.Status == kafkaversion.Unknown || late, "no answer yet, or one just now")
	},
}

// rested shows Kafka's words if it refused to change a broker's own value: it refuses again for as long as the value is there.
var rested = guard{
	Name: "rested", Doc: "the pause after a failed request has passed", Expected: "the pause to pass; the request is then repeated",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		saw := "the request failed just now"
		if words := f.Answer.Text; words != "" && (f.Answer.Status == kafkaversion.Refused || f.Answer.Status == kafkaversion.NoAnswer) {
			saw = RefusedBy + strings.TrimSuffix(words, ".") + OwnRemedy
		}
		return transitions.If(!f.Now.Before(f.EnteredAt.Add(f.Pause)), saw)
	},
}

// RefusedBy and Remedy surround Kafka's words in what a refusal shows, RefusedBy and OwnRemedy if it is the value of a single broker.
const (
	RefusedBy = "Kafka refused: "
	Remedy    = ": correct spec.kafka.config; until then the brokers keep their values, and no node is restarted or added"
	OwnRemedy = ": delete the value that is set on a single broker with kafka-configs.sh --alter --entity-type brokers --entity-name <id> --delete-config <name>"
)

var backedOff = guard{
	Name: "time-to-ask-again", Doc: "the back-off after a refusal has passed", Expected: "Kafka to accept the values; retried after a back-off",
	Evaluate: func(f *Facts, _ struct{}) transitions.Verdict {
		return transitions.If(!f.Now.Before(f.EnteredAt.Add(f.Pause)), RefusedBy+strings.TrimSuffix(f.Answer.Text, ".")+Remedy)
	},
}
