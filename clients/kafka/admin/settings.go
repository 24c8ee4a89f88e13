package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/IBM/sarama"

	"github.com/detent-dev/detent/clients/kafka"
)

// Settings implements kafka.Reader.
func (c *Client) Settings(ctx context.Context, broker int32) (kafka.Settings, error) {
	name := strconv.Itoa(int(broker))
	return read(ctx, c, "reading the dynamic configuration of broker "+name, func(ctx context.Context) (kafka.Settings, error) {
		var settings kafka.Settings
		err := c.broker(ctx, broker, func(b *sarama.Broker) error {
			resp, err := b.DescribeConfigs(&sarama.DescribeConfigsRequest{
				Version: 2, IncludeSynonyms: true,
				Resources: []*sarama.ConfigResource{{Type: sarama.BrokerResource, Name: name, ConfigNames: kafka.SettingNames()}},
			})
			if err != nil {
				return err
			}
			if len(resp.Resources) != 1 || resp.Resources[0].Name != name {
				return errors.New("the broker is missing from its own answer")
			}
			r := resp.Resources[0]
			settings = settingsOf(r.Configs)
			return refused(r.ErrorCode, &r.ErrorMsg)
		})
		return settings, err
	})
}

// settingsOf returns the settings for the described configurations. The synonyms of a configuration are its values by source, and
// those of the names that Kafka uses in its place, which are described themselves.
func settingsOf(described []*sarama.ConfigEntry) kafka.Settings {
	known := map[string]bool{}
	var values kafka.ConfigValues
	for _, entry := range described {
		known[entry.Name] = true
		for _, value := range entry.Synonyms {
			if value.ConfigName != entry.Name {
				continue
			}
			switch value.Source {
			case sarama.SourceDynamicBroker:
				values.Set(kafka.SourceBroker, entry.Name, value.ConfigValue)
			case sarama.SourceDynamicDefaultBroker:
				values.Set(kafka.SourceCluster, entry.Name, value.ConfigValue)
			case sarama.SourceStaticBroker:
				values.Set(kafka.SourceStatic, entry.Name, value.ConfigValue)
			case sarama.SourceDefault:
				values.Set(kafka.SourceDefault, entry.Name, value.ConfigValue)
			default: // of topics
			}
		}
	}
	return kafka.SettingsOf(&values, func(name string) bool { return known[name] })
}

// Alter implements kafka.Writer. It sends one request for each alteration: Kafka accepts values of one broker only at that broker. A
// failure after one of them was executed is an unknown outcome.
func (c *Client) Alter(ctx context.Context, alterations []kafka.Alteration) error {
	return c.write(ctx, fmt.Sprintf("altering the configuration of %s", subjects(alterations)), func(ctx context.Context) (bool, error) {
		sent := false
		for i := range alterations {
			left, err := c.alter(ctx, alterations[i].Broker, entriesOf(&alterations[i]))
			switch {
			case err != nil && sent:
				return true, kafka.AfterAnother(err)
			case err != nil:
				return left, err
			}
			sent = true
		}
		return sent, nil
	})
}

// subjects names what is altered, for errors.
func subjects(alterations []kafka.Alteration) string {
	text := ""
	for _, a := range alterations {
		if text != "" {
			text += " and "
		}
		if a.Broker == nil {
			text += "all brokers"
		} else {
			text += "broker " + strconv.Itoa(int(*a.Broker))
		}
	}
	return text
}

func entriesOf(a *kafka.Alteration) map[string]sarama.IncrementalAlterConfigsEntry {
	entries := make(map[string]sarama.IncrementalAlterConfigsEntry, len(a.Set)+len(a.Delete))
	for _, name := range a.Delete {
		entries[name] = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationDelete}
	}
	for name, value := range a.Set {
		entries[name] = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}
	}
	return entries
}

// alter sends one IncrementalAlterConfigs, for one broker to that broker, and for all brokers (nil) to any.
func (c *Client) alter(ctx context.Context, broker *int32, entries map[string]sarama.IncrementalAlterConfigsEntry) (left bool, err error) {
	name, addrs := "", c.candidates()
	if broker != nil {
		name = strconv.Itoa(int(*broker))
		if _, err := c.describeCluster(ctx, c.anyone); err != nil {
			return false, err
		}
		addr, listed := c.addrs[*broker]
		if !listed {
			return false, fmt.Errorf("broker %s is not listed by the cluster", name)
		}
		addrs = []string{addr}
	}
	req := &sarama.IncrementalAlterConfigsRequest{Version: 1, Resources: []*sarama.IncrementalAlterConfigsResource{{
		Type: sarama.BrokerResource, Name: name, ConfigEntries: entries,
	}}}
	return c.once(ctx, addrs, func(b *sarama.Broker) error {
		resp, err := b.IncrementalAlterConfigs(req)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(resp.Resources, func(r *sarama.AlterConfigsResourceResponse) bool { return r.ErrorCode != 0 })
		if at < 0 {
			return nil
		}
		return refused(resp.Resources[at].ErrorCode, &resp.Resources[at].ErrorMsg)
	})
}
