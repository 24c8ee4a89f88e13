package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// metadataTopic is the topic whose only partition is the metadata log.
const metadataTopic = "__cluster_metadata"

// Quorum implements kafka.Reader.
func (c *Client) Quorum(ctx context.Context) (kafka.Quorum, error) {
	return read(ctx, c, "describing the quorum", c.describeQuorum)
}

func (c *Client) describeQuorum(ctx context.Context) (kafka.Quorum, error) {
	var quorum kafka.Quorum
	err := c.franzRead(ctx, describeQuorumRequest(), func(resp kmsg.Response) error {
		answer, err := as[*kmsg.DescribeQuorumResponse](resp)
		if err != nil {
			return err
		}
		if quorum, err = quorumOf(answer); err != nil {
			return err
		}
		return c.notDeposed(quorum)
	})
	if err != nil {
		return kafka.Quorum{}, err
	}
	return quorum, nil
}

func describeQuorumRequest() *kmsg.DescribeQuorumRequest {
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = metadataTopic
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, topic)
	return req
}

// as converts a response to the type that belongs to its request. It fails for any other type.
func as[T kmsg.Response](resp kmsg.Response) (T, error) {
	answer, ok := resp.(T)
	if !ok {
		return answer, fmt.Errorf("the answer is a %T", resp)
	}
	return answer, nil
}

func quorumOf(resp *kmsg.DescribeQuorumResponse) (kafka.Quorum, error) {
	if err := refused(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return kafka.Quorum{}, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return kafka.Quorum{}, errors.New("the answer does not describe exactly one partition")
	}
	p := resp.Topics[0].Partitions[0]
	if err := refused(p.ErrorCode, p.ErrorMessage); err != nil {
		return kafka.Quorum{}, err
	}
	return kafka.Quorum{
		Leader: p.LeaderID, LeaderEpoch: p.LeaderEpoch, HighWatermark: p.HighWatermark,
		Voters: replicasOf(p.CurrentVoters), Observers: replicasOf(p.Observers),
	}, nil
}

func replicasOf(states []kmsg.DescribeQuorumResponseTopicPartitionReplicaState) []kafka.QuorumReplica {
	var replicas []kafka.QuorumReplica
	for _, s := range states {
		replicas = append(replicas, kafka.QuorumReplica{
			ID: s.ReplicaID, LogEndOffset: s.LogEndOffset,
			LastFetchMillis: s.LastFetchTimestamp, LastCaughtUpMillis: s.LastCaughtUpTimestamp,
		})
	}
	slices.SortFunc(replicas, func(a, b kafka.QuorumReplica) int { return int(a.ID) - int(b.ID) })
	return replicas
}

// newFranz returns a franz-go client without retries, which sends each request once to the seed it is given, connects only on
// demand and sends no client metrics to the cluster.
func (c *Client) newFranz(addrs []string) (*kgo.Client, error) {
	return kgo.NewClient(
		kgo.ClientID(c.opts.ClientID),
		kgo.SeedBrokers(addrs...),
		kgo.Dialer(c.dial.DialTLS),
		kgo.RequestTimeoutOverhead(max(c.opts.AttemptTimeout, minFranzTimeout)),
		kgo.RequestRetries(0),
		kgo.DisableClientMetrics(),
	)
}

// franzRead sends a request to the seeds in turn, starting with the seed that answered last, until accept takes an answer or
// Kafka refuses. A seed that fails is retried once, because its connection may have died since it was last used, unless
// dialling it failed or it reached a timeout.
func (c *Client) franzRead(ctx context.Context, req kmsg.Request, accept func(kmsg.Response) error) error {
	if c.franz == nil {
		addrs := c.candidates()
		franz, err := c.newFranz(addrs)
		if err != nil {
			return err
		}
		c.franz, c.franzAddrs, c.franzSeed = franz, addrs, 0
	}
	var failures []error
	seeds := c.franz.SeedBrokers()
	for i := range seeds {
		at := (c.franzSeed + i) % len(seeds)
		for range 2 {
			if ctx.Err() != nil {
				return errors.Join(append(failures, context.Cause(ctx))...)
			}
			resp, err := c.franzAttempt(ctx, seeds[at], req)
			if err == nil {
				err = accept(resp)
				if err == nil || isAnswer(err) {
					// This broker reaches the controllers, so later reads ask it first.
					c.franzSeed, c.reached = at, c.franzAddrs[at]
					return err
				}
				failures = append(failures, err)
				break
			}
			if isDial(err) {
				failures = append(failures, err)
				break
			}
			// A broker that is cut off from the controllers cannot forward the request.
			failures = append(failures, fmt.Errorf("no answer through %s: %w", c.franzAddrs[at], err))
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
		}
	}
	c.dropFranz() // the addresses of its seeds may be stale
	return errors.Join(failures...)
}

func (c *Client) franzAttempt(ctx context.Context, seed *kgo.Broker, req kmsg.Request) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.AttemptTimeout)
	defer cancel()
	return seed.Request(ctx, req)
}

func (c *Client) dropFranz() {
	if c.franz != nil {
		c.franz.Close()
		c.franz = nil
	}
}
