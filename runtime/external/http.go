package external

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

// HTTP asks and commands an external system by HTTP. Its errors prove what OutcomeOf reads from them:
//
//   - *Refusal: the system answered with a code from 400 to 499.
//   - *NeverSent: the request got no connection. net/http repeats some requests on another connection, whose failure proves nothing.
//   - Any other error: the outcome is unknown. So is that of an answer that redirects elsewhere, which is not followed.
type HTTP struct {
	// URL before each path, such as https://bank.example.org/v1. Required.
	URL string
	// Client sends the requests. Required.
	Client *http.Client
	// Timeout of a request with its answer. Optional; default: 5 seconds.
	Timeout time.Duration
}

const (
	defaultHTTPTimeout = 5 * time.Second
	// mostBytes of an answer are read, and mostShown of the text of a refusal are shown.
	mostBytes, mostShown = 64 << 10, 200
)

// Get decodes the answer to a GET request, which is JSON of 64 KiB at most.
func (h HTTP) Get(ctx context.Context, path string, into any) error {
	text, err := h.send(ctx, http.MethodGet, path, "")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("decoding the answer of the service: %w", err)
	}
	return nil
}

// Send sends a request that changes something. It succeeds if the answer has a code from 200 to 299, and ignores its text.
func (h HTTP) Send(ctx context.Context, method, path, body string) error {
	_, err := h.send(ctx, method, path, body)
	return err
}

func (h HTTP) send(ctx context.Context, method, path, body string) ([]byte, error) {
	timeout := h.Timeout
	if timeout == 0 {
		timeout = defaultHTTPTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := http.NewRequestWithContext(ctx, method, h.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, &NeverSent{Err: err}
	}
	direct := *h.Client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := direct.Do(request)
	switch {
	case err != nil && !connected.Load():
		return nil, &NeverSent{Err: err}
	case err != nil:
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	switch code := response.StatusCode; {
	case code >= http.StatusBadRequest && code < http.StatusInternalServerError:
		return nil, &Refusal{Code: code, Name: http.StatusText(code), Text: strings.TrimSpace(string(text[:min(len(text), mostShown)]))}
	case code < http.StatusOK || code >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("the service answers with %s", response.Status)
	}
	return text, err
}
