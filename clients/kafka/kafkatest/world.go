package kafkatest

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// Setup is the cluster that a row begins with: formatted and running.
type Setup struct {
	// Release formats the storage and runs on every node.
	Release string
	// Nodes have both roles; their controllers are the static quorum.
	Nodes []int32
	// Brokers are additional nodes without a controller.
	Brokers []int32
	// SnapshotInterval is metadata.log.max.snapshot.interval.ms of every process.
	SnapshotInterval time.Duration
	// Properties are further properties of every process. Optional.
	Properties map[string]string
}

// World is a cluster under test. Its methods fail if what they wait for does not happen before the context ends.
type World interface {
	// Client returns a client for the whole cluster.
	Client() kafka.Client
	// ClientThrough returns a client that asks one broker first, and knows the addresses of all nodes.
	ClientThrough(node int32) (kafka.Client, error)
	// Send sends one request, at the version it carries, to one broker.
	Send(ctx context.Context, via int32, request kmsg.Request) (kmsg.Response, error)

	// Start starts the node's process on the release, in the node's roles. It returns once the node takes part in
	// the cluster and is in sync, or fails with *Died.
	Start(ctx context.Context, node int32, release string) error
	// Format replaces the storage of a node without a process by an empty one that the release formats with a level of metadata.version;
	// 0 is the default of the release.
	Format(ctx context.Context, node int32, release string, metadata int16) error
	// Stop ends the process with SIGTERM and Kill with SIGKILL; both return once it has exited.
	Stop(ctx context.Context, node int32) error
	Kill(ctx context.Context, node int32) error
	// CutOff cuts a node of Setup.Brokers off from the controllers, but not from clients; Reconnect ends that.
	CutOff(ctx context.Context, node int32) error
	Reconnect(ctx context.Context, node int32) error
	// Alive reports whether the node has a running process.
	Alive(node int32) bool

	// CreateTopic creates a topic with one partition on these replicas.
	CreateTopic(ctx context.Context, topic string, minISR int32, replicas ...int32) error
	// PassSnapshotInterval lets one snapshot interval pass, so that every running process takes a snapshot.
	PassSnapshotInterval(ctx context.Context) error
	// Pass waits until the condition is true. It fails with the error of the condition.
	Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error
}

// Died is a process that exited while it was being started.
type Died struct {
	Node int32
	// Words are the log lines that show why it exited.
	Words string
}

func (d *Died) Error() string { return fmt.Sprintf("node %d died: %s", d.Node, d.Words) }

// Release is the feature ranges that a release of Kafka supports, and the levels that it finalizes when it
// formats the storage of a cluster with a static quorum.
type Release struct {
	Version   string
	Supported map[string]kafka.Range
	Formatted map[string]int16
}

// Releases returns the releases that the table uses.
func Releases() []Release {
	const (
		group, transaction = "group.version", "transaction.version"
		elr, kraft         = "eligible.leader.replicas.version", "kraft.version"
		share, streams     = "share.version", "streams.version"
	)
	to := func(maximum int16) kafka.Range { return kafka.Range{Max: maximum} }
	return []Release{
		{
			Version:   "3.9.2",
			Supported: map[string]kafka.Range{kafka.MetadataVersion: {Min: 1, Max: 21}, kraft: to(1)},
			Formatted: map[string]int16{kafka.MetadataVersion: 21},
		},
		{
			Version:   "4.0.2",
			Supported: map[string]kafka.Range{kafka.MetadataVersion: {Min: 7, Max: 25}, kraft: to(1), group: to(1), transaction: to(2), elr: to(1)},
			Formatted: map[string]int16{kafka.MetadataVersion: 25, group: 1, transaction: 2},
		},
		{
			Version:   "4.1.2",
			Supported: map[string]kafka.Range{kafka.MetadataVersion: {Min: 7, Max: 27}, kraft: to(1), group: to(1), transaction: to(2), elr: to(1), share: to(1)},
			Formatted: map[string]int16{kafka.MetadataVersion: 27, group: 1, transaction: 2, elr: 1},
		},
		{
			Version:   "4.3.1",
			Supported: map[string]kafka.Range{kafka.MetadataVersion: {Min: 7, Max: 30}, kraft: to(1), group: to(1), transaction: to(2), elr: to(1), share: to(1), streams: to(1)},
			Formatted: map[string]int16{kafka.MetadataVersion: 30, group: 1, transaction: 2, elr: 1, share: 1, streams: 1},
		},
	}
}

// ReleaseOf returns the release of the version, or an error if the table does not use it.
func ReleaseOf(version string) (Release, error) {
	for _, r := range Releases() {
		if r.Version == version {
			return r, nil
		}
	}
	return Release{}, fmt.Errorf("kafka %s is not in the table of releases", version)
}
