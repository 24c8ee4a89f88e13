package kafka

import (
	"maps"
	"slices"
)

// LogDirs are the log directories of one broker, by DescribeLogDirs, which the broker
// itself answers from its disks. The metadata log is not among them.
type LogDirs struct {
	Broker int32    `json:"broker"`
	Dirs   []LogDir `json:"dirs"`
}

// LogDir is one directory.
type LogDir struct {
	Path string `json:"path"`
	// Error is set when the broker cannot serve the directory, which says nothing about
	// what is on it.
	Error *Refused `json:"error,omitempty"`
	// Replicas is how many partition replicas lie in it, those being moved here included.
	Replicas int `json:"replicas"`
	// First are some of them by name, sorted, at most FirstReplicas.
	First []string `json:"first,omitempty"`
}

// FirstReplicas bounds how many replicas of a directory are named.
const FirstReplicas = 8

// Add counts a replica by name. Names are expected in order.
func (d *LogDir) Add(replica string) {
	d.Replicas++
	if len(d.First) < FirstReplicas {
		d.First = append(d.First, replica)
	}
}

// Empty says that the broker answered for every directory, has at least one, and none
// of them holds a replica. A directory it cannot read is not empty.
func (l LogDirs) Empty() bool {
	for _, d := range l.Dirs {
		if d.Error != nil || d.Replicas > 0 {
			return false
		}
	}
	return len(l.Dirs) > 0
}

// Clone returns a copy that shares nothing with l.
func (l LogDirs) Clone() LogDirs {
	l.Dirs = slices.Clone(l.Dirs)
	for i := range l.Dirs {
		d := &l.Dirs[i]
		d.First = slices.Clone(d.First)
		if d.Error != nil {
			e := *d.Error
			d.Error = &e
		}
	}
	return l
}

// Names of broker configurations that guards and actions read.
const (
	ConfigSnapshotInterval   = "metadata.log.max.snapshot.interval.ms"
	ConfigQuorumFetchTimeout = "controller.quorum.fetch.timeout.ms"
	ConfigSessionTimeout     = "broker.session.timeout.ms"
	ConfigCordonedLogDirs    = "cordoned.log.dirs"
	ConfigMinISR             = "min.insync.replicas"
)

// ConfigNames lists the configurations that BrokerConfigs reads.
func ConfigNames() []string {
	return []string{ConfigSnapshotInterval, ConfigQuorumFetchTimeout, ConfigSessionTimeout, ConfigCordonedLogDirs, ConfigMinISR}
}

// Configs are effective configuration values of one broker by name, of the names in
// ConfigNames. A name that its binary does not know is absent.
type Configs map[string]string

// Clone returns a copy.
func (c Configs) Clone() Configs { return maps.Clone(c) }
