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
	// Release that formats the storage and that every node runs.
	Release string
	// Nodes in both roles; their controllers are the static quorum.
	Nodes []int32
	// Brokers are further nodes without a controller.
	Brokers []int32
	// SnapshotInterval of every process, by metadata.log.max.snapshot.interval.ms.
	SnapshotInterval time.Duration
}

// World is a cluster under test. Its methods fail when what they wait for does not come
// about within the context.
type World interface {
	// Client is a client for the whole cluster.
	Client() kafka.Client
	// ClientThrough is a client that turns to one broker first, and knows the addresses of all nodes.
	ClientThrough(node int32) (kafka.Client, error)
	// Send puts one request, at the version it carries, to one broker.
	Send(ctx context.Context, via int32, request kmsg.Request) (kmsg.Response, error)

	// Start starts the node's process on the release, in the roles it has, and returns
	// when it takes part and is in sync with the others, or with *Died.
	Start(ctx context.Context, node int32, release string) error
	// Stop ends the process with SIGTERM and Kill with SIGKILL; both return when it is gone.
	Stop(ctx context.Context, node int32) error
	Kill(ctx context.Context, node int32) error
	// CutOff cuts a node of Setup.Brokers off from the controllers, though not from clients; Reconnect ends that.
	CutOff(ctx context.Context, node int32) error
	Reconnect(ctx context.Context, node int32) error
	// Alive tells whether the node has a process.
	Alive(node int32) bool

	// CreateTopic makes a topic of one partition with these replicas.
	CreateTopic(ctx context.Context, topic string, minISR int32, replicas ...int32) error
	// PassSnapshotInterval lets every process run for one snapshot interval.
	PassSnapshotInterval(ctx context.Context) error
	// Pass lets time pass until the condition holds.
	Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error
}

// Died is a process that ended by itself while it was started.
type Died struct {
	Node int32
	// Words are the end of what it logged.
	Words string
}

func (d *Died) Error() string { return fmt.Sprintf("node %d died: %s", d.Node, d.Words) }

// Release is what a release of Kafka supports and what it finalizes when it formats the
// storage of a cluster with a static quorum.
type Release struct {
	Version   string
	Supported map[string]kafka.Range
	Formatted map[string]int16
}

// Releases that the table is about.
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

// ReleaseOf returns the release of the version.
func ReleaseOf(version string) (Release, error) {
	for _, r := range Releases() {
		if r.Version == version {
			return r, nil
		}
	}
	return Release{}, fmt.Errorf("kafka %s is not in the table of releases", version)
}
