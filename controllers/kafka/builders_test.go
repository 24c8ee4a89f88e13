package kafka

import kafkaclient "github.com/detent-dev/detent/clients/kafka"

func brokerOf(id int32) kafkaclient.Broker { return kafkaclient.Broker{ID: id, Epoch: -1} }

func voterOf(id int32, end int64) kafkaclient.QuorumReplica {
	return kafkaclient.QuorumReplica{ID: id, LogEndOffset: end}
}
