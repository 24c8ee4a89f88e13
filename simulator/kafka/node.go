package kafka

import (
	"fmt"
	"slices"
)

// Process is where the process of a node stands.
type Process uint8

const (
	// Stopped: there is no process, because it was asked to end or never started.
	Stopped Process = iota
	// Starting: the process reads its logs.
	Starting
	// Joining: its controller takes part if it has one; its broker waits for the quorum,
	// or for the session of its predecessor to end.
	Joining
	// Running: every role it has takes part.
	Running
	// Dead: the process ended by itself, with LastWords.
	Dead
)

// String names the state for messages of tests and tools.
func (p Process) String() string {
	return [...]string{"stopped", "starting", "joining", "running", "dead"}[p]
}

// Node is a disk with an id, and the process on it.
type Node struct {
	ID int32
	// Binary is the release of the process, or of the last one.
	Binary int16
	// Host and Port that its broker advertises.
	Host string
	Port int32
	// ControllerPort is where its controller listens, on the same host; 0 when no name leads there.
	ControllerPort int32
	// Broker and Controller are the roles it was started with.
	Broker, Controller bool
	Process            Process
	// UpAt is when a starting process has read its logs.
	UpAt int64
	// SyncedAt is when a process that is up is level with the leaders.
	SyncedAt int64
	// Epoch is the broker epoch that the process holds, 0 for none.
	Epoch int64
	// CaughtUpTo is how far its metadata log goes, as the time of the newest record in
	// it, while it does not follow the leader.
	CaughtUpTo int64
	// Replays are the levels besides the finalized ones that its metadata log still
	// replays at a start. Shared, never written in place.
	Replays []FeatureLevel
	// Scripted says that it dies of them in any role.
	Scripted bool
	// SnapshotAt is when they are gone, 0 when that is not under way.
	SnapshotAt int64
	// SnapshotInterval its process was started with; negative for never.
	SnapshotInterval int64
	// Unreachable cuts it off from the administrator, though not from the other nodes.
	Unreachable bool
	// CutOff says that no controller of another node reaches it; Known is what its broker then goes on answering with.
	CutOff bool
	Known  *Outdated
	// LastWords are what a dead process said.
	LastWords string
}

// Start says what a process is started as.
type Start struct {
	Version            string
	Broker, Controller bool
	// Host and Port that its broker advertises.
	Host string
	Port int32
	// ControllerPort is where its controller listens, on the same host. Optional.
	ControllerPort int32
	// SnapshotInterval in milliseconds; 0 is the cluster's, negative is never.
	SnapshotInterval int64
}

// Up tells whether the node's process takes part in any role.
func (n Node) Up() bool { return n.Process == Joining || n.Process == Running }

// StartNode starts a process on the node's disk, making the disk when there is none:
// a new disk gets the log of the quorum as its leader has it. A process that is there
// already is refused.
func (c *Cluster) StartNode(id int32, start Start, now int64) error {
	c.Tick(now)
	binary, err := c.binaryIndex(start.Version)
	if err != nil {
		return err
	}
	i := c.nodeIndex(id)
	if i < 0 {
		i = c.addNode(id)
	}
	n := &c.Nodes[i]
	if n.Process != Stopped && n.Process != Dead {
		return fmt.Errorf("starting node %d: it is %s", id, n.Process)
	}
	if start.SnapshotInterval == 0 {
		start.SnapshotInterval = c.Settings.Snapshot
	}
	n.Binary, n.Broker, n.Controller = binary, start.Broker, start.Controller
	n.Host, n.Port, n.ControllerPort = start.Host, start.Port, start.ControllerPort
	n.SnapshotInterval = start.SnapshotInterval
	n.Process, n.UpAt, n.Epoch, n.LastWords = Starting, c.Now+c.Settings.Start, 0, ""
	c.Tick(now)
	return nil
}

func (c *Cluster) addNode(id int32) int {
	n := Node{ID: id, Replays: c.leaderReplays()}
	i := 0
	for i < len(c.Nodes) && c.Nodes[i].ID < id {
		i++
	}
	c.Nodes = slices.Insert(c.Nodes, i, n)
	return i
}

// WipeNode empties the disk of a node without a process: what it held is copied from
// the leaders when it starts again.
func (c *Cluster) WipeNode(id int32, now int64) error {
	c.Tick(now)
	i := c.nodeIndex(id)
	if i < 0 || c.Nodes[i].Process == Starting || c.Nodes[i].Up() {
		return fmt.Errorf("wiping node %d: it has a process, or no disk", id)
	}
	c.Nodes[i].CaughtUpTo = 0
	c.Nodes[i].Replays, c.Nodes[i].Scripted = c.leaderReplays(), false
	return nil
}

// StopNode ends the process as a controlled shutdown does: its broker hands over its
// partitions and is fenced at once. A node without a process stays as it is.
func (c *Cluster) StopNode(id int32, now int64) { c.end(id, now, true) }

// KillNode ends the process without a word: its broker is fenced when its session
// times out.
func (c *Cluster) KillNode(id int32, now int64) { c.end(id, now, false) }

func (c *Cluster) end(id int32, now int64, graceful bool) {
	c.Tick(now)
	i := c.nodeIndex(id)
	if i < 0 || c.Nodes[i].Process == Stopped || c.Nodes[i].Process == Dead {
		return
	}
	c.endProcess(&c.Nodes[i], Stopped, graceful)
	c.Tick(now)
}

// endProcess takes the process off its node and lets the rest of the cluster notice.
func (c *Cluster) endProcess(n *Node, as Process, graceful bool) {
	n.CaughtUpTo = c.caughtUpTo(n)
	n.Known = nil
	if r := c.registrationIndex(n.ID); r >= 0 && n.Epoch != 0 && c.Registrations[r].Epoch == n.Epoch {
		switch {
		case c.isolated(n): // its session ends since it was cut off
		case graceful && c.Leader != None:
			c.Registrations[r].Fenced = true
			c.settlePartitions()
		default:
			c.Registrations[r].SessionEnds = c.Now + c.Settings.Session
		}
	}
	n.Process, n.UpAt, n.SyncedAt, n.Epoch, n.SnapshotAt = as, 0, 0, 0, 0
	if n.ID == c.Leader {
		c.loseLeader()
	}
}

// die is the end of a process by its own doing.
func (c *Cluster) die(n *Node, words string) {
	c.endProcess(n, Dead, false)
	n.LastWords = words
}

// SetReachable connects the node with the administrator, or cuts it off.
func (c *Cluster) SetReachable(id int32, reachable bool) {
	if i := c.nodeIndex(id); i >= 0 {
		c.Nodes[i].Unreachable = !reachable
	}
}
