package kafka

import (
	"maps"
	"slices"
)

// LogDirs are the log directories of one broker, by DescribeLogDirs, which the broker
// answers from its own disks. The metadata log is not included.
type LogDirs struct {
	Broker int32    `json:"broker"`
	Dirs   []LogDir `json:"dirs"`
}

// LogDir is one log directory.
type LogDir struct {
	Path string `json:"path"`
	// Error is set if the broker cannot serve the directory. The contents of the directory
	// are then unknown.
	Error *Refused `json:"error,omitempty"`
	// Replicas is the number of partition replicas in the directory, including those being
	// moved into it.
	Replicas int `json:"replicas"`
	// First are the names of the first replicas, sorted, at most FirstReplicas.
	First []string `json:"first,omitempty"`
}

// FirstReplicas is the maximum number of replicas that are listed by name.
const FirstReplicas = 8

// Add counts a replica by name. Names must be added in order.
func (d *LogDir) Add(replica string) {
	d.Replicas++
	if len(d.First) < FirstReplicas {
		d.First = append(d.First, replica)
	}
}

// Empty reports whether the broker has at least one directory, could read all of them, and
// none holds a replica. A directory that the broker cannot read is not empty.
func (l LogDirs) Empty() bool {
	for _, d := range l.Dirs {
		if d.Error != nil || d.Replicas > 0 {
			return false
		}
	}
	return len(l.Dirs) > 0
}

// Clone returns a deep copy.
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

// Names of the broker configurations that guards and actions read.
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

// Configs are effective configuration values of one broker by name, for the names in
// ConfigNames. A name that the broker's binary does not know is absent.
type Configs map[string]string

// Clone returns a copy.
func (c Configs) Clone() Configs { return maps.Clone(c) }
