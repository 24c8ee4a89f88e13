package kafka

import (
	"fmt"
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// None is an id that no node has.
const None = client.NoLeader

// Settings are the durations of a cluster, in milliseconds. They do not change while it runs
// and are not part of its hash.
type Settings struct {
	// Start is the time from the start of a process until it takes part in the cluster.
	Start int64
	// CatchUp is the time from then until its replicas and its metadata log have caught up
	// with the leaders.
	CatchUp int64
	// Session is the time until a broker without heartbeats is fenced:
	// broker.session.timeout.ms.
	Session int64
	// Election is the time from the loss of the quorum leader to the election of the next.
	Election int64
	// Copy is the time in which an added replica copies a partition.
	Copy int64
	// Snapshot is metadata.log.max.snapshot.interval.ms of processes that are started without
	// a value.
	Snapshot int64
}

// DefaultSettings are Kafka's defaults where they exist, otherwise times that were measured on
// small clusters.
func DefaultSettings() Settings {
	return Settings{Start: 3_000, CatchUp: 1_000, Session: 9_000, Election: 1_000, Copy: 1_000, Snapshot: 3_600_000}
}

// Cluster is one Kafka cluster. Create it with New; the zero value is not usable. It is a
// plain value: copies made with Clone are independent.
type Cluster struct {
	ID       string
	Settings Settings
	// Now is the time of the state below, in milliseconds.
	Now int64
	// Binaries are the releases that nodes can run. Shared, never modified.
	Binaries []Binary

	// Nodes by id. Owned.
	Nodes []Node
	// Voters of the static quorum, ascending. Shared, never modified in place.
	Voters []int32
	// Leader of the quorum, None if there is none. Then ElectionAt is the time of the next
	// election, 0 if no majority is up.
	Leader      int32
	LeaderEpoch int32
	ElectionAt  int64

	// Finalized levels above 0 by name, and their epoch. Shared, never modified in place.
	Finalized    []FeatureLevel
	FeatureEpoch int64
	// Registrations of brokers by id. Owned.
	Registrations []Registration
	// Controllers that ever registered, by id; they are never removed. Shared, never modified
	// in place.
	Controllers []ControllerRegistration
	// LastEpoch is the newest broker epoch that was assigned.
	LastEpoch int64

	// Partitions by topic, then index. Owned; their replicas are shared.
	Partitions []Partition
	// Cordoned are the brokers whose directories are cordoned by configuration, ascending. Shared, never modified in place.
	Cordoned []int32
	// Dynamic are the dynamic values by broker, then name. Shared, never modified in place.
	Dynamic []DynamicValue

	// Scripted failures. Shared, never modified in place.
	Lagging  []Lag
	VoterLag []VoterLag
	Faults   []Fault
	// Unreachable makes all nodes of the cluster unreachable for clients.
	Unreachable bool
}

// Registration is the controller's record of a broker. It outlives the process.
type Registration struct {
	ID int32
	// Epoch is the broker epoch of the process that registered.
	Epoch int64
	// Binary is the release that registered. Its ranges count in a feature update.
	Binary int16
	Fenced bool
	// SessionEnds is when a broker without heartbeats is fenced, 0 while its process sends
	// heartbeats.
	SessionEnds int64
}

// ControllerRegistration is the quorum's record of a controller.
type ControllerRegistration struct {
	ID     int32
	Binary int16
}

// New returns a cluster without nodes. Its time starts at 1, because a time of 0 means never.
func New(id string, binaries []Binary, settings Settings) *Cluster {
	return &Cluster{ID: id, Settings: settings, Now: 1, Binaries: binaries, Leader: None}
}

// Format finalizes levels, as formatting the first storage does, without validating them.
func (c *Cluster) Format(levels ...FeatureLevel) {
	for _, l := range levels {
		c.finalize(l)
	}
}

// SetVoters sets the static quorum, which is controller.quorum.voters of every node.
func (c *Cluster) SetVoters(ids ...int32) {
	c.Voters = slices.Sorted(slices.Values(ids))
}

// Clone returns an independent copy.
func (c *Cluster) Clone() *Cluster {
	copied := *c
	copied.Nodes = slices.Clone(c.Nodes)
	copied.Registrations = slices.Clone(c.Registrations)
	copied.Partitions = slices.Clone(c.Partitions)
	return &copied
}

// Level is the finalized level of the feature, 0 if it is not finalized.
func (c *Cluster) Level(name string) int16 {
	for _, f := range c.Finalized {
		if f.Name == name {
			return f.Level
		}
	}
	return 0
}

// Node returns a copy of the node with the id, and false if there is none.
func (c *Cluster) Node(id int32) (Node, bool) {
	if i := c.nodeIndex(id); i >= 0 {
		return c.Nodes[i], true
	}
	return Node{}, false
}

// Registration returns the registration of the broker, and false if there is none.
func (c *Cluster) Registration(id int32) (Registration, bool) {
	if i := c.registrationIndex(id); i >= 0 {
		return c.Registrations[i], true
	}
	return Registration{}, false
}

func (c *Cluster) nodeIndex(id int32) int {
	for i := range c.Nodes {
		if c.Nodes[i].ID == id {
			return i
		}
	}
	return -1
}

func (c *Cluster) registrationIndex(id int32) int {
	for i := range c.Registrations {
		if c.Registrations[i].ID == id {
			return i
		}
	}
	return -1
}

func (c *Cluster) binaryIndex(version string) (int16, error) {
	for i := range c.Binaries {
		if c.Binaries[i].Version == version {
			return int16(i), nil
		}
	}
	return 0, fmt.Errorf("starting kafka %q: the cluster knows no such binary", version)
}

func (c *Cluster) binary(i int16) Binary { return c.Binaries[i] }
