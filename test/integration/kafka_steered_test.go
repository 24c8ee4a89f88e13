package integration

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkaadmin "github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/controllers/kafka/connection"
)

func (e *estate) connect(around func(string, func() error) error) func(connection.Endpoint) (kafkaclient.Client, func(), error) {
	return func(to connection.Endpoint) (kafkaclient.Client, func(), error) {
		c, err := kafkaadmin.New(kafkaadmin.Options{Bootstrap: to.Bootstrap, Nodes: to.NewestNodes, ClientID: "detent", Dial: outside.DialContext})
		if err != nil {
			return nil, nil, err
		}
		return &steered{Client: c, estate: e, key: to.Name, around: around}, c.Close, nil
	}
}

// steered is a connection whose writes can be blocked, counted and lost.
type steered struct {
	kafkaclient.Client
	estate *estate
	key    client.ObjectKey
	around func(string, func() error) error
}

func (c *steered) UpdateFeature(ctx context.Context, update kafkaclient.FeatureUpdate) error {
	if err := c.held(ctx, func(s *site) chan struct{} { return s.updates }); err != nil {
		return err
	}
	return c.around(fmt.Sprintf("update %s to %d", update.Name, update.Level), func() error { return c.Client.UpdateFeature(ctx, update) })
}

func (c *steered) UnregisterBroker(ctx context.Context, id int32) error {
	if err := c.held(ctx, func(s *site) chan struct{} { return s.unregistrations }); err != nil {
		return err
	}
	return c.around(fmt.Sprintf("unregister broker %d", id), func() error { return c.Client.UnregisterBroker(ctx, id) })
}

func (c *steered) Cordon(ctx context.Context, cordon kafkaclient.Cordon) error {
	what := "lift the cordon of broker %d"
	kept := false
	if cordon.Cordoned {
		what = "cordon broker %d"
	} else {
		c.estate.at(c.key, func(s *site) { kept = s.keepsCordons })
	}
	if kept {
		return &kafkaclient.Refused{Code: notAuthorized, Name: kafkaclient.CodeName(notAuthorized)}
	}
	return c.around(fmt.Sprintf(what, cordon.Broker), func() error { return c.Client.Cordon(ctx, cordon) })
}

func (c *steered) Alter(ctx context.Context, alterations []kafkaclient.Alteration) error {
	if err := c.held(ctx, func(s *site) chan struct{} { return s.alterations }); err != nil {
		return err
	}
	lost := false
	c.estate.at(c.key, func(s *site) { lost = s.losesAlterations })
	if lost {
		return &kafkaclient.OutcomeUnknown{What: "altering configurations", Err: errors.New("the connection was cut")}
	}
	return c.around("alter configurations", func() error { return c.Client.Alter(ctx, alterations) })
}

func (c *steered) Reassign(ctx context.Context, moves []kafkaclient.Move) error {
	return c.around(fmt.Sprintf("move %d partitions", len(moves)), func() error { return c.Client.Reassign(ctx, moves) })
}

// held waits while a request of the site is held up.
func (c *steered) held(ctx context.Context, of func(*site) chan struct{}) error {
	var held chan struct{}
	c.estate.at(c.key, func(s *site) { held = of(s) })
	if held == nil {
		return nil
	}
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
