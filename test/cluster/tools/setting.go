package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func settingCommand() *cobra.Command {
	var name string
	cmd := brokersCommand("setting", "Print the value of a configuration on each broker and where it comes from, as id=value source",
		func(ctx context.Context, bootstrap string, b kmsg.MetadataResponseBroker) (string, error) {
			text, err := settingOf(ctx, bootstrap, b.NodeID, name)
			if err != nil {
				return "", fmt.Errorf("reading %s of broker %d: %w", name, b.NodeID, err)
			}
			return text, nil
		})
	cmd.Flags().StringVar(&name, "name", "", "name of the configuration")
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
