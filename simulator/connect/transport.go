package connect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"

	client "github.com/detent-dev/detent/clients/connect"
)

// Transport answers HTTP requests in memory, as a worker of the cluster. It is not safe for concurrent use, as the cluster is not.
type Transport struct {
	Cluster *Cluster
	// Worker returns the worker that answers, and false if none has a process: the connection is refused. Required.
	Worker func() (worker int, ok bool)
}

// RoundTrip implements http.RoundTripper. A worker that is silent ends the request with the error of a time-out.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it was read
	}
	worker, ok := t.Worker()
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	// From here on the request may be executed.
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	answer := t.Cluster.Handle(worker, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Body: string(body)})
	switch answer.Outcome {
	case Closed:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}
	case Silent:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("no answer within the time limit")}
	case Answered:
	}
	return &http.Response{
		Status: http.StatusText(answer.Code), StatusCode: answer.Code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer.Body)), Request: r,
	}, nil
}

// Any returns the worker that a Service selects: the first that has a process.
func (c *Cluster) Any() (worker int, ok bool) {
	for i := range c.Workers {
		if c.Workers[i].Process != Dead {
			return i, true
		}
	}
	return 0, false
}

// One returns a worker by its number, and false unless it has a process.
func (c *Cluster) One(worker int) func() (int, bool) {
	return func() (int, bool) { return worker, worker < len(c.Workers) && c.Workers[worker].Process != Dead }
}

// Seed creates a connector that exists before the simulation begins.
func (c *Cluster) Seed(name string, config map[string]string, initial client.State) error {
	if initial == "" {
		initial = client.Running
	}
	if answer := c.store(name, maps.Clone(config), initial, http.StatusCreated); answer.Code >= http.StatusBadRequest {
		return fmt.Errorf("creating connector %s: %s", name, answer.Body)
	}
	return nil
}

// SeedOffsets stores offsets of a connector that was created with Seed.
func (c *Cluster) SeedOffsets(name string, offsets client.Offsets) error {
	k := c.find(name)
	if k == nil {
		return fmt.Errorf("storing offsets of connector %s: there is none of this name", name)
	}
	if reason := k.validate(offsets); reason != "" {
		return fmt.Errorf("storing offsets of connector %s: %s", name, reason)
	}
	maps.Copy(k.offsets, offsets)
	return nil
}
