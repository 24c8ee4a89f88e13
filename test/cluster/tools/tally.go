package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

func tallyCommand() *cobra.Command {
	n := &numbered{}
	cmd := &cobra.Command{
		Use: "tally", Short: "Count the records that the partitions of a topic have now, and how many different ones", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n.valued = cmd.Flags().Changed("value")
			records, different, err := n.tally(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "records %d, different %d\n", records, different)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.bootstrap, "bootstrap", "", "host:port of a broker")
	f.StringVar(&n.topic, "topic", "numbers", "topic; it has records")
	f.Int32Var(&n.partitions, "partitions", 1, "partitions of the topic, each of which has records")
	f.StringVar(&n.key, "key", "", "count only records whose key contains it")
	f.StringVar(&n.value, "value", "", "count only records with this value; an empty one counts those without a value")
	f.DurationVar(&n.limit, "timeout", time.Minute, "when to give up")
	return cmd
}

// counts reports whether a record is counted. Control records, which end a transaction, are not.
func (n *numbered) counts(r *kgo.Record) bool {
	return !r.Attrs.IsControl() && strings.Contains(string(r.Key), n.key) && (!n.valued || string(r.Value) == n.value)
}

// tally reads each partition to its high watermark.
func (n *numbered) tally(ctx context.Context) (records, different int, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.bootstrap), kgo.ConsumeTopics(n.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	seen, whole, next := map[string]bool{}, map[int32]bool{}, map[int32]int64{}
	for len(whole) < int(n.partitions) {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return records, len(seen), fmt.Errorf("reading topic %s: %d of %d partitions were read to their ends, and they to %v: %w", n.topic, len(whole), n.partitions, next, err)
		}
		if err := fetches.Err0(); err != nil {
			return records, len(seen), fmt.Errorf("reading topic %s: %w", n.topic, err)
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			for _, r := range p.Records {
				next[p.Partition] = r.Offset + 1
				if n.counts(r) {
					records++
					seen[string(r.Value)] = true
				}
			}
			if next[p.Partition] >= p.HighWatermark {
				whole[p.Partition] = true
			}
		})
	}
	return records, len(seen), nil
}
