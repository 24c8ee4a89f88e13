package kafka

import (
	"fmt"
	"slices"
)

// Process is the state of a node's process.
type Process uint8

const (
	// Stopped: there is no process. It was stopped, or never started.
	Stopped Process = iota
	// Starting: the process replays its logs.
	Starting
	// Joining: its controller takes part in the quorum, if it has one. Its broker waits for a quorum leader, or for
	// the session of the previous process to end.
	Joining
	// Running: all its roles take part in the cluster.
	Running
	// Dead: the process exited with LastWords.
	Dead
)

// String returns the name of the state, for messages of tests and tools.
func (p Process) String() string {
	return [...]string{"stopped", "starting", "joining", "running", "dead"}[p]
}

// Node is the disk of a node id, and its process.
type Node struct {
	ID int32
	// Binary is the release of the current process, or of the last one.
	Binary int16
	// Host and Port are advertised by its broker.
	Host string
	Port int32
	// ControllerPort is the port of its controller on the same host; 0 if clients cannot reach it by name.
	ControllerPort int32
	// Broker and Controller are the roles that it was started with.
	Broker, Controller bool
	Process            Process
	// UpAt is when a starting process has replayed its logs.
	UpAt int64
	// SyncedAt is when a process that is up has caught up with the leaders.
	SyncedAt int64
	// Epoch is the broker epoch that the process holds, 0 if none.
	Epoch int64
	// CaughtUpTo is the time of the newest record in its metadata log, while it does not follow the leader.
	CaughtUpTo int64
	// Replays are the levels that its metadata log replays at a start, in addition to the finalized ones. Shared,
	// never modified in place.
	Replays []FeatureLevel
	// Scripted is true if it exits because of Replays in any role.
	Scripted bool
	// SnapshotAt is when a snapshot removes Replays, 0 if none is scheduled.
	SnapshotAt int64
	// SnapshotInterval of its process, in milliseconds; negative for never.
	SnapshotInterval int64
	// Formatted is the level of metadata.version with which its storage was formatted, which each start reads; 0 if it is not known.
	Formatted int16
	// Static are the values that its process was started with. Shared, never modified in place.
	Static []ConfigValue
	// Unreachable makes it unreachable for clients, but not for the other nodes.
	Unreachable bool
	// CutOff is true if it cannot reach the controllers of other nodes. Known is the stale metadata with which its
	// broker then answers.
	CutOff bool
	Known  *Outdated
	// LastWords are the last log lines of a dead process.
	LastWords string
}

// Start describes the process to start.
type Start struct {
	Version            string
	Broker, Controller bool
	// Host and Port are advertised by its broker.
	Host string
	Port int32
	// ControllerPort is the port of its controller on the same host. Optional; default: clients cannot reach the
	// controller.
	ControllerPort int32
	// SnapshotInterval in milliseconds; 0 is the cluster's setting, negative is never.
	SnapshotInterval int64
	// Formatted is the level of metadata.version with which its storage was formatted; 0 if it is not known.
	Formatted int16
	// Static are values of configurations, by StaticValues. Optional.
	Static []ConfigValue
}

// Up reports whether the node's process takes part in the cluster in any role.
func (n Node) Up() bool { return n.Process == Joining || n.Process == Running }

// StartNode starts a process on the node's disk. If there is no disk, it creates one with a copy of the leader's log.
// It fails if the node already has a process or if the cluster has no binary of the version.
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
	n.SnapshotInterval, n.Formatted, n.Static = start.SnapshotInterval, start.Formatted, start.Static
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

// WipeNode erases the disk of a node without a process. The node copies the data from the leaders when it starts
// again. It fails if the node has a process or no disk.
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

// StopNode ends the process with a controlled shutdown: its broker moves the leadership of its partitions and is
// fenced at once. It does nothing for a node without a process.
func (c *Cluster) StopNode(id int32, now int64) { c.end(id, now, true) }

// KillNode kills the process: its broker is fenced when its session times out.
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

// endProcess removes the process from its node and updates the rest of the cluster.
func (c *Cluster) endProcess(n *Node, as Process, graceful bool) {
	n.CaughtUpTo = c.caughtUpTo(n)
	n.Known = nil
	if r := c.registrationIndex(n.ID); r >= 0 && n.Epoch != 0 && c.Registrations[r].Epoch == n.Epoch {
		switch {
		case c.isolated(n): // its session timeout runs since it was cut off
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

// die ends a process that exits because of an error.
func (c *Cluster) die(n *Node, words string) {
	c.endProcess(n, Dead, false)
	n.LastWords = words
}

// SetReachable makes the node reachable for clients, or unreachable.
func (c *Cluster) SetReachable(id int32, reachable bool) {
	if i := c.nodeIndex(id); i >= 0 {
		c.Nodes[i].Unreachable = !reachable
	}
}
