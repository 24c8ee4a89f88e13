package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/detent-dev/detent/clients/kafka"
)

const (
	// applyPatience is the timeout for a broker to apply what the quorum has committed. Up to 4.0 a broker learns of a commit
	// with the next record or the next fetch, half a second later.
	applyPatience = time.Second
	// applyPoll is the interval at which the broker is polled within applyPatience.
	applyPoll = 50 * time.Millisecond
	// deposedFor is how long a leader is refused after one of a higher epoch was read. A majority of the voters cannot have fetched
	// from a deposed leader later than the fetch timeout after that (kafka.DefaultQuorumFetchTimeout); the rest allows for a slow
	// controller and for a longer timeout in its configuration.
	deposedFor = 30 * time.Second
)

// current runs ask against one broker after another until one answers that has applied every record of the metadata log which
// the quorum had committed when the call began. A broker that is cut off from the controllers still answers, with stale
// partitions and registrations; current skips it. If no other broker answers, the error contains *kafka.Behind with its
// address.
func (c *Client) current(ctx context.Context, ask func(b *sarama.Broker) error) error {
	quorum, err := c.describeQuorum(ctx)
	if err == nil {
		err = quorum.Confirmed()
	}
	if err != nil {
		return err
	}
	return c.anyone(ctx, func(b *sarama.Broker) error {
		if err := c.awaitApplied(ctx, b, quorum); err != nil {
			return err
		}
		return ask(b)
	})
}

// awaitApplied waits until the broker has applied what the quorum had committed, and fails with *kafka.Behind after
// applyPatience. The epoch of the finalized features is the offset of the newest record that the broker has applied. Source:
// KRaftMetadataCache of Kafka 3.7 and later.
func (c *Client) awaitApplied(ctx context.Context, b *sarama.Broker, quorum kafka.Quorum) error {
	over := c.opts.Clock.NewTimer(min(applyPatience, c.opts.AttemptTimeout))
	defer over.Stop()
	for {
		resp, err := apiVersions(b)
		if err != nil {
			return err
		}
		if quorum.Covers(resp.FinalizedFeaturesEpoch) {
			return nil
		}
		select {
		case <-over.C():
			return &kafka.Behind{Broker: "the broker at " + b.Addr()}
		case <-ctx.Done():
			return errors.Join(&kafka.Behind{Broker: "the broker at " + b.Addr()}, context.Cause(ctx))
		case <-c.opts.Clock.After(applyPoll):
		}
	}
}

// notDeposed fails if a leader with a higher epoch was read before, so the answer comes from a stale leader. Epochs go back only if
// the metadata log began anew. That is believed of a leader which a majority of the voters follows, once the higher epoch has not
// been read for deposedFor.
func (c *Client) notDeposed(q kafka.Quorum) error {
	now := c.opts.Clock.Now()
	if q.LeaderEpoch < c.leaderEpoch && (q.Confirmed() != nil || now.Sub(c.leaderEpochAt) < deposedFor) {
		return fmt.Errorf("controller %d answers as the leader of the quorum, and another was elected since", q.Leader)
	}
	c.leaderEpoch, c.leaderEpochAt = q.LeaderEpoch, now
	return nil
}
