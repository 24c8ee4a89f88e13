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

// slow is a transport that refuses after the longest time that Connect takes.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(90 * time.Second):
		body := `{"error_code":400,"message":"not stopped"}`
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// TestPolledWaitsForConnect checks that a command is not cut before Connect's own limit, in an environment with scaled times either.
func TestPolledWaitsForConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := func(Endpoint) (*Workers, func(), error) {
			c, err := rest.New(rest.Options{Address: "connect:8083", ReadTimeout: ReadTimeout, Transport: slow{}})
			return &Workers{Service: c}, func() {}, err
		}
		system := NewPolled(over, func(types.NamespacedName) {}, clock.RealClock{}, 0.1)
		defer system.Close()
		e := Endpoint{Name: types.NamespacedName{Namespace: "default", Name: "my-mm2"}, UID: "1234"}
		id := machines.RequestID{UID: "1234", Lifecycle: "connector-offsets/a", Attempt: "x", State: "Applying", Sequence: 1}
		system.Write(t.Context(), e, id, Command{Verb: Reset, Connector: "a"})
		<-time.After(95 * time.Second)
		if got := system.Answer(e, id); got.State != external.Refused {
			t.Errorf("answer %+v, want Connect's refusal", got)
		}
	})
}
