package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/detent-dev/detent/clients/kafka"
)

// errClosed is the cause of every error that a call returns after Close.
var errClosed = errors.New("the client is closed")

// Client reads and changes one cluster. It is safe for concurrent use; calls other than Member run one at a time. It keeps its
// connections open until Close and opens none outside a call.
type Client struct {
	opts Options
	conf *sarama.Config
	dial *dialer
	// turn holds one token. The call that has taken the token may use the fields below.
	turn chan struct{}

	// open holds the connections by address; reached is the address that last answered.
	open    map[string]*sarama.Broker
	reached string
	// addrs are the addresses of the brokers as the cluster last listed them.
	addrs map[int32]string
	// leaderEpoch is the highest epoch of a quorum leader that was read since the metadata log began; leaderEpochAt is when it was
	// last read.
	leaderEpoch   int32
	leaderEpochAt time.Time
	// franz is nil until the quorum is first read. franzAddrs are the addresses of its seeds; franzSeed is the index of the
	// seed that last answered.
	franz      *kgo.Client
	franzAddrs []string
	franzSeed  int

	// members counts the Member calls under way. They do not take the turn.
	members members

	// life is cancelled by Close, which also cancels the call under way.
	life    context.Context //nolint:containedctx // the life of the client, not of a call
	end     context.CancelCauseFunc
	closing sync.Once
}

var _ kafka.Client = (*Client)(nil)

// New returns a client for the cluster, or an error if an option is invalid. The client connects on its first call.
func New(options Options) (*Client, error) {
	opts, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		opts: opts, dial: newDialer(opts), turn: make(chan struct{}, 1),
		open: map[string]*sarama.Broker{}, addrs: map[int32]string{},
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.conf = c.saramaConfig()
	if err := c.conf.Validate(); err != nil {
		return nil, err
	}
	c.turn <- struct{}{}
	return c, nil
}

func (c *Client) saramaConfig() *sarama.Config {
	conf := sarama.NewConfig()
	conf.ClientID = c.opts.ClientID
	// Version is the newest protocol version to use; sarama negotiates an older one with an older broker.
	conf.Version = sarama.V4_0_0_0
	conf.Net.DialTimeout = c.opts.AttemptTimeout
	conf.Net.ReadTimeout = c.opts.AttemptTimeout
	conf.Net.WriteTimeout = c.opts.AttemptTimeout
	conf.Net.TLS.Enable = c.opts.TLS != nil
	conf.Net.TLS.Config = c.opts.TLS
	conf.Net.Proxy.Enable = true
	conf.Net.Proxy.Dialer = c.dial
	return conf
}

// Close cancels the call under way and closes every connection. It returns once no call and no goroutine of the client is
// running. It is idempotent.
func (c *Client) Close() {
	c.closing.Do(func() {
		c.end(errClosed)
		c.members.close()
		<-c.turn // the token is not returned, so every later call fails
		for addr := range c.open {
			c.drop(addr)
		}
		c.dropFranz()
	})
}

// take waits for the turn to use the client and returns the context of the call, whose deadline is Options.Timeout from now.
// The caller must call release. take fails with errClosed after Close, and with the cause of the context when it ends during
// the wait.
func (c *Client) take(ctx context.Context) (call context.Context, release func(), err error) {
	call, cancel := context.WithCancelCause(ctx)
	call, stopTimer := context.WithTimeout(call, c.opts.Timeout)
	unlink := context.AfterFunc(c.life, func() { cancel(errClosed) })
	done := func() {
		unlink()
		stopTimer()
		cancel(nil)
	}
	if c.life.Err() != nil {
		done()
		return nil, nil, errClosed
	}
	select {
	case <-call.Done():
		defer done()
		return nil, nil, context.Cause(call)
	case <-c.turn:
	}
	c.dial.begin(call)
	unwatch := context.AfterFunc(call, func() { c.dial.interrupt(call) })
	return call, func() {
		unwatch()
		c.dial.finish()
		done()
		c.turn <- struct{}{}
	}, nil
}

// read takes the turn and runs ask. It fails with *kafka.Refused or *kafka.Unreadable.
func read[T any](ctx context.Context, c *Client, what string, ask func(ctx context.Context) (T, error)) (T, error) {
	var none T
	call, release, err := c.take(ctx)
	if err != nil {
		return none, &kafka.Unreadable{What: what, Err: err}
	}
	defer release()
	v, err := ask(call)
	if err != nil {
		return none, kafka.ReadFailure(what, err)
	}
	return v, nil
}

// anyone runs ask against one broker after another until one answers or refuses. The order is: the broker that answered last,
// brokers with an open connection, the bootstrap addresses, all other known brokers. If all fail, the error joins their
// errors.
func (c *Client) anyone(ctx context.Context, ask func(b *sarama.Broker) error) error {
	var failures []error
	for _, addr := range c.candidates() {
		if ctx.Err() != nil {
			break
		}
		err := c.at(addr, ask)
		if err == nil || isAnswer(err) {
			c.reached = addr
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(append(failures, context.Cause(ctx))...)
}

func (c *Client) candidates() []string {
	var addrs []string
	add := func(addr string) {
		if addr != "" && !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	add(c.reached)
	for _, addr := range slices.Sorted(maps.Keys(c.open)) {
		add(addr)
	}
	for _, addr := range c.opts.Bootstrap {
		add(addr)
	}
	for _, addr := range slices.Sorted(maps.Values(c.addrs)) {
		add(addr)
	}
	if c.opts.Nodes != nil {
		nodes := c.opts.Nodes()
		for _, id := range slices.Sorted(maps.Keys(nodes)) {
			add(nodes[id].Broker)
		}
	}
	return addrs
}

// broker runs ask against the broker with the id. If its address is unknown or does not answer, broker lists the cluster and
// retries once with the address from there.
func (c *Client) broker(ctx context.Context, id int32, ask func(b *sarama.Broker) error) error {
	var last error
	for range 2 {
		if addr, ok := c.addrs[id]; ok {
			if last = c.at(addr, ask); last == nil || isAnswer(last) {
				return last
			}
		}
		if _, err := c.describeCluster(ctx, c.anyone); err != nil {
			return errors.Join(last, err)
		}
	}
	if last == nil {
		last = errors.New("broker " + strconv.Itoa(int(id)) + " is not listed by the cluster")
	}
	return last
}

// at runs ask against the broker at the address. A connection that was open before may have died since, so a request that
// fails on one is retried once on a new connection.
func (c *Client) at(addr string, ask func(b *sarama.Broker) error) error {
	for {
		b, reused, err := c.connect(addr)
		if err != nil {
			return err
		}
		err = answered(ask(b))
		if err == nil || isAnswer(err) {
			return err
		}
		c.drop(addr)
		if _, behind := errors.AsType[*kafka.Behind](err); behind || !reused || c.dial.over() {
			return err
		}
	}
}

func (c *Client) connect(addr string) (b *sarama.Broker, reused bool, err error) {
	if b, ok := c.open[addr]; ok {
		return b, true, nil
	}
	b, err = c.dialBroker(addr, c.conf)
	if err != nil {
		return nil, false, err
	}
	c.open[addr] = b
	return b, false, nil
}

// dialBroker opens a connection and waits until sarama has established it.
func (c *Client) dialBroker(addr string, conf *sarama.Config) (*sarama.Broker, error) {
	b := sarama.NewBroker(addr)
	if err := b.Open(conf); err != nil {
		return nil, err
	}
	if ok, err := b.Connected(); !ok {
		return nil, fmt.Errorf("connecting to %s: %w", addr, cmp.Or(err, sarama.ErrNotConnected))
	}
	return b, nil
}

func (c *Client) drop(addr string) {
	if b, ok := c.open[addr]; ok {
		_ = b.Close() // the connection is discarded either way
		delete(c.open, addr)
	}
}

// answered converts an error code that sarama returns as an error into *kafka.Refused.
func answered(err error) error {
	if code, ok := errors.AsType[sarama.KError](err); ok {
		return refused(int16(code), nil)
	}
	return err
}

// refused returns the error for an error code and its message, nil for code 0. The message is redacted.
func refused(code int16, message *string) error {
	if code == 0 {
		return nil
	}
	r := &kafka.Refused{Code: code, Name: kafka.CodeName(code)}
	if message != nil {
		r.Message = kafka.Redact(*message)
	}
	return r
}

// isAnswer reports whether the error is an answer by Kafka, which another broker would repeat.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*kafka.Refused](err)
	return ok
}
