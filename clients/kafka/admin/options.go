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

// Defaults of Options. A lease is renewed within 10 s, and a call must end well before.
const (
	DefaultTimeout        = 6 * time.Second
	DefaultAttemptTimeout = 2 * time.Second
	DefaultClientID       = "detent"
)

// What brokers count clients by. The version is that of this package's conversation, not
// of a build, so that metrics do not split with every release.
const (
	softwareName    = "detent"
	softwareVersion = "1"
)

// Options say how to reach a cluster.
type Options struct {
	// Bootstrap are the addresses, as host:port, to find the cluster by. At least one.
	Bootstrap []string
	// Nodes returns the addresses of single nodes by id, as they are when it is called. They
	// are used for questions that are put to one node, which fail without them, and where no
	// other address leads to a broker that can be trusted. It must be safe for concurrent use.
	Nodes func() map[int32]kafka.NodeAddress
	// TLS is used for every connection when it is set. Without a ServerName the name of
	// the address that is dialled is verified.
	TLS *tls.Config
	// Dial replaces dialling TCP. It is given the address as the cluster advertises it,
	// so that a caller outside the pod network may map it. It must obey its context.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout bounds every call as a whole, waiting for another call included.
	Timeout time.Duration
	// AttemptTimeout bounds one attempt of a read, and every dial, so that one broker
	// that hangs leaves time to ask another.
	AttemptTimeout time.Duration
	// ClientID that brokers see in their logs and quotas.
	ClientID string
	// Clock paces how often a broker that catches up is asked. Default: the machine's.
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
