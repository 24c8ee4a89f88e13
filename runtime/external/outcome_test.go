package external_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/runtime/external"
)

func TestOutcomeOf(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want external.Answer
	}{
		"the system refuses":           {fmt.Errorf("changing: %w", &external.Refusal{Code: 409, Name: "Conflict", Text: "no such plan"}), external.Answer{State: external.Refused, Code: 409, Name: "Conflict", Text: "no such plan"}},
		"no connection":                {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, external.Answer{State: external.Failed, Text: "the system does not answer: dial: connection refused"}},
		"the connection is lost later": {&net.OpError{Op: "read", Source: &net.TCPAddr{Port: 40123}, Err: errors.New("connection reset")}, external.Answer{State: external.Unknown, Text: "the system does not answer: read: connection reset"}},
		"a time-out":                   {context.DeadlineExceeded, external.Answer{State: external.Unknown, Text: "context deadline exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, external.OutcomeOf(c.err)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFactOfAFailedConnectionHasNoAddresses(t *testing.T) {
	reading := external.Reading[int]{Err: &net.OpError{Op: "read", Source: &net.TCPAddr{Port: 40123}, Err: errors.New("connection reset")}}
	const want = "the system does not answer: read: connection reset"
	if got := external.Fact(&reading, &reading.Answer).Err().Error(); got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
}
