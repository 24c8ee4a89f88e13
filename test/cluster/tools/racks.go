package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func racksCommand() *cobra.Command {
	return brokersCommand("racks", "Print the rack of each broker, as id=rack", func(_ context.Context, _ string, b kmsg.MetadataResponseBroker) (string, error) {
		if b.Rack == nil {
			return "", nil
		}
		return *b.Rack, nil
	})
}

// brokersCommand prints a line for each broker: its id and what read returns of it, which gets the bootstrap address.
func brokersCommand(use, short string, read func(context.Context, string, kmsg.MetadataResponseBroker) (string, error)) *cobra.Command {
	var bootstrap string
	limit := time.Minute
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			brokers, err := brokersOf(ctx, bootstrap)
			if err != nil {
				return fmt.Errorf("reading the brokers: %w", err)
			}
			for _, b := range brokers {
				text, err := read(ctx, bootstrap, b)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d=%s\n", b.NodeID, text)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&bootstrap, "bootstrap", "", "host:port of a broker")
	cmd.Flags().DurationVar(&limit, "timeout", limit, "when to give up")
	return cmd
}

// brokersOf returns the brokers sorted by id.
func brokersOf(ctx context.Context, bootstrap string) ([]kmsg.MetadataResponseBroker, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{}
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(answer.Brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	return answer.Brokers, nil
}
