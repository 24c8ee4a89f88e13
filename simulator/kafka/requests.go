package kafka

import (
	"slices"
	"strconv"

	client "github.com/detent-dev/detent/clients/kafka"
)

// answering returns the broker that a request is sent to, or ErrUnreachable. A node that is only a controller has no listener
// for clients.
func (c *Cluster) answering(via int32) (*Node, error) {
	i := c.nodeIndex(via)
	if i < 0 || c.Unreachable || c.Nodes[i].Unreachable || c.Nodes[i].Process != Running || !c.Nodes[i].Broker {
		return nil, ErrUnreachable
	}
	return &c.Nodes[i], nil
}

// Answers reports whether the node's broker listener accepts connections.
func (c *Cluster) Answers(id int32) bool {
	_, err := c.answering(id)
	return err == nil
}

// APIVersions is what a broker reports about itself and the finalized levels.
type APIVersions struct {
	Binary    Binary
	Supported []FeatureRange
	Finalized []FeatureLevel
	// Epoch is the offset of the newest record of the metadata log that the broker has applied.
	Epoch int64
}

// APIVersions answers ApiVersions. Up to version 3 it omits supported features whose minimum is 0.
func (c *Cluster) APIVersions(via int32, version int16) (APIVersions, error) {
	n, err := c.answering(via)
	if err != nil {
		return APIVersions{}, err
	}
	var answer APIVersions
	err = c.guarded(RequestAPIVersions, via, func() error {
		answer = APIVersions{Binary: c.binary(n.Binary), Finalized: slices.Clone(c.asKnownBy(n).Finalized), Epoch: c.imageOffset(n)}
		for _, f := range answer.Binary.Features {
			if f.Min > 0 || version >= 4 {
				answer.Supported = append(answer.Supported, f)
			}
		}
		return nil
	})
	return answer, err
}

// Metadata answers Metadata for all topics: the partitions, and the brokers that are not fenced.
func (c *Cluster) Metadata(via int32) ([]client.Partition, []client.Broker, error) {
	n, err := c.answering(via)
	if err != nil {
		return nil, nil, err
	}
	known := c.asKnownBy(n)
	var partitions []client.Partition
	err = c.guarded(RequestMetadata, None, func() error {
		partitions = make([]client.Partition, len(known.Partitions))
		for i := range known.Partitions {
			partitions[i] = known.observed(&known.Partitions[i])
		}
		return nil
	})
	return partitions, known.brokers(false), err
}

// Endpoint types of DescribeCluster.
const (
	EndpointBrokers     int8 = 1
	EndpointControllers int8 = 2
)

// DescribeCluster answers DescribeCluster. From version 2 on a client can request fenced brokers; earlier versions omit them.
func (c *Cluster) DescribeCluster(via int32, version int16, fenced bool, endpoints int8) (client.Brokers, error) {
	n, err := c.answering(via)
	if err != nil {
		return client.Brokers{}, err
	}
	var answer client.Brokers
	err = c.guarded(RequestDescribeCluster, None, func() error {
		if endpoints != EndpointBrokers {
			return wrongEndpoint(version, endpoints)
		}
		marked := fenced && version >= 2
		answer = client.Brokers{ClusterID: c.ID, FencingReported: marked, Brokers: c.asKnownBy(n).brokers(marked)}
		return nil
	})
	return answer, err
}

func wrongEndpoint(version int16, endpoints int8) error {
	if endpoints != EndpointControllers {
		return refused(client.CodeUnsupportedEndpointType, "Unsupported endpoint type "+strconv.Itoa(int(endpoints)))
	}
	code := client.CodeMismatchedEndpointType
	if version == 0 {
		code = client.CodeInvalidRequest
	}
	return refused(code, "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
}

// brokers lists the registrations: with their fencing, or without the fenced ones.
func (c *Cluster) brokers(fencing bool) []client.Broker {
	brokers := make([]client.Broker, 0, len(c.Registrations))
	for _, r := range c.Registrations {
		if r.Fenced && !fencing {
			continue
		}
		b := client.Broker{ID: r.ID, Epoch: client.NotReported}
		if n, ok := c.Node(r.ID); ok {
			b.Host, b.Port = n.Host, n.Port
		}
		if fencing {
			b.Fencing = client.Unfenced
		}
		if fencing && r.Fenced {
			b.Fencing = client.Fenced
		}
		brokers = append(brokers, b)
	}
	return brokers
}

// DescribeLogDirs answers DescribeLogDirs of the broker that is asked.
func (c *Cluster) DescribeLogDirs(via int32) (client.LogDirs, error) {
	if _, err := c.answering(via); err != nil {
		return client.LogDirs{}, err
	}
	var answer client.LogDirs
	err := c.guarded(RequestDescribeLogDirs, via, func() error {
		dir := client.LogDir{Path: "/var/lib/kafka/data-0/kafka-log" + strconv.Itoa(int(via))}
		for i := range c.Partitions {
			if p := &c.Partitions[i]; slices.Contains(p.Replicas, via) {
				dir.Add(client.Partition{Topic: p.Topic, Index: p.Index}.Name())
			}
		}
		answer = client.LogDirs{Broker: via, Dirs: []client.LogDir{dir}}
		return nil
	})
	return answer, err
}

// DescribeConfigs answers DescribeConfigs of the broker that is asked, with those names in client.ConfigNames that its release
// knows.
func (c *Cluster) DescribeConfigs(via int32) (client.Configs, error) {
	n, err := c.answering(via)
	if err != nil {
		return nil, err
	}
	var answer client.Configs
	err = c.guarded(RequestDescribeConfigs, via, func() error {
		answer = client.Configs{
			client.ConfigSnapshotInterval:   strconv.FormatInt(max(n.SnapshotInterval, 0), 10),
			client.ConfigQuorumFetchTimeout: strconv.FormatInt(client.DefaultQuorumFetchTimeout.Milliseconds(), 10),
			client.ConfigSessionTimeout:     strconv.FormatInt(c.Settings.Session, 10),
			client.ConfigMinISR:             "1",
		}
		if c.binary(n.Binary).atLeast(4, 3) {
			answer[client.ConfigCordonedLogDirs] = ""
			if slices.Contains(c.Cordoned, via) {
				answer[client.ConfigCordonedLogDirs] = client.CordonedAll
			}
		}
		return nil
	})
	return answer, err
}

// DescribeTopicConfig answers DescribeConfigs of a topic, which every broker answers.
func (c *Cluster) DescribeTopicConfig(via int32, topic string) (client.Configs, error) {
	n, err := c.answering(via)
	if err != nil {
		return nil, err
	}
	known := c.asKnownBy(n)
	var answer client.Configs
	err = c.guarded(RequestDescribeConfigs, None, func() error {
		for i := range known.Partitions {
			if known.Partitions[i].Topic == topic {
				answer = client.Configs{client.ConfigMinISR: strconv.Itoa(int(known.Partitions[i].MinISR))}
				return nil
			}
		}
		return refused(client.CodeUnknownTopicOrPartition, "")
	})
	return answer, err
}

// FeatureResult is the result for one feature; Refused is nil if it was accepted.
type FeatureResult struct {
	Name    string
	Refused *client.Refused
}

// forwarded executes a request that the broker forwards to the leader. Without a leader, or if the broker is cut off, it is not answered.
func (c *Cluster) forwarded(via int32, request Request, target int32, work func(broker *Node) error) error {
	n, err := c.answering(via)
	if err != nil {
		return err
	}
	return c.guarded(request, target, func() error {
		if c.Leader == None || c.isolated(n) {
			return ErrNoAnswer
		}
		return work(n)
	})
}

// UpdateFeatures answers UpdateFeatures, which the broker forwards to the leader. Controllers of 4.0 and later report a
// refusal as one error for the whole request, earlier ones as results per feature.
func (c *Cluster) UpdateFeatures(via int32, updates []FeatureUpdate, validateOnly bool) ([]FeatureResult, error) {
	var results []FeatureResult
	err := c.forwarded(via, RequestUpdateFeatures, None, func(*Node) error {
		leader, _ := c.Node(c.Leader)
		whole := c.binary(leader.Binary).atLeast(4, 0)
		failed := false
		for _, u := range updates {
			result := FeatureResult{Name: u.Name}
			if text := c.judgeUpdate(u); text != "" {
				failed = true
				result.Refused = refused(client.CodeInvalidUpdateVersion, text)
			}
			if failed && whole {
				result.Refused.Message = "The update failed for all features since the following feature had an error: " + result.Refused.Message
				return result.Refused
			}
			results = append(results, result)
		}
		if failed || validateOnly {
			return nil
		}
		for _, u := range updates {
			c.finalize(FeatureLevel{Name: u.Name, Level: u.Level})
		}
		c.Tick(c.Now)
		return nil
	})
	return results, err
}

// UnregisterBroker answers UnregisterBroker, which the broker forwards to the leader. It does not check whether the broker is
// alive: a live process keeps running, in no ISR, until it is restarted.
func (c *Cluster) UnregisterBroker(via, id int32) error {
	return c.forwarded(via, RequestUnregisterBroker, id, func(*Node) error {
		i := c.registrationIndex(id)
		if i < 0 {
			return refused(client.CodeBrokerIDNotRegistered, "Broker ID "+strconv.Itoa(int(id))+" is not currently registered")
		}
		c.Registrations = slices.Delete(c.Registrations, i, i+1)
		c.Tick(c.Now)
		return nil
	})
}

// Register adds a registration without a process, which is what a broker leaves that was removed for good without being
// unregistered.
func (c *Cluster) Register(id int32, version string, fenced bool) error {
	binary, err := c.binaryIndex(version)
	if err != nil {
		return err
	}
	if c.registrationIndex(id) >= 0 {
		return nil
	}
	c.LastEpoch++
	r := Registration{ID: id, Epoch: c.LastEpoch, Binary: binary, Fenced: fenced}
	if !fenced {
		r.SessionEnds = c.Now + c.Settings.Session
	}
	c.insertRegistration(r)
	return nil
}
