package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Defaults of Options.
const (
	DefaultReadTimeout = 10 * time.Second
	// DefaultWriteTimeout exceeds the 90 s after which Connect gives up a request, so that Connect's answer is received.
	DefaultWriteTimeout = 100 * time.Second
	// DefaultMaxBytes is enough for the offsets of about 100,000 partitions.
	DefaultMaxBytes = 16 << 20
)

const (
	dialTimeout    = 5 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 64 << 10
)

// Options configure how to reach a worker.
type Options struct {
	// Address is the host and port of the Service or the worker. Required.
	Address string
	// Dial replaces dialling TCP, such as for a client outside the pod network. It must return when its context ends. Optional;
	// default: net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Transport replaces HTTP over connections, such as by workers in memory. Optional; default: none, and Dial is used.
	Transport http.RoundTripper
	// ReadTimeout and WriteTimeout bound one request with its answer. Default: DefaultReadTimeout and DefaultWriteTimeout.
	ReadTimeout, WriteTimeout time.Duration
	// MaxBytes is the maximum size of an answer. Default: DefaultMaxBytes.
	MaxBytes int64
}

func (o Options) withDefaults() (Options, error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return o, fmt.Errorf("reaching connect at %q: the address must be host:port: %w", o.Address, err)
	}
	if host == "" || port == "" {
		return o, fmt.Errorf("reaching connect at %q: the address must be host:port", o.Address)
	}
	if o.MaxBytes < 0 || o.ReadTimeout < 0 || o.WriteTimeout < 0 {
		return o, errors.New("reaching connect: a limit is negative")
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = DefaultReadTimeout
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return o, nil
}
