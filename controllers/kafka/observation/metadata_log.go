package observation

import (
	"fmt"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/transitions"
)

// ReasonMetadataLogMoved: a pool declares another volume for the metadata log than the one on which it lies.
const ReasonMetadataLogMoved transitions.Reason = "MetadataLogMoved"

// MovedMetadataLog describes that the pool of the node declares another volume for its metadata log than the one on which it lies; nil if it
// does not, or if that is not known. Kafka does not move the log: a pod created from such a pool would find none. If the record permits
// formatting, there is no data to keep. A pod that has found its data missing does not say where the data lies.
func (v *Snapshot) MovedMetadataLog(n *Node) *transitions.Problem {
	pool := v.Pool(n.Pool)
	if pool == nil || !n.Recorded || n.Record.Format != record.FormatDone || n.Pod.Volumes.Lost != "" {
		return nil
	}
	have := n.Entry.MetadataLog
	if pod := Named(v.Objects.Pods, n.PodName); pod != nil {
		if log := render.MetadataLogOf(&pod.Spec); log.Known {
			have = log
		}
	}
	declared := render.DeclaredMetadataLog(&pool.Spec.Storage)
	if !have.Known || have == declared {
		return nil
	}
	return transitions.Problemf(ReasonMetadataLogMoved, "the metadata log of %s lies on %s, and KafkaNodePool %s declares %s for it", n.PodName, volumeOf(have), n.Pool, volumeOf(declared))
}

func volumeOf(log render.MetadataLog) string {
	if log.Persistent {
		return fmt.Sprintf("persistent volume %d", log.Volume)
	}
	return "an ephemeral volume"
}

// MovedMetadataLogs describes pools that declare another volume for the metadata logs of their nodes: the first node in full, and the number
// of the others. It is nil if there are none.
func MovedMetadataLogs(v *Snapshot) *transitions.Problem {
	problem, more := every(v, v.MovedMetadataLog)
	if problem == nil {
		return nil
	}
	return transitions.Problemf(problem.Reason, "%s%s, where a node that restarts would find none: mark the volume on which it lies with kraftMetadata: shared, or make another KafkaNodePool and move the data. Running nodes are not changed", problem.Message, more)
}
