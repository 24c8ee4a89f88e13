package facts

import (
	"cmp"
	"fmt"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// moveApproval is the value of the annotation for one OSD and one node. It has the UUID of the OSD: another OSD may get its number.
func moveApproval(s *observation.Snapshot, osd daemons.Daemon, node string) string {
	return fmt.Sprintf("crush-host=%s/%s", s.Record.OSDs[osd.Slot], node)
}

// MoveTo returns the node that becomes the host in CRUSH of an OSD on a volume claim, and false if that is not approved: the OSD serves there, and
// has another host. A node on which it does not run is not accepted: a name with an error would be a host of its own.
func MoveTo(c *cephv1.Cluster, s *observation.Snapshot, osd daemons.Daemon) (string, bool) {
	if s.Record == nil {
		return "", false
	}
	node, host := servesOn(s, osd.Name), crushHost(s, osd)
	return node, osd.Claims != nil && host != "" && node != "" && node != host && c.Annotations[labels.Approve] == moveApproval(s, osd, node)
}

// SharedHosts says which OSDs on volume claims are moved in CRUSH when they start next, and which share a host there.
func SharedHosts(c *cephv1.Cluster, s *observation.Snapshot) []string {
	if s.Record == nil {
		return nil
	}
	return append(moving(s), shared(c, s)...)
}

// moving names the OSDs whose other host in CRUSH was approved, while the container still runs that ran then: it has the host of before.
func moving(s *observation.Snapshot) (texts []string) {
	for _, d := range s.Declared {
		one, pod := s.Record.Daemons[d.Name.String()], s.Pods[d.Name]
		if pod == nil || one.BeforeMove.IsZero() || !observation.StartedAt(pod).Equal(one.BeforeMove) {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s moves to the host %s of CRUSH, with its data, when its pod starts next: delete the pod %s while Ceph is healthy", d.Name, one.CrushHost, pod.Name))
	}
	return texts
}

// shared says which OSDs on volume claims share a host in CRUSH although they serve on other nodes, which are no host of any OSD, and how they are
// moved. They first served on one node. It is empty if there are enough hosts for the copies of each pool, or one for each node: an OSD that moves
// with a drain keeps its host. It is also empty while Ceph is not read.
func shared(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	m, known := observation.Known(s.Cluster)
	if !known {
		return nil
	}
	of, nodes := map[string]int{}, map[string]bool{}
	for _, d := range s.Declared {
		if host := crushHost(s, d); d.Name.Type == ceph.TypeOSD && host != "" {
			of[host]++
			if node := servesOn(s, d.Name); node != "" {
				nodes[node] = true
			}
		}
	}
	need := copies(c, &m)
	if len(of) >= min(need, len(nodes)) {
		return nil
	}
	for _, d := range s.Declared {
		host, node := crushHost(s, d), servesOn(s, d.Name)
		if d.Claims == nil || host == "" || node == "" || of[host] < 2 || of[node] > 0 {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s runs on %s, and is in the host %s of CRUSH with other OSDs, where it first served: hosts in CRUSH %d, copies of a pool %d. "+
			"To move it to the host %[2]s, with its data, approve that with %[6]s, and delete its pod when this Warning asks for that",
			d.Name, node, host, len(of), need, approveCommand(c, moveApproval(s, d, node))))
	}
	return texts
}

// copies is the greatest number of copies that a pool keeps, each on another host in CRUSH. Without a pool it is that of a new one.
func copies(c *cephv1.Cluster, m *cephupgrade.Cluster) int {
	return cmp.Or(m.OSDs.Copies, render.Copies(c))
}

// crushHost is the host in CRUSH of an OSD: its node if it is on a directory, and the recorded one on a volume claim; empty if none is recorded.
func crushHost(s *observation.Snapshot, osd daemons.Daemon) string {
	if osd.Claims == nil {
		return osd.Node
	}
	return s.Record.Daemons[osd.Name.String()].CrushHost
}

// servesOn is the node of the ready pod of a daemon; empty without one.
func servesOn(s *observation.Snapshot, name ceph.Daemon) string {
	pod := s.Pods[name]
	if pod == nil || pod.DeletionTimestamp != nil || !observation.Ready(pod) {
		return ""
	}
	return pod.Spec.NodeName
}
