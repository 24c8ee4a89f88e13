package external_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/runtime/external"
)

// answering returns a service that answers every request in this way.
func answering(t *testing.T, code int, body string) external.HTTP {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return external.HTTP{URL: server.URL, Client: server.Client()}
}

func TestHTTPSendProvesWhatItCan(t *testing.T) {
	down := httptest.NewServer(nil)
	down.Close()
	redirecting := httptest.NewServer(http.RedirectHandler(down.URL, http.StatusSeeOther))
	defer redirecting.Close()
	losing := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer losing.Close()
	for name, c := range map[string]struct {
		service external.HTTP
		want    external.Answer
	}{
		"accepted":                         {answering(t, http.StatusAccepted, "later"), external.Answer{}},
		"refused":                          {answering(t, http.StatusForbidden, "not yours\n"), external.Answer{State: external.Refused, Code: 403, Name: "Forbidden", Text: "not yours"}},
		"refused at length":                {answering(t, http.StatusConflict, strings.Repeat("x", 1000)), external.Answer{State: external.Refused, Code: 409, Name: "Conflict", Text: strings.Repeat("x", 200)}},
		"failed":                           {answering(t, http.StatusBadGateway, "x"), external.Answer{State: external.Unknown, Text: "the service answers with 502 Bad Gateway"}},
		"elsewhere, after it was executed": {external.HTTP{URL: redirecting.URL, Client: redirecting.Client()}, external.Answer{State: external.Unknown, Text: "the service answers with 303 See Other"}},
		"lost":                             {external.HTTP{URL: losing.URL, Client: losing.Client()}, external.Answer{State: external.Unknown, Text: "Put: EOF"}},
		"down":                             {external.HTTP{URL: down.URL, Client: &http.Client{}}, external.Answer{State: external.Failed, Text: "the system does not answer: dial: connect: connection refused"}},
		"an address that is none":          {external.HTTP{URL: "http://[", Client: &http.Client{}}, external.Answer{State: external.Failed, Text: "parse: missing ']' in host"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := external.Answer{}
			if err := c.service.Send(t.Context(), http.MethodPut, "/a", ""); err != nil {
				got = external.OutcomeOf(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTPGet(t *testing.T) {
	for name, c := range map[string]struct {
		body, want, err string
	}{
		"JSON":                 {body: `{"plan":"gold"}`, want: "gold"},
		"another text":         {body: "gold", err: "decoding the answer of the service"},
		"a text of a megabyte": {body: `{"plan":"` + strings.Repeat("x", 1<<20) + `"}`, err: "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct{ Plan string }
			err := answering(t, http.StatusOK, c.body).Get(t.Context(), "/a", &got)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got.Plan); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTTPTimeLimit(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	service := external.HTTP{URL: server.URL, Client: server.Client(), Timeout: time.Millisecond}
	if err := service.Get(context.WithoutCancel(t.Context()), "/a", nil); err == nil {
		t.Error("it waits for a service that does not answer")
	}
}
