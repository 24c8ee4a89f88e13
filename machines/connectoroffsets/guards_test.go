package connectoroffsets

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

// TestGuardsNameTheWorkerInTheWay checks what users see of a worker that is waited for: its name, and why it may take long.
func TestGuardsNameTheWorkerInTheWay(t *testing.T) {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	doubt := transitions.Problemf("NodeNotReady", "its Node host-1 is not ready")
	of := func(w Worker) Facts {
		w.ID, w.Name = "uid-0", "connect-0"
		return Facts{Now: now, Connector: transitions.Known(Connector{Exists: true, Stopped: true, Workers: []Worker{w}}, now)}
	}
	read := func(o Offsets) Facts { return Facts{Now: now, Offsets: transitions.Known(o, now)} }
	const commits = "connect-0 may still commit old offsets: "
	for name, c := range map[string]struct {
		guard guard
		facts Facts
		want  transitions.Verdict
	}{
		"it has not answered":                          {accounted, of(Worker{}), transitions.Deny(commits + "it has not answered, or not for long enough")},
		"it answers rarely":                            {accounted, of(Worker{Sparse: true}), transitions.Deny(commits + "its answers are too far apart, since it is slow or too many connectors are changed at once: change the offsets of fewer connectors")},
		"time does not account for it":                 {accounted, of(Worker{Doubt: doubt}), transitions.Deny(commits + "its Node host-1 is not ready")},
		"it answers rarely, and is in doubt":           {accounted, of(Worker{Sparse: true, Doubt: doubt}), transitions.Deny(commits + "its Node host-1 is not ready")},
		"it is accounted for, although it is in doubt": {accounted, of(Worker{Ended: true, Doubt: doubt}), transitions.Allow()},
		"it is restarted":                              {answering, of(Worker{Silent: true}), transitions.Deny("connect-0 does not answer")},
		"it is restarted, and is in doubt":             {answering, of(Worker{Silent: true, Doubt: doubt}), transitions.Deny("connect-0 does not answer: its Node host-1 is not ready")},
		"it has not answered since the change":         {asWanted, read(Offsets{Match: Wanted, Unanswered: &Unanswered{Worker: "connect-0"}}), transitions.Deny("the worker connect-0 has not answered since the change")},
		"it has not, and is in doubt":                  {asWanted, read(Offsets{Match: Wanted, Unanswered: &Unanswered{Worker: "connect-0", Doubt: doubt}}), transitions.Deny("the worker connect-0 has not answered since the change: its Node host-1 is not ready")},
		"every worker has answered":                    {asWanted, read(Offsets{Match: Wanted, Steady: true}), transitions.Allow()},
		"it failed":                                    {rested, Facts{Failure: transitions.Problemf(ReasonRefused, "connect answered 400")}, transitions.Deny("connect answered 400")},
		"it failed, and why is not known":              {rested, Facts{}, transitions.Deny("")},
		"it failed, and has rested":                    {rested, Facts{Rested: true, Failure: transitions.Problemf(ReasonRefused, "connect answered 400")}, transitions.Allow()},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.guard.Evaluate(&c.facts, Data{Worker: "uid-0"})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWorkerInTheWayHasAReason checks the codes of what is in the way: the texts are for users only.
func TestWorkerInTheWayHasAReason(t *testing.T) {
	doubt := transitions.Problemf("NodeNotReady", "its Node host-1 is not ready")
	for want, w := range map[transitions.Reason]Worker{
		reasonUnanswered: {}, reasonSparse: {Sparse: true}, doubt.Reason: {Sparse: true, Doubt: doubt},
	} {
		if got := w.unaccounted().Reason; got != want {
			t.Errorf("%+v: %s, want %s", w, got, want)
		}
	}
}

// TestFailureOfAnAnswer checks which answers are failures.
func TestFailureOfAnAnswer(t *testing.T) {
	for state, want := range map[AnswerState]*transitions.Problem{
		NoAnswer: nil, Pending: nil, Confirmed: nil,
		Refused:     {Reason: ReasonRefused, Message: "connect answered"},
		NotExecuted: {Reason: ReasonNotExecuted, Message: "connect answered"},
		Uncertain:   {Reason: ReasonUncertain, Message: "connect answered"},
	} {
		if diff := cmp.Diff(want, Answer{State: state, Text: "connect answered"}.Failure()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
}
