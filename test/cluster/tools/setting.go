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

func settingCommand() *cobra.Command {
	var bootstrap, name string
	limit := time.Minute
	cmd := &cobra.Command{
		Use: "setting", Short: "Print the value of a configuration on each broker and where it comes from, as id=value source", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			brokers, err := brokersOf(ctx, bootstrap)
			if err != nil {
				return fmt.Errorf("reading the brokers: %w", err)
			}
			for _, b := range brokers {
				text, err := settingOf(ctx, bootstrap, b.NodeID, name)
				if err != nil {
					return fmt.Errorf("reading %s of broker %d: %w", name, b.NodeID, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d=%s\n", b.NodeID, text)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&bootstrap, "bootstrap", "", "host:port of a broker")
	cmd.Flags().StringVar(&name, "name", "", "name of the configuration")
	cmd.Flags().DurationVar(&limit, "timeout", limit, "when to give up")
	return cmd
}

// settingOf returns the value that applies on the broker, and its source.
func settingOf(ctx context.Context, bootstrap string, broker int32, name string) (string, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return "", err
	}
	defer client.Close()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(broker)), []string{name}
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = append(request.Resources, resource)
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return "", err
	}
	for _, r := range answer.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return "", err
		}
		for _, c := range r.Configs {
			if c.Name == name && c.Value != nil {
				return *c.Value + " " + c.Source.String(), nil
			}
		}
	}
	return "", errors.New("the broker reports no value")
}
