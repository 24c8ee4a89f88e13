package wire

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func metadata(c *kafka.Cluster, via int32, r *kmsg.MetadataRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.MetadataResponse)
	partitions, brokers, err := c.Metadata(via)
	if err != nil {
		return nil, err
	}
	resp.ClusterID = new(c.ID)
	resp.ControllerID = client.NoLeader
	for _, b := range brokers {
		out := kmsg.NewMetadataResponseBroker()
		out.NodeID, out.Host, out.Port = b.ID, b.Host, b.Port
		resp.Brokers = append(resp.Brokers, out)
		if resp.ControllerID == client.NoLeader || b.ID == via {
			resp.ControllerID = b.ID
		}
	}
	named := map[string]bool{}
	for _, t := range r.Topics {
		if t.Topic != nil {
			named[*t.Topic] = false
		}
	}
	for _, p := range partitions {
		if _, ok := named[p.Topic]; r.Topics != nil && !ok {
			continue
		}
		named[p.Topic] = true
		resp.Topics = appendPartition(resp.Topics, p)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !named[name] {
			t := kmsg.NewMetadataResponseTopic()
			t.Topic, t.ErrorCode = new(name), client.CodeUnknownTopicOrPartition
			resp.Topics = append(resp.Topics, t)
		}
	}
	return resp, nil
}

// appendPartition appends a partition to its topic, which is the last topic or a new one.
func appendPartition(topics []kmsg.MetadataResponseTopic, p client.Partition) []kmsg.MetadataResponseTopic {
	if len(topics) == 0 || *topics[len(topics)-1].Topic != p.Topic {
		t := kmsg.NewMetadataResponseTopic()
		t.Topic = new(p.Topic)
		sum := sha256.Sum256([]byte(p.Topic))
		t.TopicID = [16]byte(sum[:16])
		topics = append(topics, t)
	}
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.Leader = p.Index, p.Leader
	out.Replicas, out.ISR, out.OfflineReplicas = p.Replicas, p.ISR, p.Offline
	if p.Leader == client.NoLeader {
		const leaderNotAvailable = 5
		out.ErrorCode = leaderNotAvailable
	}
	t := &topics[len(topics)-1]
	t.Partitions = append(t.Partitions, out)
	return topics
}

func describeCluster(c *kafka.Cluster, via int32, r *kmsg.DescribeClusterRequest) (kmsg.Response, error) {
	endpoints := kafka.EndpointBrokers
	if r.Version >= 1 {
		endpoints = r.EndpointType
	}
	answer, err := c.DescribeCluster(via, r.Version, r.Version >= 2 && r.IncludeFencedBrokers, endpoints)
	resp := r.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	resp.ClusterID, resp.ControllerID, resp.EndpointType = answer.ClusterID, client.NoLeader, endpoints
	for _, b := range answer.Brokers {
		out := kmsg.NewDescribeClusterResponseBroker()
		out.NodeID, out.Host, out.Port, out.IsFenced = b.ID, b.Host, b.Port, b.Fencing == client.Fenced
		resp.Brokers = append(resp.Brokers, out)
		if b.ID == via {
			resp.ControllerID = via
		}
	}
	return resp, nil
}

func describeControllers(c *kafka.Cluster, at int32, r *kmsg.DescribeClusterRequest) (kmsg.Response, error) {
	leader, err := c.DescribeControllers(at)
	resp := r.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	resp.ClusterID, resp.ControllerID, resp.EndpointType = c.ID, leader, r.EndpointType
	for _, registration := range c.Controllers {
		out := kmsg.NewDescribeClusterResponseBroker()
		out.NodeID = registration.ID
		if n, ok := c.Node(registration.ID); ok {
			out.Host, out.Port = n.Host, n.ControllerPort
		}
		resp.Brokers = append(resp.Brokers, out)
	}
	return resp, nil
}

func describeQuorum(c *kafka.Cluster, via int32, r *kmsg.DescribeQuorumRequest) (kmsg.Response, error) {
	q, err := c.DescribeQuorum(via)
	return quorumResponse(r, q, err)
}

func quorumResponse(r *kmsg.DescribeQuorumRequest, q client.Quorum, err error) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.DescribeQuorumResponse)
	code, text, err := refusal(err)
	if err != nil {
		return nil, err
	}
	resp.ErrorCode, resp.ErrorMessage = code, text
	if code != 0 {
		return resp, nil
	}
	p := kmsg.NewDescribeQuorumResponseTopicPartition()
	p.LeaderID, p.LeaderEpoch, p.HighWatermark = q.Leader, q.LeaderEpoch, q.HighWatermark
	p.CurrentVoters, p.Observers = replicaStates(q.Voters), replicaStates(q.Observers)
	topic := kmsg.NewDescribeQuorumResponseTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, p)
	resp.Topics = append(resp.Topics, topic)
	return resp, nil
}

func replicaStates(replicas []client.QuorumReplica) []kmsg.DescribeQuorumResponseTopicPartitionReplicaState {
	var states []kmsg.DescribeQuorumResponseTopicPartitionReplicaState
	for _, r := range replicas {
		s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		s.ReplicaID, s.LogEndOffset, s.LastFetchTimestamp, s.LastCaughtUpTimestamp = r.ID, r.LogEndOffset, r.LastFetchMillis, r.LastCaughtUpMillis
		states = append(states, s)
	}
	return states
}

func describeLogDirs(c *kafka.Cluster, via int32, r *kmsg.DescribeLogDirsRequest) (kmsg.Response, error) {
	dirs, err := c.DescribeLogDirs(via)
	resp := r.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	code, _, err := refusal(err)
	if err != nil {
		return nil, err
	}
	resp.ErrorCode = code
	for _, d := range dirs.Dirs {
		out := kmsg.NewDescribeLogDirsResponseDir()
		out.Dir = d.Path
		for i := range c.Partitions {
			if p := &c.Partitions[i]; slices.Contains(p.Replicas, via) {
				out.Topics = appendReplica(out.Topics, p.Topic, p.Index)
			}
		}
		resp.Dirs = append(resp.Dirs, out)
	}
	return resp, nil
}

func appendReplica(topics []kmsg.DescribeLogDirsResponseDirTopic, topic string, index int32) []kmsg.DescribeLogDirsResponseDirTopic {
	if len(topics) == 0 || topics[len(topics)-1].Topic != topic {
		t := kmsg.NewDescribeLogDirsResponseDirTopic()
		t.Topic = topic
		topics = append(topics, t)
	}
	p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
	p.Partition = index
	t := &topics[len(topics)-1]
	t.Partitions = append(t.Partitions, p)
	return topics
}

func describeConfigs(c *kafka.Cluster, via int32, r *kmsg.DescribeConfigsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.DescribeConfigsResponse)
	for _, asked := range r.Resources {
		configs, err := configsOf(c, via, asked)
		var values client.ConfigValues
		if err == nil && asked.ResourceType == kmsg.ConfigResourceTypeBroker && r.IncludeSynonyms {
			values, err = c.DescribeSettings(via)
		}
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = asked.ResourceType, asked.ResourceName
		out.ErrorCode, out.ErrorMessage, err = refusal(err)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(configs)) {
			if asked.ConfigNames == nil || slices.Contains(asked.ConfigNames, name) {
				entry := kmsg.NewDescribeConfigsResponseResourceConfig()
				entry.Name, entry.Value = name, new(configs[name])
				out.Configs = append(out.Configs, entry)
			}
		}
		if err == nil && out.ErrorCode == 0 && r.IncludeSynonyms {
			out.Configs = append(out.Configs, described(&values, asked.ConfigNames)...)
		}
		resp.Resources = append(resp.Resources, out)
	}
	return resp, nil
}

// described returns the named configurations with their values by source as synonyms.
func described(values *client.ConfigValues, names []string) []kmsg.DescribeConfigsResponseResourceConfig {
	of := map[client.ConfigSource]kmsg.ConfigSource{
		client.SourceBroker: kmsg.ConfigSourceDynamicBrokerConfig, client.SourceCluster: kmsg.ConfigSourceDynamicDefaultBrokerConfig,
		client.SourceStatic: kmsg.ConfigSourceStaticBrokerConfig, client.SourceDefault: kmsg.ConfigSourceDefaultConfig,
	}
	var out []kmsg.DescribeConfigsResponseResourceConfig
	for _, name := range names {
		if !slices.Contains(client.SettingNames(), name) {
			continue
		}
		entry := kmsg.NewDescribeConfigsResponseResourceConfig()
		entry.Name = name
		for source := range client.ConfigSource(len(values)) {
			value, set := values[source][name]
			if !set {
				continue
			}
			synonym := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			synonym.Name, synonym.Value, synonym.Source = name, &value, of[source]
			entry.ConfigSynonyms = append(entry.ConfigSynonyms, synonym)
		}
		if len(entry.ConfigSynonyms) > 0 {
			entry.Value = entry.ConfigSynonyms[0].Value
		}
		out = append(out, entry)
	}
	return out
}

func configsOf(c *kafka.Cluster, via int32, asked kmsg.DescribeConfigsRequestResource) (client.Configs, error) {
	if asked.ResourceType == kmsg.ConfigResourceTypeTopic {
		return c.DescribeTopicConfig(via, asked.ResourceName)
	}
	if err := kafka.UnexpectedBroker(via, asked.ResourceName); err != nil {
		return nil, err
	}
	return c.DescribeConfigs(via)
}
