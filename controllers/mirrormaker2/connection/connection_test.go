package connection

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// refused is the error of a connection; its text differs each time, because it contains the port of this side.
func refused(port int) error {
	return &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Addr: &net.TCPAddr{Port: 8083}, Err: errors.New("connection reset by peer")}
}

func TestStable(t *testing.T) {
	own := errors.New("no answer within 8s")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a connection that ended": {&connect.Unreadable{What: "listing the connectors", Err: refused(40001)}, "listing the connectors: the worker does not answer: read: connection reset by peer"},
		"without what was asked":  {refused(40002), "the worker does not answer: read: connection reset by peer"},
		"any other error":         {own, "no answer within 8s"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, stable(tc.err).Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if stable(nil) != nil {
		t.Error("an answer became an error")
	}
}

func TestOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want external.Answer
	}{
		"a refusal":                {&connect.Refused{Code: 400, Message: "not stopped"}, external.Answer{State: external.Refused, Code: 400, Text: "connect answered 400: not stopped"}},
		"a rebalance":              {&connect.Refused{Code: 409}, external.Answer{State: external.Refused, Code: 409, Text: "connect answered 409"}},
		"a request that was lost":  {&connect.Unreadable{What: "stopping a->b", Err: refused(40003)}, external.Answer{State: external.Failed, Text: "the worker does not answer: read: connection reset by peer"}},
		"an answer that was lost":  {&connect.OutcomeUnknown{What: "stopping a->b", Err: refused(40004)}, external.Answer{State: external.Unknown, Text: "the worker does not answer: read: connection reset by peer"}},
		"an error of another kind": {context.DeadlineExceeded, external.Answer{State: external.Unknown, Text: "context deadline exceeded"}},
		"a failure inside Connect": {&connect.OutcomeUnknown{What: "stopping a->b", Err: &connect.Refused{Code: 500, Message: "Request timed out"}}, external.Answer{State: external.Unknown, Code: 500, Text: "connect answered 500: Request timed out"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome(tc.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// slow is a transport that answers after a time.
type slow struct {
	after time.Duration
	code  int
	body  string
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.after):
		return &http.Response{StatusCode: s.code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(s.body))}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// polledSlowly returns a System with scaled times, and an object whose Connect answers so.
func polledSlowly(answers slow) (*Polled, Endpoint) {
	over := func(Endpoint) (*Workers, func(), error) {
		c, err := rest.New(rest.Options{Address: "connect:8083", ReadTimeout: ReadTimeout, Transport: answers})
		return &Workers{Service: c}, func() {}, err
	}
	return NewPolled(over, func(types.NamespacedName) {}, clock.RealClock{}, 0.1), Endpoint{Name: types.NamespacedName{Namespace: "default", Name: "my-mm2"}, UID: "1234"}
}

// TestPolledWaitsForConnect checks that a command is not cut before the longest time that Connect takes, in an environment with scaled times
// either.
func TestPolledWaitsForConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, e := polledSlowly(slow{90 * time.Second, http.StatusBadRequest, `{"error_code":400,"message":"not stopped"}`})
		defer system.Close()
		id := machines.RequestID{UID: "1234", Lifecycle: "connector-offsets/a", Attempt: "x", State: "Applying", Sequence: 1}
		system.Write(t.Context(), e, id, Command{Verb: Reset, Connector: "a"})
		<-time.After(95 * time.Second)
		if got := system.Answer(e, id); got.State != external.Refused {
			t.Errorf("answer %+v, want Connect's refusal", got)
		}
	})
}

// TestPolledWaitsForBothReads checks that a question is not cut while its second read is within its limit.
func TestPolledWaitsForBothReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, e := polledSlowly(slow{ReadTimeout - time.Second, http.StatusOK, "{}"})
		defer system.Close()
		read := func() Reading {
			return system.Read(t.Context(), e, []Query{{Question: Question{About: AboutConnectors}, MaxAge: time.Minute}}, false, time.Now())[0]
		}
		read()
		<-time.After(2 * ReadTimeout)
		if got := read(); got.Err != nil || got.Pending() {
			t.Errorf("reading %+v, want an answer", got)
		}
	})
}
