package admin

import (
	"slices"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// The client never panics on bytes that the codec accepts as a response. It returns every replica and directory once and
// in order, or an error.
func FuzzQuorumAnswer(f *testing.F) {
	answer := kmsg.NewPtrDescribeQuorumResponse()
	topic := kmsg.NewDescribeQuorumResponseTopic()
	partition := kmsg.NewDescribeQuorumResponseTopicPartition()
	partition.LeaderID, partition.HighWatermark = 1, 100
	for _, id := range []int32{2, 0, 1} {
		state := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		state.ReplicaID, state.LogEndOffset = id, 90
		partition.CurrentVoters = append(partition.CurrentVoters, state)
	}
	topic.Partitions = append(topic.Partitions, partition)
	answer.Topics = append(answer.Topics, topic)
	for version := range int16(3) {
		answer.Version = version
		f.Add(answer.AppendTo(nil), version)
		f.Add([]byte{0, 3, 2, 2, 2, 0xff, 0xff, 0xff}, version)
	}
	f.Fuzz(func(t *testing.T, data []byte, version int16) {
		answer := kmsg.NewPtrDescribeQuorumResponse()
		answer.Version = version
		if answer.ReadFrom(data) != nil {
			return // no response
		}
		quorum, err := quorumOf(answer)
		if err != nil {
			if len(quorum.Voters)+len(quorum.Observers) > 0 {
				t.Fatalf("an error with a quorum: %v", err)
			}
			return
		}
		byID := func(a, b kafka.QuorumReplica) int { return int(a.ID) - int(b.ID) }
		if !slices.IsSortedFunc(quorum.Voters, byID) || !slices.IsSortedFunc(quorum.Observers, byID) {
			t.Fatalf("not in order: %+v", quorum)
		}
	})
}

func FuzzBrokersAnswer(f *testing.F) {
	f.Add([]byte{3, 0, 1, 2, 255}, "host", "rack", int32(9092), int16(2), int16(0), "t", int32(0))
	f.Add([]byte{}, "", "", int32(-1), int16(0), int16(-7), "", int32(-1))
	f.Fuzz(func(t *testing.T, ids []byte, host, rack string, port int32, version, code int16, topic string, partition int32) {
		answer := &sarama.DescribeClusterResponse{Version: version, ClusterID: rack}
		dirs := &sarama.DescribeLogDirsResponse{}
		for i, id := range ids {
			broker := &sarama.DescribeClusterBroker{BrokerID: int32(id) - 128, Host: host, Port: port, IsFenced: i%2 == 1}
			if i%3 == 0 {
				broker.Rack = &rack
			}
			answer.Brokers = append(answer.Brokers, broker)
			dirs.LogDirs = append(dirs.LogDirs, sarama.DescribeLogDirsResponseDirMetadata{
				Path: host, ErrorCode: sarama.KError(code), Topics: []sarama.DescribeLogDirsResponseTopic{
					{Topic: topic, Partitions: []sarama.DescribeLogDirsResponsePartition{{PartitionID: partition}, {PartitionID: int32(i)}}}},
			})
		}
		got := brokersOf(answer)
		if len(got.Brokers) != len(ids) || !slices.IsSortedFunc(got.Brokers, func(a, b kafka.Broker) int { return int(a.ID) - int(b.ID) }) {
			t.Fatalf("brokers %+v of %v", got.Brokers, ids)
		}
		for _, b := range got.Brokers {
			if got.FencingReported == (b.Fencing == kafka.Fencing("")) && version >= 2 {
				t.Fatalf("broker %+v of version %d", b, version)
			}
		}
		for _, dir := range logDirsOf(dirs) {
			if (dir.Error != nil) != (code != 0) {
				t.Fatalf("directory %+v with code %d", dir, code)
			}
		}
	})
}
