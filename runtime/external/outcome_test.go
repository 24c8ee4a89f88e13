package external_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
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
		"a connection that one of several requests could not open": {
			&url.Error{Op: "Put", URL: "http://bank", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}},
			external.Answer{State: external.Unknown, Text: "the system does not answer: dial: connection refused"},
		},
		"a request that got no connection": {
			fmt.Errorf("changing: %w", &external.NeverSent{Err: &url.Error{Op: "Put", URL: "http://bank", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}}),
			external.Answer{State: external.Failed, Text: "the system does not answer: dial: connection refused"},
		},
		"a request whose URL has a secret": {
			fmt.Errorf("changing: %w", &url.Error{Op: "Put", URL: "http://bank/?token=secret", Err: context.DeadlineExceeded}),
			external.Answer{State: external.Unknown, Text: "changing: Put: context deadline exceeded"},
		},
		"a redirect whose URLs have secrets": {
			&url.Error{Op: "Put", URL: "http://bank/?token=secret", Err: &url.Error{Op: "Get", URL: "http://other/?token=secret", Err: io.EOF}},
			external.Answer{State: external.Unknown, Text: "Put: Get: EOF"},
		},
		"a time-out": {context.DeadlineExceeded, external.Answer{State: external.Unknown, Text: "context deadline exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, external.OutcomeOf(c.err)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// The service carries out a request of net/http, and the last error is that of a connection that could not be opened.
func TestOutcomeOfARequestThatWasExecutedIsUnknown(t *testing.T) {
	for name, end := range map[string]func(*httptest.Server, http.ResponseWriter){
		"it redirects to a host that is down": func(_ *httptest.Server, w http.ResponseWriter) {
			down := httptest.NewServer(nil)
			down.Close()
			w.Header().Set("Location", down.URL)
			w.WriteHeader(http.StatusSeeOther)
		},
		"it ends before it answers, and the request is repeated": func(server *httptest.Server, w http.ResponseWriter) {
			_ = server.Listener.Close()
			if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = connection.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var executed atomic.Int32
			server := httptest.NewUnstartedServer(nil)
			server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					executed.Add(1)
					end(server, w)
				}
			})
			server.Start()
			defer server.Close()
			send := func(method string) error {
				request, err := http.NewRequestWithContext(t.Context(), method, server.URL, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Idempotency-Key", "1")
				response, err := server.Client().Do(request)
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
				return err
			}
			if err := send(http.MethodGet); err != nil { // its connection is used again
				t.Fatal(err)
			}
			err := send(http.MethodPut)
			if failed, ok := errors.AsType[*net.OpError](err); !ok || failed.Op != "dial" || executed.Load() != 1 {
				t.Fatalf("executed %d times, error %v", executed.Load(), err)
			}
			if got := external.OutcomeOf(err); got.State != external.Unknown {
				t.Errorf("outcome %+v", got)
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
