package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/transitions"
)

// Reasons why the lost data of a monitor is not made again.
const (
	reasonNotReadable   transitions.Reason = "NotReadable"
	reasonStillInQuorum transitions.Reason = "StillInQuorum"
	reasonNoQuorum      transitions.Reason = "NoQuorum"
	reasonNoMajority    transitions.Reason = "NoMajorityOfLaunched"
)

// approveCommand sets the annotation.
func approveCommand(c *cephv1.Cluster, value string) string {
	return "kubectl annotate clusters.ceph.rook.io " + c.Name + " -n " + c.Namespace + " --overwrite " + labels.Approve + "=" + value
}

const approveFormat = "format-storage="

// Loss is a monitor or an OSD whose data was lost after it had served, or a monitor that was launched, was never seen to serve, and whose host
// is gone.
type Loss struct {
	Daemon daemons.Daemon
	// NeverServed means that it was not seen to serve on its host. It may have been in a quorum for a moment, so that a move of it is approved, too.
	NeverServed bool
	// Node on which its pod is, or was.
	Node string
	// HostGone is true for a monitor whose host does not exist any more. Its data is made again on another one.
	HostGone bool
	// Since is when the loss was last found. What Ceph reported before is no evidence.
	Since time.Time
	// Approval is the value of the annotation that approves to make the data again; empty for an OSD.
	Approval string
}

// Losses returns the daemons whose data was lost, in the order of their declaration. That is positive evidence alone: the record forbids to
// make the data, and the init container found none, or the host that has it, or is to have it, was deleted from Kubernetes.
func Losses(s *observation.Snapshot) (out []Loss) {
	if s.Record == nil {
		return nil
	}
	for _, d := range s.Declared {
		one := s.Record.Daemons[d.Name.String()]
		pod, of := s.Pods[d.Name], s.Deployments[d.Name]
		never := one.Format == record.FormatAllowed
		if one.Format == "" || never && !s.HostGone[d.Name] || pod == nil || of == nil || pod.DeletionTimestamp != nil || !render.Current(pod, of) {
			continue
		}
		l := Loss{Daemon: d, NeverServed: never, Node: pod.Spec.NodeName}
		if end := foundNothing(pod); end != nil && !never {
			l.Since = end.FinishedAt.Time
		} else if s.HostGone[d.Name] {
			l.Node, l.HostGone, l.Since = one.Node, true, pod.CreationTimestamp.Time
		} else {
			continue
		}
		if d.Name.Type == ceph.TypeMon {
			l.Approval = fmt.Sprintf("%s%s/%d", approveFormat, d.Name, one.Remade+1)
		}
		out = append(out, l)
	}
	return out
}

// foundNothing returns the last end of the init container that makes the data if it found that the data is gone; nil otherwise.
func foundNothing(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	at := slices.IndexFunc(pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == render.FormatContainer })
	if at < 0 {
		return nil
	}
	status := &pod.Status.InitContainerStatuses[at]
	end := status.State.Terminated
	if end == nil {
		end = status.LastTerminationState.Terminated
	}
	if end == nil || end.ExitCode != render.ExitStorage || !strings.HasPrefix(strings.TrimSpace(end.Message), render.StorageLostMarker) {
		return nil
	}
	return end
}

// Remake reports whether the lost data of a monitor may be made again: that is approved, and a quorum without the monitor holds
// everything, by a reading since the loss.
func Remake(c *cephv1.Cluster, s *observation.Snapshot, l *Loss) bool {
	m, known := observation.Known(s.Cluster)
	// The maps may show for some seconds a monitor that has ended.
	recent := known && !s.Cluster.At().Before(l.Since.Add(mapsSettle))
	return recent && l.Approval != "" && c.Annotations[labels.Approve] == l.Approval && alone(s, &m.Quorum, l.Daemon.Name.ID) == nil
}

// mapsSettle is how long the maps may show a monitor that has ended.
const mapsSettle = 10 * time.Second

// alone is why the other monitors are no quorum that holds everything; nil if they are one. A quorum is a majority of all monitors: each
// later majority contains one that holds what was committed. A monitor that was removed from the cluster joins it as a new one does. It knows
// the monitors that were launched, of which those that serve have to be a majority, too: others that were removed could elect each other.
func alone(s *observation.Snapshot, q *ceph.Quorum, lost string) *transitions.Problem {
	launched := slices.DeleteFunc(s.Record.Of(ceph.TypeMon), func(m ceph.Daemon) bool { return s.Record.Daemons[m.String()].Reference == "" })
	switch {
	case slices.Contains(q.Members, lost):
		return transitions.Problemf(reasonStillInQuorum, "mon.%s still counts as one of the quorum", lost)
	case 2*len(q.Members) <= len(q.Monitors):
		return transitions.Problemf(reasonNoQuorum, "the other monitors are no quorum")
	case !slices.Contains(q.Monitors, lost) && 2*len(q.Members) <= len(launched):
		return transitions.Problemf(reasonNoMajority, "mon.%s was removed from the cluster, and those that are left are no majority of the monitors that were launched", lost)
	}
	return nil
}

// Remedy says what was lost and what can be done.
func (l *Loss) Remedy(c *cephv1.Cluster, s *observation.Snapshot) string {
	name := l.Daemon.Name
	storage := render.Storage(c, s.Record, l.Daemon, l.Node)
	var text string
	back := "Bring it back with its data; or, if it is gone for good, "
	switch {
	case l.NeverServed:
		text = fmt.Sprintf("%s cannot run: the host %s, on which it was launched, does not exist any more. ", name, l.Node)
		back = "Bring it back; or, if it is gone for good, "
	case l.HostGone:
		text = fmt.Sprintf("%s cannot run: the host %s does not exist any more, which has its data in %s. ", name, l.Node, storage)
	case l.Daemon.Claims != nil:
		text = fmt.Sprintf("%s on %s has lost its data: nothing is left in %s. ", name, l.Node, storage)
	default:
		text = fmt.Sprintf("%s has lost its data: nothing is left in %s. ", name, storage)
	}
	text += back
	if name.Type == ceph.TypeOSD {
		return text + "remove the OSD with ceph osd purge " + name.ID + " --yes-i-really-mean-it once the placement groups are complete without it: a new OSD takes its place"
	}
	if why := l.refusal(s); why != nil {
		return text + "bring back the others first: the data is made again only against a quorum of them, and " + why.Message
	}
	if l.HostGone {
		return text + "approve to make the data again on another host, from the other monitors: " + approveCommand(c, l.Approval)
	}
	return text + "approve to make it again from the other monitors: " + approveCommand(c, l.Approval)
}

// refusal is why the data of a monitor cannot be made again; nil if that is possible or will be known in a moment.
func (l *Loss) refusal(s *observation.Snapshot) *transitions.Problem {
	m, known := observation.Known(s.Cluster)
	switch {
	case !s.Cluster.Asked(): // while the cluster is paused
		return nil
	case !known:
		return transitions.Problemf(reasonNotReadable, "Ceph does not answer")
	case s.Cluster.At().Before(l.Since.Add(mapsSettle)):
		return nil
	}
	return alone(s, &m.Quorum, l.Daemon.Name.ID)
}
