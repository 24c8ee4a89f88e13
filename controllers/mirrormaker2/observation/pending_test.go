package observation

import (
	"testing"

	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

func TestOthersPending(t *testing.T) {
	shown := request.Request{Request: connectoroffsets.Request{Shown: true}}
	done := connectoroffsets.Record{Phase: connectoroffsets.Done}
	lapsed := connectoroffsets.Record{Phase: connectoroffsets.Ended, Held: connectoroffsets.HeldExpired}
	problem := transitions.Problemf(request.ReasonReset, "an unknown connector")
	for name, tc := range map[string]struct {
		of      map[string]request.Request
		problem *transitions.Problem
		records map[string]connectoroffsets.Record
		want    bool
	}{
		"it alone":                                {of: map[string]request.Request{"a": shown}},
		"another one is done":                     {of: map[string]request.Request{"a": shown, "b": shown}, records: map[string]connectoroffsets.Record{"b": done}},
		"another one was done before":             {of: map[string]request.Request{"a": shown, "b": {}}, records: map[string]connectoroffsets.Record{"b": done}, want: true},
		"another one is open":                     {of: map[string]request.Request{"a": shown, "b": shown}, want: true},
		"done, beside an unknown one":             {of: map[string]request.Request{"a": shown}, problem: problem, records: map[string]connectoroffsets.Record{"a": done}, want: true},
		"lapsed, beside an unknown one":           {of: map[string]request.Request{"a": shown}, problem: problem, records: map[string]connectoroffsets.Record{"a": lapsed}},
		"lapsed, and only an unknown one is left": {problem: problem, records: map[string]connectoroffsets.Record{"a": lapsed}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &Snapshot{Requests: request.Requests{Of: tc.of, Problem: tc.problem}, Records: tc.records}
			if got := v.OthersPending("a"); got != tc.want {
				t.Errorf("pending on others: %t, want %t", got, tc.want)
			}
		})
	}
}
