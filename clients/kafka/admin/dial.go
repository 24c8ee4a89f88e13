package admin

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialer makes the connections of both libraries, and keeps everything that is done on
// them within the call that is under way.
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

// over tells whether the call that is under way has ended.
func (d *dialer) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.call != nil && d.call.Err() != nil
}

// interrupt lets everything that waits on a connection fail at once, if the call is still
// under way.
func (d *dialer) interrupt(call context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.call != call {
		return
	}
	for c := range d.conns {
		_ = c.Conn.SetDeadline(time.Unix(1, 0)) // fails only when it is closed already
	}
}

// deadline is when the call that is under way ends.
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

// Dial is how sarama dials. It adds TLS itself.
func (d *dialer) Dial(network, addr string) (net.Conn, error) {
	d.mu.Lock()
	call := d.call
	d.mu.Unlock()
	if call == nil {
		call = context.Background()
	}
	return d.DialContext(call, network, addr)
}

// DialContext dials within the context, the call and one attempt.
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

// DialTLS is how franz-go dials: with TLS when it is asked for. franz-go does not say to where it failed to.
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
		_ = conn.Close() // the handshake's error is what matters
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	return secure, nil
}

// boundConn is a connection whose deadlines never lie beyond the call under way.
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

// Close forgets the connection too.
func (b *boundConn) Close() error {
	b.dialer.mu.Lock()
	delete(b.dialer.conns, b)
	b.dialer.mu.Unlock()
	return b.Conn.Close()
}
