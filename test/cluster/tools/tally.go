package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

func tallyCommand() *cobra.Command {
	n := &numbered{}
	cmd := &cobra.Command{
		Use: "tally", Short: "Count the records that the partitions of a topic have now, and how many different ones", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	f.DurationVar(&n.limit, "timeout", time.Minute, "when to give up")
	return cmd
}

// tally reads each partition to its high watermark. Control records, which end a transaction, are not counted.
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
				if !r.Attrs.IsControl() {
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
