package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// minFranzTimeout is the shortest timeout that franz-go accepts.
const minFranzTimeout = 100 * time.Millisecond

// write takes the turn and runs send. send reports whether the request may have reached a
// broker. write fails with *kafka.Refused, *kafka.Unreadable or *kafka.OutcomeUnknown.
func (c *Client) write(ctx context.Context, what string, send func(ctx context.Context) (left bool, err error)) error {
	call, release, err := c.take(ctx)
	if err != nil {
		return &kafka.Unreadable{What: what, Err: err}
	}
	defer release()
	left, err := send(call)
	if err != nil {
		return kafka.WriteFailure(what, err, left)
	}
	return nil
}

// UpdateFeature implements kafka.Writer.
func (c *Client) UpdateFeature(ctx context.Context, u kafka.FeatureUpdate) error {
	what := fmt.Sprintf("updating %s to level %d", u.Name, u.Level)
	return c.write(ctx, what, func(ctx context.Context) (bool, error) {
		if u.Kind == kafka.Upgrade && !u.ValidateOnly {
			return c.raise(ctx, u)
		}
		return c.updateFeatures(ctx, u)
	})
}

// raise sends UpdateFeatures version 0 without AllowDowngrade, which can only raise a
// level.
func (c *Client) raise(ctx context.Context, u kafka.FeatureUpdate) (left bool, err error) {
	return c.once(ctx, c.candidates(), func(b *sarama.Broker) error {
		resp, err := b.UpdateFeatures(&sarama.UpdateFeaturesRequest{
			Timeout:        c.controllerTimeout(),
			FeatureUpdates: []sarama.FeatureUpdate{{Feature: u.Name, MaxVersionLevel: u.Level}},
		})
		if err != nil {
			return err
		}
		err = refused(int16(resp.ErrorCode), resp.ErrorMessage)
		for _, r := range resp.Results {
			err = errors.Join(err, refused(int16(r.ErrorCode), r.ErrorMessage))
		}
		return err
	})
}

// once sends a request once, to the first of the addresses that answers ApiVersions. left
// reports whether the request may have arrived although an error is returned.
func (c *Client) once(ctx context.Context, addrs []string, send func(b *sarama.Broker) error) (left bool, err error) {
	var failures []error
	for _, addr := range addrs {
		if ctx.Err() != nil {
			break
		}
		// A new connection: on one that was open before, a failure would not show whether
		// the request was sent.
		conf := *c.conf
		b, err := c.greet(addr, &conf)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		// The request is sent from here on. A shorter timeout would only lose the answer.
		conf.Net.ReadTimeout = c.opts.Timeout
		err = answered(send(b))
		_ = b.Close() // the answer was read, or cannot arrive any more
		return true, err
	}
	return false, errors.Join(append(failures, context.Cause(ctx))...)
}

// greet opens a connection and sends ApiVersions on it. Without this, sarama reports a
// connection as established although the broker never answers on it.
func (c *Client) greet(addr string, conf *sarama.Config) (*sarama.Broker, error) {
	b, err := c.dialBroker(addr, conf)
	if err != nil {
		return nil, err
	}
	if _, err := apiVersions(b); err != nil {
		_ = b.Close() // the connection is discarded
		return nil, err
	}
	return b, nil
}

// updateFeatures sends UpdateFeatures version 1 or newer, which can lower and validate.
func (c *Client) updateFeatures(ctx context.Context, u kafka.FeatureUpdate) (left bool, err error) {
	update := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	update.Feature, update.MaxVersionLevel = u.Name, u.Level
	const upgrade, safeDowngrade = 1, 2
	update.UpgradeType = upgrade
	if u.Kind == kafka.SafeDowngrade {
		update.UpgradeType = safeDowngrade
	}
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.TimeoutMillis = int32(c.controllerTimeout().Milliseconds())
	req.ValidateOnly = u.ValidateOnly
	req.FeatureUpdates = append(req.FeatureUpdates, update)
	resp, left, err := c.franzWrite(ctx, req)
	if err != nil {
		return left, err
	}
	answer, err := as[*kmsg.UpdateFeaturesResponse](resp)
	if err != nil {
		return true, err
	}
	err = refused(answer.ErrorCode, answer.ErrorMessage)
	for _, r := range answer.Results {
		err = errors.Join(err, refused(r.ErrorCode, r.ErrorMessage))
	}
	return true, err
}

// UnregisterBroker implements kafka.Writer.
func (c *Client) UnregisterBroker(ctx context.Context, id int32) error {
	return c.write(ctx, "unregistering broker "+strconv.Itoa(int(id)), func(ctx context.Context) (bool, error) {
		req := kmsg.NewPtrUnregisterBrokerRequest()
		req.BrokerID = id
		resp, left, err := c.franzWrite(ctx, req)
		if err != nil {
			return left, err
		}
		answer, err := as[*kmsg.UnregisterBrokerResponse](resp)
		if err != nil {
			return true, err
		}
		return true, refused(answer.ErrorCode, answer.ErrorMessage)
	})
}

// franzWrite sends a request once, on new connections, to the first seed that answers
// ApiVersions. left reports whether the request may have arrived although an error is
// returned.
func (c *Client) franzWrite(ctx context.Context, req kmsg.Request) (resp kmsg.Response, left bool, err error) {
	franz, err := c.newFranz(c.candidates())
	if err != nil {
		return nil, false, err
	}
	defer franz.Close()
	var failures []error
	for _, seed := range franz.SeedBrokers() {
		if ctx.Err() != nil {
			break
		}
		greeting, err := c.franzGreet(ctx, seed)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if !speaks(greeting, req.Key()) {
			return nil, false, refused(kafka.CodeUnsupportedVersion, nil)
		}
		resp, err := seed.Request(ctx, req)
		return resp, err != nil && !isDial(err), err
	}
	return nil, false, errors.Join(append(failures, context.Cause(ctx))...)
}

// franzGreet reads the API versions that a broker supports. A broker refuses the request if
// the client names no software.
func (c *Client) franzGreet(ctx context.Context, seed *kgo.Broker) (*kmsg.ApiVersionsResponse, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, softwareVersion
	resp, err := c.franzAttempt(ctx, seed, req)
	if err != nil {
		return nil, err
	}
	greeting, err := as[*kmsg.ApiVersionsResponse](resp)
	if err != nil {
		return nil, err
	}
	return greeting, refused(greeting.ErrorCode, nil)
}

func speaks(greeting *kmsg.ApiVersionsResponse, key int16) bool {
	for _, k := range greeting.ApiKeys {
		if k.ApiKey == key {
			return true
		}
	}
	return false
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// controllerTimeout is the timeout that a request gives the controller. It is shorter than
// Options.Timeout, so that the controller's answer arrives before the call ends.
func (c *Client) controllerTimeout() time.Duration { return c.opts.Timeout * 3 / 4 }
