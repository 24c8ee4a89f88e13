package wire_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka/kafkatest"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
)

// The model replaces brokers in every test: a request that the codec can decode gets a response that can be encoded, or
// none, and never ends the process.
func FuzzAnswer(f *testing.F) {
	for _, key := range []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.DescribeCluster, kmsg.DescribeQuorum, kmsg.DescribeLogDirs,
		kmsg.DescribeConfigs, kmsg.UpdateFeatures, kmsg.UnregisterBroker, kmsg.CreateTopics, kmsg.CreatePartitions} {
		for version := range int16(5) {
			request := kmsg.RequestForKey(int16(key))
			request.SetVersion(version)
			f.Add(int16(key), version, request.AppendTo(nil))
		}
	}
	update := kmsg.NewPtrUpdateFeaturesRequest()
	feature := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	feature.Feature, feature.MaxVersionLevel, feature.UpgradeType = "metadata.version", 1, 3
	update.FeatureUpdates = append(update.FeatureUpdates, feature, feature)
	update.SetVersion(1)
	f.Add(int16(kmsg.UpdateFeatures), int16(1), update.AppendTo(nil))
	setup := kafkatest.Setup{Release: kafkatest.Releases()[0].Version, Nodes: []int32{0, 1, 2}}
	f.Fuzz(func(t *testing.T, key, version int16, data []byte) {
		request := kmsg.RequestForKey(key)
		if request == nil {
			return // no request
		}
		request.SetVersion(version)
		if request.ReadFrom(data) != nil {
			return // no request
		}
		c := newCluster(t, setup)
		w := &world{t: t, setup: setup, with: func(fn func(*kafka.Cluster)) { fn(c) }}
		w.boot()
		if response, err := wire.Answer(c, 0, request); err == nil && response != nil {
			response.SetVersion(version)
			response.AppendTo(nil)
		}
		c.Tick(c.Now + 60_000)
	})
}
