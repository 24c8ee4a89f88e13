package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
)

// kafkaSide is a cluster as Kafka reports it.
type kafkaSide struct {
	kafkaclient.Client
	features   kafkaclient.Features
	brokers    kafkaclient.Brokers
	quorum     kafkaclient.Quorum
	partitions kafkaclient.Partitions
	// partitionsErr is the answer to a request for the partitions, if it is set.
	partitionsErr error
	members       map[int32]kafkaclient.Member
	err           error
	asked         []string
	// update is called with every change of a level before it is done.
	update func(kafkaclient.FeatureUpdate)
	// unregistered are the ids of the brokers that were to be unregistered; refuseToUnregister is the answer.
	unregistered       []int32
	refuseToUnregister error
	// refuse is the answer for one broker, if it is set.
	refuse func(id int32) error
	// silent are brokers that do not answer themselves.
	silent []int32
	// refuseToMove is the answer to a request to move replicas.
	refuseToMove error
	// static are the configurations that brokers were started with, own those that one of them has for itself, and altered the dynamic
	// ones of all. refuseToAlter is the answer to a request to alter them.
	static, own   map[int32]map[string]string
	altered       map[string]string
	refuseToAlter error
}

// UpdateFeature notes what is asked, and does it.
func (k *kafkaSide) UpdateFeature(_ context.Context, u kafkaclient.FeatureUpdate) error {
	k.asked = append(k.asked, fmt.Sprintf("update %+v", u))
	if k.update != nil {
		k.update(u)
	}
	k.features = k.features.Clone()
	if k.err == nil && k.features.Finalized != nil {
		k.features.Finalized[u.Name] = u.Level
	}
	return k.err
}

func (k *kafkaSide) Features(_ context.Context, of ...int32) (kafkaclient.Features, error) {
	k.asked = append(k.asked, fmt.Sprint("features", of))
	f := k.features.Clone()
	f.Supported = nil
	for _, id := range of {
		f.Supported = map[int32]map[string]kafkaclient.Range{id: k.features.Supported[id]}
	}
	return f, k.err
}

func (k *kafkaSide) Brokers(context.Context) (kafkaclient.Brokers, error) {
	k.asked = append(k.asked, "brokers")
	return k.brokers, k.err
}

func (k *kafkaSide) Quorum(context.Context) (kafkaclient.Quorum, error) {
	k.asked = append(k.asked, "quorum")
	return k.quorum, k.err
}

// Member is what the node reports; one of which nothing is said does not answer.
func (k *kafkaSide) Member(_ context.Context, id int32) (kafkaclient.Member, error) {
	k.asked = append(k.asked, fmt.Sprint("member ", id))
	if m, found := k.members[id]; found && k.err == nil {
		return m, nil
	}
	silent := kafkaclient.SilentReport(errInjected)
	return kafkaclient.Member{ID: id, Broker: silent, Controller: silent}, nil
}

func (k *kafkaSide) Partitions(context.Context) (kafkaclient.Partitions, error) {
	k.asked = append(k.asked, "partitions")
	return k.partitions, cmp.Or(k.partitionsErr, k.err)
}

// LogDirs reports as many replicas as the metadata.
func (k *kafkaSide) LogDirs(_ context.Context, broker int32) (kafkaclient.LogDirs, error) {
	k.asked = append(k.asked, fmt.Sprint("log directories ", broker))
	if slices.Contains(k.silent, broker) {
		return kafkaclient.LogDirs{}, errInjected
	}
	dir := kafkaclient.LogDir{Path: "/data", Replicas: k.partitions.Replicas[broker]}
	return kafkaclient.LogDirs{Broker: broker, Dirs: []kafkaclient.LogDir{dir}}, k.err
}

// Replicas reports partitions with one replica.
func (k *kafkaSide) Replicas(_ context.Context, broker int32) (kafkaclient.Replicas, error) {
	r := kafkaclient.Replicas{Broker: broker}
	for i := range k.partitions.Replicas[broker] {
		r.Add(kafkaclient.Partition{Topic: "orders", Index: int32(i), Replicas: []int32{broker}}, 0)
	}
	return r, k.err
}

// Reassignments reports none.
func (k *kafkaSide) Reassignments(context.Context) (kafkaclient.Reassignments, error) {
	return kafkaclient.Reassignments{}, k.err
}

// BrokerConfigs reports that nothing is configured.
func (k *kafkaSide) BrokerConfigs(_ context.Context, broker int32) (kafkaclient.Configs, error) {
	if slices.Contains(k.silent, broker) {
		return nil, errInjected
	}
	return kafkaclient.Configs{}, k.err
}

// UnregisterBroker notes what is asked, and does it.
func (k *kafkaSide) UnregisterBroker(_ context.Context, id int32) error {
	k.unregistered = append(k.unregistered, id)
	if k.refuse != nil {
		return k.refuse(id)
	}
	return k.refuseToUnregister
}
