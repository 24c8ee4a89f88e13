package realconnect

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/connecttest"
)

// World returns a world on the cluster with its own topic and alias. It deletes the connectors of the previous one.
func (c *Cluster) World(ctx context.Context) (connecttest.World, error) {
	c.rows++
	w := &world{Cluster: c, alias: fmt.Sprintf("a%d", c.rows)}
	names, err := c.clients[0].Connectors(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		err := pass(ctx, name+" is deleted", func(ctx context.Context) (bool, error) {
			err := c.clients[0].Delete(ctx, name)
			if r, refused := connect.AsRefused(err); refused && r.Code == connect.CodeNotFound {
				return true, nil
			}
			return err == nil, ignore(err)
		})
		if err != nil {
			return nil, err
		}
	}
	if err := c.createTopic(ctx, w.Topic()); err != nil {
		return nil, err
	}
	parts := map[int32]kgo.Offset{}
	for partition := range int32(connecttest.Partitions) {
		parts[partition] = kgo.NewOffset().AtStart()
	}
	w.target, err = kgo.NewClient(kgo.SeedBrokers(c.bootstrap), kgo.DisableClientMetrics(), kgo.UnknownTopicRetries(-1), kgo.FetchMaxWait(pollInterval),
		kgo.MetadataMinAge(pollInterval), kgo.MetadataMaxAge(time.Second), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{connecttest.TargetTopic(w): parts}))
	if err == nil {
		c.consumers = append(c.consumers, w.target)
	}
	return w, err
}

func (c *Cluster) createTopic(ctx context.Context, name string) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, connecttest.Partitions, 1
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, c.kafka)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

// world is the cluster as one row uses it.
type world struct {
	*Cluster
	alias string
	// target consumes the target topic; mirrored counts its records.
	target   *kgo.Client
	mirrored int
}

var _ connecttest.World = (*world)(nil)

// Client implements connecttest.World.
func (w *world) Client(worker int) connect.Client { return w.clients[worker] }

// Bootstrap implements connecttest.World.
func (w *world) Bootstrap() string { return w.bootstrap }

// Source implements connecttest.World.
func (w *world) Source() string { return w.alias }

// Topic implements connecttest.World.
func (w *world) Topic() string { return "orders-" + w.alias }

// Produce implements connecttest.World.
func (w *world) Produce(ctx context.Context, records int) error {
	var all []*kgo.Record
	for partition := range int32(connecttest.Partitions) {
		for range records {
			all = append(all, &kgo.Record{Topic: w.Topic(), Partition: partition, Value: []byte("x")})
		}
	}
	return w.kafka.ProduceSync(ctx, all...).FirstErr()
}

// Mirrored implements connecttest.World.
func (w *world) Mirrored(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*pollInterval)
	defer cancel()
	w.mirrored += w.target.PollFetches(ctx).NumRecords()
	return w.mirrored, nil
}

// FreezeWhileMirroring implements connecttest.World. Records that are produced after the signal answer a fetch that the worker has
// sent, so that it has something to commit when it continues.
func (w *world) FreezeWhileMirroring(ctx context.Context, worker int) error {
	const batches = 60
	for range batches {
		if err := w.Produce(ctx, 5); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval / 4):
		}
	}
	if err := w.workers[worker].signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return w.Produce(ctx, 5)
}

// Thaw implements connecttest.World.
func (w *world) Thaw(_ context.Context, worker int) error {
	return w.workers[worker].signal(syscall.SIGCONT)
}

// Kill implements connecttest.World.
func (w *world) Kill(_ context.Context, worker int) error {
	w.workers[worker].kill()
	return nil
}

// Pass implements connecttest.World.
func (w *world) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	return pass(ctx, what, condition)
}

func pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		done, err := condition(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}
