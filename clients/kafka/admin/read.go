package admin

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"

	"github.com/IBM/sarama"

	"github.com/detent-dev/detent/clients/kafka"
)

// Features implements kafka.Reader.
func (c *Client) Features(ctx context.Context, supportedBy ...int32) (kafka.Features, error) {
	return read(ctx, c, "reading the finalized features", func(ctx context.Context) (kafka.Features, error) {
		var f kafka.Features
		err := c.current(ctx, func(b *sarama.Broker) error {
			resp, err := apiVersions(b)
			if err != nil {
				return err
			}
			f = kafka.Features{Finalized: map[string]int16{}, Epoch: resp.FinalizedFeaturesEpoch}
			for _, l := range resp.FinalizedFeatures {
				f.Finalized[l.Name] = l.MaxVersionLevel
			}
			return f.Complete()
		})
		for _, id := range supportedBy {
			if err == nil {
				c.addSupported(ctx, &f, id)
			}
		}
		return f, err
	})
}

// addSupported adds the feature ranges of one broker. It adds nothing if the broker does not answer.
func (c *Client) addSupported(ctx context.Context, f *kafka.Features, id int32) {
	ranges := map[string]kafka.Range{}
	err := c.broker(ctx, id, func(b *sarama.Broker) error {
		resp, err := apiVersions(b)
		if err != nil {
			return err
		}
		for _, s := range resp.SupportedFeatures {
			ranges[s.Name] = kafka.Range{Min: s.MinVersion, Max: s.MaxVersion}
		}
		return nil
	})
	if err != nil {
		return
	}
	if f.Supported == nil {
		f.Supported = map[int32]map[string]kafka.Range{}
	}
	f.Supported[id] = ranges
}

// apiVersions sends ApiVersions version 4, the first that lists supported features whose minimum level is 0.
func apiVersions(b *sarama.Broker) (*sarama.ApiVersionsResponse, error) {
	resp, err := b.ApiVersions(&sarama.ApiVersionsRequest{Version: 4, ClientSoftwareName: softwareName, ClientSoftwareVersion: softwareVersion})
	if err != nil {
		return nil, err
	}
	return resp, refused(resp.ErrorCode, nil)
}

// Brokers implements kafka.Reader.
func (c *Client) Brokers(ctx context.Context) (kafka.Brokers, error) {
	return read(ctx, c, "listing the brokers", func(ctx context.Context) (kafka.Brokers, error) {
		return c.describeCluster(ctx, c.current)
	})
}

// describeCluster lists the registrations and stores their addresses. put selects the broker that is asked.
func (c *Client) describeCluster(ctx context.Context, put func(context.Context, func(*sarama.Broker) error) error) (kafka.Brokers, error) {
	var brokers kafka.Brokers
	err := put(ctx, func(b *sarama.Broker) error {
		resp, err := b.DescribeCluster(sarama.NewDescribeClusterRequest(c.conf.Version))
		if err != nil {
			return err
		}
		if err := refused(int16(resp.Err), resp.ErrorMessage); err != nil {
			return err
		}
		brokers = brokersOf(resp)
		return nil
	})
	if err != nil {
		return kafka.Brokers{}, err
	}
	c.addrs = map[int32]string{}
	for _, b := range brokers.Brokers {
		c.addrs[b.ID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	return brokers, nil
}

func brokersOf(resp *sarama.DescribeClusterResponse) kafka.Brokers {
	out := kafka.Brokers{ClusterID: resp.ClusterID, FencingReported: resp.Version >= 2, Brokers: []kafka.Broker{}}
	for _, b := range resp.Brokers {
		broker := kafka.Broker{ID: b.BrokerID, Host: b.Host, Port: b.Port, Epoch: kafka.NotReported}
		if b.Rack != nil {
			broker.Rack = *b.Rack
		}
		if out.FencingReported {
			broker.Fencing = kafka.Unfenced
		}
		if out.FencingReported && b.IsFenced {
			broker.Fencing = kafka.Fenced
		}
		out.Brokers = append(out.Brokers, broker)
	}
	slices.SortFunc(out.Brokers, func(a, b kafka.Broker) int { return int(a.ID) - int(b.ID) })
	return out
}

// LogDirs implements kafka.Reader.
func (c *Client) LogDirs(ctx context.Context, broker int32) (kafka.LogDirs, error) {
	what := "describing the log directories of broker " + strconv.Itoa(int(broker))
	return read(ctx, c, what, func(ctx context.Context) (kafka.LogDirs, error) {
		dirs := kafka.LogDirs{Broker: broker}
		err := c.broker(ctx, broker, func(b *sarama.Broker) error {
			resp, err := b.DescribeLogDirs(&sarama.DescribeLogDirsRequest{Version: 4})
			if err != nil {
				return err
			}
			if err := refused(int16(resp.ErrorCode), nil); err != nil {
				return err
			}
			dirs.Dirs = logDirsOf(resp)
			return nil
		})
		if err == nil && len(dirs.Dirs) == 0 {
			// Brokers before 3.2 answer like this when the client may not describe the cluster.
			err = errors.New("the broker lists no directory")
		}
		return dirs, err
	})
}

func logDirsOf(resp *sarama.DescribeLogDirsResponse) []kafka.LogDir {
	dirs := make([]kafka.LogDir, 0, len(resp.LogDirs))
	for _, d := range resp.LogDirs {
		dir := kafka.LogDir{Path: d.Path}
		if code := int16(d.ErrorCode); code != 0 {
			dir.Error = &kafka.Refused{Code: code, Name: kafka.CodeName(code)}
		}
		var names []string
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				names = append(names, kafka.Partition{Topic: t.Topic, Index: p.PartitionID}.Name())
			}
		}
		slices.Sort(names)
		for _, name := range names {
			dir.Add(name)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// BrokerConfigs implements kafka.Reader.
func (c *Client) BrokerConfigs(ctx context.Context, broker int32) (kafka.Configs, error) {
	name := strconv.Itoa(int(broker))
	return read(ctx, c, "reading the configuration of broker "+name, func(ctx context.Context) (kafka.Configs, error) {
		configs := kafka.Configs{}
		err := c.broker(ctx, broker, func(b *sarama.Broker) error {
			resources, err := describeConfigs(b, sarama.BrokerResource, []string{name}, kafka.ConfigNames())
			if err != nil {
				return err
			}
			r, ok := resources[name]
			if !ok {
				return errors.New("the broker is missing from its own answer")
			}
			for _, entry := range r.Configs {
				configs[entry.Name] = entry.Value
			}
			return refused(r.ErrorCode, &r.ErrorMsg)
		})
		return configs, err
	})
}

func describeConfigs(b *sarama.Broker, kind sarama.ConfigResourceType, names, configs []string) (map[string]*sarama.ResourceResponse, error) {
	req := &sarama.DescribeConfigsRequest{Version: 2}
	for _, name := range names {
		req.Resources = append(req.Resources, &sarama.ConfigResource{Type: kind, Name: name, ConfigNames: configs})
	}
	resp, err := b.DescribeConfigs(req)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*sarama.ResourceResponse, len(resp.Resources))
	for _, r := range resp.Resources {
		out[r.Name] = r
	}
	return out, nil
}
