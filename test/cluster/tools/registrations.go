package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// registrationsCommand prints the ids of registered brokers in one line. Fenced ones end with "fenced": Kafka lists them since 4.0.
func registrationsCommand() *cobra.Command {
	var bootstrap string
	limit := time.Minute
	cmd := &cobra.Command{
		Use: "registrations", Short: "Print the ids of all registered brokers, those that are fenced included", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			brokers, err := registrations(ctx, bootstrap)
			if err != nil {
				return fmt.Errorf("reading the registrations: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), described(brokers))
			return nil
		},
	}
	cmd.Flags().StringVar(&bootstrap, "bootstrap", "", "host:port of a broker")
	cmd.Flags().DurationVar(&limit, "timeout", limit, "when to give up")
	return cmd
}

// registrations returns the registered brokers.
func registrations(ctx context.Context, bootstrap string) ([]kmsg.DescribeClusterResponseBroker, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	request := kmsg.NewPtrDescribeClusterRequest()
	request.IncludeFencedBrokers = true
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	return answer.Brokers, kerr.ErrorForCode(answer.ErrorCode)
}

// described returns the brokers sorted by id.
func described(brokers []kmsg.DescribeClusterResponseBroker) string {
	sorted := slices.SortedFunc(slices.Values(brokers), func(a, b kmsg.DescribeClusterResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	words := make([]string, 0, len(sorted))
	for _, b := range sorted {
		word := fmt.Sprint(b.NodeID)
		if b.IsFenced {
			word += " fenced"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
