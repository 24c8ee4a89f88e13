package kafka

import (
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/kafka"
)

// FeatureRange is the levels of one feature that a binary supports, both ends included.
type FeatureRange struct {
	Name     string
	Min, Max int16
}

// FeatureLevel is one feature at one level.
type FeatureLevel struct {
	Name  string
	Level int16
}

// Binary is one release of Kafka.
type Binary struct {
	// Version such as 4.1.2. It determines the supported request versions.
	Version string
	// Features by name. A feature that is not listed does not exist in this release.
	Features []FeatureRange
}

func (b Binary) supported(name string) (FeatureRange, bool) {
	for _, f := range b.Features {
		if f.Name == name {
			return f, true
		}
	}
	return FeatureRange{Name: name}, false
}

// canReplay reports whether the binary can replay a record that sets the feature to the
// level. It returns true for a feature that the binary does not list.
func (b Binary) canReplay(f FeatureLevel) bool {
	r, ok := b.supported(f.Name)
	return !ok || r.contains(f.Level)
}

func (r FeatureRange) contains(level int16) bool { return r.Min <= level && level <= r.Max }

// String formats the range as Kafka prints it.
func (r FeatureRange) String() string {
	low := strconv.Itoa(int(r.Min))
	if r.Min == r.Max {
		return low
	}
	return low + "-" + strconv.Itoa(int(r.Max))
}

// atLeast compares the release with major.minor. A version that does not start with two
// numbers counts as the newest.
func (b Binary) atLeast(major, minor int) bool {
	parts := strings.SplitN(b.Version, ".", 3)
	if len(parts) < 2 {
		return true
	}
	mine, err := strconv.Atoi(parts[0])
	if err != nil {
		return true
	}
	if mine != major {
		return mine > major
	}
	mine, err = strconv.Atoi(parts[1])
	return err != nil || mine >= minor
}

// Request is the name of a request of Kafka's protocol.
type Request string

// The requests that the model implements, named as in the protocol.
const (
	RequestMetadata         Request = "Metadata"
	RequestAPIVersions      Request = "ApiVersions"
	RequestDescribeConfigs  Request = "DescribeConfigs"
	RequestDescribeLogDirs  Request = "DescribeLogDirs"
	RequestDescribeQuorum   Request = "DescribeQuorum"
	RequestUpdateFeatures   Request = "UpdateFeatures"
	RequestDescribeCluster  Request = "DescribeCluster"
	RequestUnregisterBroker Request = "UnregisterBroker"
	RequestAlterConfigs     Request = "IncrementalAlterConfigs"
	RequestReassign         Request = "AlterPartitionAssignments"
	RequestReassignments    Request = "ListPartitionReassignments"
	RequestCreateTopics     Request = "CreateTopics"
	RequestCreatePartitions Request = "CreatePartitions"
)

// Requests lists the requests that the model implements.
func Requests() []Request {
	return []Request{
		RequestMetadata, RequestAPIVersions, RequestDescribeConfigs, RequestDescribeLogDirs,
		RequestDescribeQuorum, RequestUpdateFeatures, RequestDescribeCluster, RequestUnregisterBroker,
		RequestAlterConfigs, RequestReassign, RequestReassignments, RequestCreateTopics, RequestCreatePartitions,
	}
}

// MaxVersion is the newest version of the request that the release supports, -1 for a
// request that the model does not implement. Source: the message definitions of 3.9 and
// 4.x.
func (b Binary) MaxVersion(request Request) int16 {
	newest := func(major, minor int, then, before int16) int16 {
		if b.atLeast(major, minor) {
			return then
		}
		return before
	}
	switch request {
	case RequestMetadata:
		return newest(4, 0, 13, 12)
	case RequestAPIVersions:
		return newest(3, 9, 4, 3)
	case RequestDescribeConfigs, RequestDescribeLogDirs:
		return 4
	case RequestDescribeQuorum:
		return newest(3, 9, 2, 1)
	case RequestUpdateFeatures:
		return newest(4, 0, 2, 1)
	case RequestDescribeCluster:
		return newest(4, 0, 2, 1)
	case RequestUnregisterBroker, RequestReassignments:
		return 0
	case RequestAlterConfigs:
		return 1
	case RequestReassign:
		return newest(4, 1, 1, 0)
	case RequestCreateTopics:
		return 7
	case RequestCreatePartitions:
		return 3
	default:
		return -1
	}
}

// metadataChanged reports whether records changed at a level of metadata.version above low
// and up to high. If so, Kafka refuses a safe downgrade between them. Source:
// MetadataVersion of Kafka 4.4.
func metadataChanged(low, high int16) bool {
	for _, level := range [...]int16{7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33} {
		if low < level && level <= high {
			return true
		}
	}
	return false
}

// controllerRegistration is the first level of metadata.version at which controllers
// register, and at which an update checks their ranges: 3.7-IV0.
const controllerRegistration = 15

func clientRange(r FeatureRange) client.Range { return client.Range{Min: r.Min, Max: r.Max} }
