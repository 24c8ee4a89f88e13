package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/kafka"
)

// Defaults of Options. The renew deadline of a leader election lease is 10 s, and a call must
// end well before it.
const (
	DefaultTimeout        = 6 * time.Second
	DefaultAttemptTimeout = 2 * time.Second
	DefaultClientID       = "detent"
)

// The name and version by which brokers count clients in metrics. The version is that of this
// package's protocol use, not of a build, so that metrics do not split with every release.
const (
	softwareName    = "detent"
	softwareVersion = "1"
)

// Options configure how to reach a cluster.
type Options struct {
	// Bootstrap are the addresses, as host:port, used to discover the cluster. Required: at
	// least one.
	Bootstrap []string
	// Nodes returns the current addresses of single nodes by id. Member needs them and fails
	// for a node that is not listed. Other calls also use the broker addresses when no other
	// address leads to a broker that is current. It must be safe for concurrent use. Optional;
	// default: none.
	Nodes func() map[int32]kafka.NodeAddress
	// TLS is used for every connection. Without a ServerName, the certificate must match the
	// host of the dialled address. Optional; default: plain TCP.
	TLS *tls.Config
	// Dial replaces dialling TCP. It is given the address as the cluster advertises it, so
	// that a client outside the pod network can map it. It must return when its context ends.
	// Optional; default: net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout bounds every call as a whole, including the wait for another call. Default:
	// DefaultTimeout.
	Timeout time.Duration
	// AttemptTimeout bounds one attempt of a read, and every dial, so that time remains to ask
	// another broker when one does not answer. Default: DefaultAttemptTimeout, at most
	// Timeout.
	AttemptTimeout time.Duration
	// ClientID is the client id that brokers log and apply quotas to. Default:
	// DefaultClientID.
	ClientID string
	// Clock measures how long to wait for a broker to catch up, and how long a deposed leader is refused. Default: the real clock.
	Clock clock.Clock
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Bootstrap) == 0 {
		return o, errors.New("reaching kafka: no bootstrap address is given")
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.AttemptTimeout <= 0 {
		o.AttemptTimeout = min(DefaultAttemptTimeout, o.Timeout)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.ClientID == "" {
		o.ClientID = DefaultClientID
	}
	return o, nil
}
