package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// numbered is a sequence of records with the numbers from first on.
type numbered struct {
	bootstrap, topic string
	first, count     int
	every, limit     time.Duration
	partitions       int32
	replicas         int16
	// key, and value if valued, select the records that are counted.
	key, value string
	valued     bool
}

func (n *numbered) flags(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&n.bootstrap, "bootstrap", "", "host:port of a broker")
	f.StringVar(&n.topic, "topic", "numbers", "topic")
	f.IntVar(&n.count, "count", 1, "records")
	f.DurationVar(&n.limit, "timeout", time.Minute, "when to give up")
	return cmd
}

func produceCommand() *cobra.Command {
	n := &numbered{}
	cmd := n.flags(&cobra.Command{
		Use: "produce", Short: "Write numbered records; each counts once every replica in sync has it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := n.produce(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "acknowledged %d\n", n.count)
			return nil
		},
	})
	cmd.Flags().IntVar(&n.first, "first", 0, "number of the first record")
	cmd.Flags().DurationVar(&n.every, "every", 0, "pause between two records")
	cmd.Flags().Int32Var(&n.partitions, "partitions", 1, "partitions of the topic, written in turn")
	cmd.Flags().Int16Var(&n.replicas, "replicas", 1, "replicas of each, if it has to be made")
	return cmd
}

func (n *numbered) produce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.bootstrap), kgo.DefaultProduceTopic(n.topic), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordRetries(1<<20),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := n.create(ctx, client); err != nil {
		return err
	}
	tick := time.NewTicker(max(n.every, 1))
	defer tick.Stop()
	for i := range n.count {
		number := n.first + i
		record := kgo.StringRecord(strconv.Itoa(number))
		record.Partition = int32(number) % n.partitions
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			return fmt.Errorf("writing record %d: %w", number, err)
		}
		if n.every > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// create creates the topic if it does not exist.
func (n *numbered) create(ctx context.Context, client *kgo.Client) error {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = n.topic, n.partitions, n.replicas
	return createTopic(ctx, client, n.limit, t)
}

// createTopic creates a topic if it does not exist. It repeats that until the limit has passed.
func createTopic(ctx context.Context, client *kgo.Client, limit time.Duration, t kmsg.CreateTopicsRequestTopic) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis, req.Topics = 10_000, append(req.Topics, t)
	err := again(ctx, limit, func() error {
		resp, err := req.RequestWith(ctx, client)
		if err == nil {
			err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
		}
		if errors.Is(err, kerr.TopicAlreadyExists) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("making topic %s: %w", t.Topic, err)
	}
	return nil
}

func consumeCommand() *cobra.Command {
	n := &numbered{}
	return n.flags(&cobra.Command{
		Use: "consume", Short: "Read until every number up to the count was seen", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			again, err := n.consume(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "read %d, seen again %d\n", n.count, again)
			return nil
		},
	})
}

func (n *numbered) consume(ctx context.Context) (again int, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.bootstrap), kgo.ConsumeTopics(n.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	seen := make([]bool, n.count)
	for left := n.count; left > 0; {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return again, fmt.Errorf("reading topic %s: %d of %d records are missing: %w", n.topic, left, n.count, err)
		}
		for r := range fetches.RecordsAll() {
			i, err := strconv.Atoi(string(r.Value))
			switch {
			case err != nil || i < 0 || i >= n.count:
				return again, fmt.Errorf("reading topic %s: record %q is none of ours", n.topic, r.Value)
			case seen[i]:
				again++
			default:
				seen[i] = true
				left--
			}
		}
	}
	return again, nil
}
