package kafka

import (
	"fmt"
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// None is the id of no node and no binary.
const None = client.NoLeader

// Settings are the durations of a cluster, in milliseconds. They do not change while
// it runs and are no part of its hash.
type Settings struct {
	// Start is how long a process takes from its start until it takes part.
	Start int64
	// CatchUp is how long a process takes from then until its replicas and its metadata
	// log are level with the leaders.
	CatchUp int64
	// Session is how long a broker that fell silent stays unfenced: broker.session.timeout.ms.
	Session int64
	// Election is how long the quorum is without a leader once it lost one.
	Election int64
	// Snapshot is metadata.log.max.snapshot.interval.ms of processes started without one
	// of their own.
	Snapshot int64
}

// DefaultSettings are Kafka's defaults where it has them, and the times that small
// clusters were seen to take where it has none.
func DefaultSettings() Settings {
	return Settings{Start: 3_000, CatchUp: 1_000, Session: 9_000, Election: 1_000, Snapshot: 3_600_000}
}

// Cluster is one Kafka cluster. The zero value is not usable: see New. It is no more
// than a value: copies made with Clone live on independently.
type Cluster struct {
	ID       string
	Settings Settings
	// Now is the time that everything below is true at.
	Now int64
	// Binaries are the releases that nodes may run. Shared, never written.
	Binaries []Binary

	// Nodes by id. Owned.
	Nodes []Node
	// Voters of the static quorum, ascending. Shared, never written in place.
	Voters []int32
	// Leader of the quorum, None while there is none; then ElectionAt is when one is
	// chosen, 0 when no majority is up to choose.
	Leader      int32
	LeaderEpoch int32
	ElectionAt  int64

	// Finalized levels above 0 by name, and their epoch. Shared, never written in place.
	Finalized    []FeatureLevel
	FeatureEpoch int64
	// Registrations of brokers by id. Owned.
	Registrations []Registration
	// Controllers that ever registered, by id: nothing removes one. Shared, never
	// written in place.
	Controllers []ControllerRegistration
	// LastEpoch is the newest broker epoch given out.
	LastEpoch int64

	// Partitions by topic, then index. Owned; the replicas in them are shared.
	Partitions []Partition

	// What is scripted. Shared, never written in place.
	Lagging  []Lag
	VoterLag []VoterLag
	Faults   []Fault
	// Unreachable cuts the whole cluster off from its administrator.
	Unreachable bool
}

// Registration is what the controller remembers of a broker. It outlives the process.
type Registration struct {
	ID int32
	// Epoch is the broker epoch of the process that registered.
	Epoch int64
	// Binary is the release that registered, and with it the ranges that count.
	Binary int16
	Fenced bool
	// SessionEnds is when a silent broker is fenced, 0 while its process is heard.
	SessionEnds int64
}

// ControllerRegistration is what the quorum remembers of a controller.
type ControllerRegistration struct {
	ID     int32
	Binary int16
}

// New returns a cluster without nodes. Its time starts at 1, since a time of 0 stands
// for never.
func New(id string, binaries []Binary, settings Settings) *Cluster {
	return &Cluster{ID: id, Settings: settings, Now: 1, Binaries: binaries, Leader: None}
}

// Format finalizes levels as formatting the first storage does, without asking anyone.
func (c *Cluster) Format(levels ...FeatureLevel) {
	for _, l := range levels {
		c.finalize(l)
	}
}

// SetVoters names the static quorum, as controller.quorum.voters of every node does.
func (c *Cluster) SetVoters(ids ...int32) {
	c.Voters = slices.Sorted(slices.Values(ids))
}

// Clone returns a copy that lives on independently.
func (c *Cluster) Clone() *Cluster {
	copied := *c
	copied.Nodes = slices.Clone(c.Nodes)
	copied.Registrations = slices.Clone(c.Registrations)
	copied.Partitions = slices.Clone(c.Partitions)
	return &copied
}

// Level is the finalized level of the feature, 0 when it is not finalized.
func (c *Cluster) Level(name string) int16 {
	for _, f := range c.Finalized {
		if f.Name == name {
			return f.Level
		}
	}
	return 0
}

// Node returns the node of the id, as it is now.
func (c *Cluster) Node(id int32) (Node, bool) {
	if i := c.nodeIndex(id); i >= 0 {
		return c.Nodes[i], true
	}
	return Node{}, false
}

// Registration returns the registration of the broker, if it has one.
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
