package admin

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialer makes the connections of sarama and franz-go. It limits every operation on them to the deadline of
// the call under way.
type dialer struct {
	opts Options

	mu    sync.Mutex
	call  context.Context //nolint:containedctx // the call under way, nil between calls
	conns map[*boundConn]struct{}
}

func newDialer(opts Options) *dialer {
	return &dialer{opts: opts, conns: map[*boundConn]struct{}{}}
}

func (d *dialer) begin(call context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.call = call
}

func (d *dialer) finish() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.call = nil
}

// over reports whether the call under way has ended.
func (d *dialer) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.call != nil && d.call.Err() != nil
}

// interrupt sets a deadline in the past on every connection, so that every blocked read and write fails at
// once. It does nothing if another call is under way.
func (d *dialer) interrupt(call context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.call != call {
		return
	}
	for c := range d.conns {
		_ = c.Conn.SetDeadline(time.Unix(1, 0)) // fails only on a closed connection
	}
}

// deadline returns the deadline of the call under way, a time in the past if the call has ended, and false
// between calls.
func (d *dialer) deadline() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.call == nil {
		return time.Time{}, false
	}
	if d.call.Err() != nil {
		return time.Unix(1, 0), true
	}
	return d.call.Deadline()
}

// Dial implements proxy.Dialer for sarama, which adds TLS to the connection.
func (d *dialer) Dial(network, addr string) (net.Conn, error) {
	d.mu.Lock()
	call := d.call
	d.mu.Unlock()
	if call == nil {
		call = context.Background()
	}
	return d.DialContext(call, network, addr)
}

// DialContext dials within the context and Options.AttemptTimeout.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.AttemptTimeout)
	defer cancel()
	conn, err := d.opts.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	b := &boundConn{Conn: conn, dialer: d}
	d.mu.Lock()
	d.conns[b] = struct{}{}
	d.mu.Unlock()
	return b, nil
}

// DialTLS dials for franz-go, with TLS if Options.TLS is set. It adds the address to the error because
// franz-go does not.
func (d *dialer) DialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	if d.opts.TLS == nil {
		return conn, nil
	}
	conf := d.opts.TLS.Clone()
	if conf.ServerName == "" {
		if conf.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			conf.ServerName = addr
		}
	}
	secure := tls.Client(conn, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // only the error of the handshake matters
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	return secure, nil
}

// boundConn is a connection whose deadlines are at most the deadline of the call under way.
type boundConn struct {
	net.Conn
	dialer *dialer
}

func (b *boundConn) bound(t time.Time) time.Time {
	if limit, ok := b.dialer.deadline(); ok && (t.IsZero() || limit.Before(t)) {
		return limit
	}
	return t
}

func (b *boundConn) SetDeadline(t time.Time) error      { return b.Conn.SetDeadline(b.bound(t)) }
func (b *boundConn) SetReadDeadline(t time.Time) error  { return b.Conn.SetReadDeadline(b.bound(t)) }
func (b *boundConn) SetWriteDeadline(t time.Time) error { return b.Conn.SetWriteDeadline(b.bound(t)) }

// Close also removes the connection from the dialer.
func (b *boundConn) Close() error {
	b.dialer.mu.Lock()
	delete(b.dialer.conns, b)
	b.dialer.mu.Unlock()
	return b.Conn.Close()
}
