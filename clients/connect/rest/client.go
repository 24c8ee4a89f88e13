package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/kafka"
)

// Client sends requests to one address. It is safe for concurrent use.
type Client struct {
	opts      Options
	http      *http.Client
	transport *http.Transport
}

var _ connect.Client = (*Client)(nil)

// New returns a client. It does not connect. The caller must call Close.
func New(opts Options) (*Client, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return opts.Dial(ctx, network, addr)
		},
		Proxy:                  nil, // not even that of the environment
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		IdleConnTimeout:        idleTimeout,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if opts.Transport != nil {
		client.Transport = opts.Transport
	}
	return &Client{opts: opts, http: client, transport: transport}, nil
}

// Close closes idle connections. Requests under way end by themselves.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// call is one request.
type call struct {
	// what is requested, for errors.
	what   string
	method string
	// path is escaped.
	path string
	body []byte
	// want are the status codes of success.
	want []int
	// into receives the answer. Optional; default: the answer is ignored.
	into any
}

// errNotJSON wraps the text that is no answer of Connect.
var errNotJSON = errors.New("the answer is not Connect's: is another program listening there?")

func (c *Client) read(ctx context.Context, request call) error {
	request.method, request.want = http.MethodGet, []int{http.StatusOK}
	if _, err := c.do(ctx, request, c.opts.ReadTimeout); err != nil {
		return connect.ReadFailure(request.what, err)
	}
	return nil
}

func (c *Client) write(ctx context.Context, request call) error {
	if sent, err := c.do(ctx, request, c.opts.WriteTimeout); err != nil {
		return connect.WriteFailure(request.what, err, sent)
	}
	return nil
}

// do sends the request once. sent is false if it certainly did not reach a worker.
func (c *Client) do(ctx context.Context, request call, timeout time.Duration) (sent bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	r, err := http.NewRequestWithContext(traced, request.method, "http://"+c.opts.Address+request.path, bytes.NewReader(request.body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	if len(request.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return connected.Load(), cause(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, c.opts.MaxBytes+1))
	switch {
	case err != nil:
		return true, cause(ctx, err)
	case int64(len(text)) > c.opts.MaxBytes:
		return true, fmt.Errorf("the answer has more than %d bytes", c.opts.MaxBytes)
	}
	return true, request.judge(response.StatusCode, text)
}

// cause returns why the context ended, or the error without the URL.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, found := errors.AsType[*url.Error](err); found {
		return u.Err
	}
	return err
}

// judge decodes an answer.
func (request *call) judge(code int, text []byte) error {
	for _, want := range request.want {
		if code != want {
			continue
		}
		if request.into == nil {
			return nil
		}
		if err := json.Unmarshal(text, request.into); err != nil {
			return fmt.Errorf("%w: %w", errNotJSON, err)
		}
		return nil
	}
	var problem struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(text, &problem); err != nil && code < http.StatusInternalServerError {
		return fmt.Errorf("%w: status %d", errNotJSON, code)
	}
	return &connect.Refused{Code: code, Message: shorten(kafka.Redact(problem.Message))}
}

// shorten bounds a message, which is shown in conditions and events. Connect says what is wrong at the beginning, or at the end
// after a configuration.
func shorten(message string) string {
	const head, tail = 500, 500
	if runes := []rune(message); len(runes) > head+tail {
		return string(runes[:head]) + " ... " + string(runes[len(runes)-tail:])
	}
	return message
}

func connectorPath(connector, below string) string {
	return "/connectors/" + url.PathEscape(connector) + below
}
