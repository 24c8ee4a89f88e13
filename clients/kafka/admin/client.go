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

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/detent-dev/detent/clients/kafka"
)

// errClosed is the cause of every failure after Close.
var errClosed = errors.New("the client is closed")

// Client reads and changes one cluster. Its calls are safe for concurrent use and run
// one at a time. It keeps connections open until Close, and opens none by itself.
type Client struct {
	opts Options
	conf *sarama.Config
	dial *dialer
	// turn holds one token: who has it may use what is below.
	turn chan struct{}

	// open connections by address; reached holds the one that last answered.
	open    map[string]*sarama.Broker
	reached string
	// addrs of the brokers as the cluster last listed them.
	addrs map[int32]string
	// leaderEpoch is the newest epoch of a leader of the quorum that was read.
	leaderEpoch int32
	// franz is nil until the quorum is asked for; its seeds are at franzAddrs, and franzSeed is the index of the one that last
	// answered.
	franz      *kgo.Client
	franzAddrs []string
	franzSeed  int

	// members are the questions under way that are put to one node, which wait for no turn.
	members members

	// life ends with Close, and with it the call under way.
	life    context.Context //nolint:containedctx // the life of the client, not of a call
	end     context.CancelCauseFunc
	closing sync.Once
}

var _ kafka.Client = (*Client)(nil)

// New returns a client for the cluster. It connects when it is first asked something.
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
	// The newest protocol to speak; a broker that is older is spoken to in its own.
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

// Close ends a call that is under way, and closes every connection. It returns when
// nothing of the client runs any more.
func (c *Client) Close() {
	c.closing.Do(func() {
		c.end(errClosed)
		c.members.close()
		<-c.turn // never given back: every later call fails
		for addr := range c.open {
			c.drop(addr)
		}
		c.dropFranz()
	})
}

// take waits for the turn to use the client and returns the context of the call, which
// ends by Options.Timeout. release must be called.
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

// read runs a read on the connections of the client.
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

// anyone puts a question to brokers in turn until one answers: first the one that
// answered last, then those with an open connection, the bootstrap addresses, and all others that are known.
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

// broker puts a question to one broker, looking its address up as often as is needed.
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

// at puts a question to the broker at the address. A connection that was open before
// may have died since, so one that fails is tried once more on a new one.
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

// dialBroker opens a connection and has it greet the broker.
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
		_ = b.Close() // it is given up either way
		delete(c.open, addr)
	}
}

// answered turns an error code that sarama itself raises into the answer it stands for.
func answered(err error) error {
	if code, ok := errors.AsType[sarama.KError](err); ok {
		return refused(int16(code), nil)
	}
	return err
}

// refused is the answer behind an error code, nil for none.
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

// isAnswer tells whether the error is what Kafka said, so that another broker would say
// the same.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*kafka.Refused](err)
	return ok
}
