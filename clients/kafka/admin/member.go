package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// endpointControllers is the type of endpoint that a controller describes. Source: KIP-919.
const endpointControllers int8 = 2

// members counts the Member calls under way.
type members struct {
	mu     sync.Mutex
	closed bool
	asking sync.WaitGroup
}

// begin counts a call, or fails with errClosed after close. The caller must call asking.Done.
func (m *members) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	m.asking.Add(1)
	return nil
}

// close makes begin fail and returns once no call is under way.
func (m *members) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.asking.Wait()
}

// addressOf returns the address of the node from Options.Nodes. It fails if the node is not listed there.
func (c *Client) addressOf(id int32) (kafka.NodeAddress, error) {
	if c.opts.Nodes != nil {
		if at := c.opts.Nodes()[id]; at != (kafka.NodeAddress{}) {
			return at, nil
		}
	}
	return kafka.NodeAddress{}, fmt.Errorf("no address of node %d is known", id)
}

// Member implements kafka.Reader. It asks both roles at once, each on its own connection, within Options.AttemptTimeout. It
// does not wait for other calls of the client: asking several nodes that do not answer takes no longer than asking one.
func (c *Client) Member(ctx context.Context, id int32) (kafka.Member, error) {
	what := "asking node " + strconv.Itoa(int(id)) + " about itself"
	at, err := c.addressOf(id)
	if err == nil {
		err = c.members.begin()
	}
	if err != nil {
		return kafka.Member{}, &kafka.Unreadable{What: what, Err: err}
	}
	defer c.members.asking.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(errClosed) })()
	call, stop := context.WithTimeout(ctx, c.opts.AttemptTimeout)
	defer stop()
	m := kafka.Member{ID: id}
	var roles sync.WaitGroup
	if at.Broker != "" {
		roles.Go(func() { m.Broker = c.askBroker(call, id, at.Broker) })
	}
	if at.Controller != "" {
		roles.Go(func() { m.Controller = c.askController(call, at.Controller) })
	}
	roles.Wait()
	if err := context.Cause(ctx); err != nil {
		// The caller's context ended, which is no report about the node.
		return kafka.Member{}, &kafka.Unreadable{What: what, Err: err}
	}
	return m, nil
}

// askBroker reads the registrations that the broker knows and reports its own.
func (c *Client) askBroker(ctx context.Context, id int32, addr string) kafka.RoleReport {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = true
	answer, err := askAt[*kmsg.DescribeClusterResponse](ctx, c, addr, req)
	if err == nil {
		err = refused(answer.ErrorCode, answer.ErrorMessage)
	}
	if err != nil {
		return failedReport(err)
	}
	brokers := kafka.Brokers{FencingReported: answer.Version >= 2}
	for _, b := range answer.Brokers {
		if b.NodeID != id {
			continue
		}
		registration := kafka.Broker{ID: id}
		if brokers.FencingReported && b.IsFenced {
			registration.Fencing = kafka.Fenced
		}
		brokers.Brokers = []kafka.Broker{registration}
	}
	return kafka.BrokerReport(id, brokers)
}

// askController reads the leader that the controller knows. While metadata.version is below 3.7-IV0, a controller supports only
// DescribeQuorum for this, which only the leader answers.
func (c *Client) askController(ctx context.Context, addr string) kafka.RoleReport {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType = endpointControllers
	answer, err := askAt[*kmsg.DescribeClusterResponse](ctx, c, addr, req)
	if err == nil {
		err = refused(answer.ErrorCode, answer.ErrorMessage)
	}
	if r, ok := kafka.AsRefused(err); ok && r.Code == kafka.CodeUnsupportedVersion {
		return c.askLeader(ctx, addr)
	}
	if err != nil {
		return failedReport(err)
	}
	return kafka.ControllerReport(answer.ControllerID)
}

func (c *Client) askLeader(ctx context.Context, addr string) kafka.RoleReport {
	answer, err := askAt[*kmsg.DescribeQuorumResponse](ctx, c, addr, describeQuorumRequest())
	if err != nil {
		return failedReport(err)
	}
	quorum, err := quorumOf(answer)
	if err != nil {
		return failedReport(err)
	}
	return kafka.ControllerReport(quorum.Leader)
}

// failedReport is the report of a role that did not answer, or refused the request.
func failedReport(err error) kafka.RoleReport {
	if r, ok := kafka.AsRefused(err); ok {
		return kafka.UnclearReport(r.Error())
	}
	return kafka.SilentReport(err)
}

// askAt sends one request to the address, once, on its own connection.
func askAt[T kmsg.Response](ctx context.Context, c *Client, addr string, req kmsg.Request) (T, error) {
	var none T
	own := newDialer(c.opts) // a separate dialer, so that the end of another call does not interrupt it
	client, err := kgo.NewClient(
		kgo.ClientID(c.opts.ClientID),
		kgo.SeedBrokers(addr),
		kgo.Dialer(own.DialTLS),
		kgo.RequestTimeoutOverhead(max(c.opts.AttemptTimeout, minFranzTimeout)),
		kgo.RequestRetries(0),
		kgo.DisableClientMetrics(),
	)
	if err != nil {
		return none, err
	}
	defer client.Close()
	resp, err := client.SeedBrokers()[0].Request(ctx, req)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || err != nil && ctx.Err() != nil:
		return none, fmt.Errorf("no answer from %s within %s: %w", addr, c.opts.AttemptTimeout, err)
	case err != nil:
		return none, fmt.Errorf("asking %s: %w", addr, err)
	}
	return as[T](resp)
}
