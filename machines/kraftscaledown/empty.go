package kraftscaledown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// empty reports whether the broker holds no replica, by the metadata and by its own directories. What may not be read is unknown,
// never empty. Only the metadata shows that a broker that is down was drained, or that one that never started holds nothing. Nor can a
// directory be read that the broker has taken offline after an error of its disk: the metadata lists the replicas in it.
func (f *Facts) empty(n *Node) transitions.Verdict {
	if f.skips() {
		return transitions.Allow()
	}
	if assigned := f.unassigned(n); assigned.Answer == transitions.No {
		return transitions.Deny(assigned.Observed + f.first(n.ID))
	} else if assigned.Answer == transitions.Unknown {
		return assigned
	}
	all, known := f.LogDirs.Get()
	if !known {
		return f.LogDirs.Gap()
	}
	dirs, answered := all[n.ID]
	for _, d := range dirs.Dirs {
		switch {
		case d.Error != nil && d.Error.Code == kafka.CodeKafkaStorageError:
		case d.Error != nil:
			return transitions.Verdict{Observed: fmt.Sprintf("%s cannot read its directory %s: %s. %s", n.Pod, d.Path, d.Error.Error(), unreadableRemedy)}
		case d.Replicas > 0:
			return transitions.Deny(fmt.Sprintf("%s still has %d replicas on its disks%s", n.Pod, d.Replicas, f.first(n.ID)))
		}
	}
	if (!answered || len(dirs.Dirs) == 0) && !(f.Drain && f.down(n)) && !f.neverStarted(n) {
		return transitions.Verdict{Observed: n.Pod + " does not report what its disks hold"}
	}
	return transitions.Allow()
}

// unreadableRemedy is what a user can do about a directory that cannot be read.
const unreadableRemedy = "Repair it, or grant the operator the right to describe it. To remove the broker without this evidence, set strimzi.io/skip-broker-scaledown-check and no detent.dev/drain"

// unassigned reports whether no partition has a replica on the broker, by the metadata.
func (f *Facts) unassigned(n *Node) transitions.Verdict {
	if f.skips() {
		return transitions.Allow()
	}
	partitions, known := f.Partitions.Get()
	if !known {
		return f.Partitions.Gap()
	}
	held := partitions.Replicas[n.ID]
	return transitions.If(held == 0, fmt.Sprintf("%s holds replicas of %d partitions", n.Pod, held))
}

// first names the first replicas on the broker's disks, if they are known.
func (f *Facts) first(id int32) string {
	all, known := f.LogDirs.Get()
	if !known {
		return ""
	}
	var names []string
	for _, d := range all[id].Dirs {
		names = append(names, d.First...)
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	const shown = 3
	return ": " + strings.Join(names[:min(shown, len(names))], ", ")
}
