package simulator

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// disk is one log directory of a node and its contents. It is deleted with its claim, or with its pod if it has no
// claim.
type disk struct {
	claim, pod types.UID
	// dir distinguishes the disks of one claim or pod.
	dir  string
	node int32
	// clusterID is the cluster that it was formatted for, empty while it has no meta.properties.
	clusterID string
	// votes is true if it holds the metadata log of a controller. log is true once the log was started.
	votes, log bool
	// formatted is the level of metadata.version with which it was formatted.
	formatted int16
}

func (d *disk) compare(other *disk) int {
	return cmp.Or(cmp.Compare(d.claim, other.claim), cmp.Compare(d.pod, other.pod), cmp.Compare(d.dir, other.dir))
}

// disk returns the disk of the directory. It creates an empty one if there is none. The pointer is valid until the
// next call.
func (c *Cluster) disk(wanted disk) *disk {
	i, found := slices.BinarySearchFunc(c.disks, wanted, func(d, wanted disk) int { return d.compare(&wanted) })
	if !found {
		c.disks = slices.Insert(c.disks, i, wanted)
	}
	return &c.disks[i]
}

// diskAt returns the disk that backs a directory of the pod.
func (c *Cluster) diskAt(pod *corev1.Pod, mounts kubelet.Mounts, n *node, dir string) *disk {
	wanted := disk{pod: pod.UID, dir: dir, node: n.id}
	if claim, ok := mounts.Claim(volumeAt(pod, dir)); ok {
		wanted.claim, wanted.pod = claim.UID, ""
	}
	return c.disk(wanted)
}

// volumeAt returns the volume that the Kafka container mounts at the directory or at its nearest parent directory.
func volumeAt(pod *corev1.Pod, dir string) string {
	volume, length := "", -1
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name != kafkaContainer {
			continue
		}
		for _, m := range pod.Spec.Containers[i].VolumeMounts {
			if (dir == m.MountPath || strings.HasPrefix(dir, m.MountPath+"/")) && len(m.MountPath) > length {
				volume, length = m.Name, len(m.MountPath)
			}
		}
	}
	return volume
}

// drop deletes disks. A node without its metadata log starts as a new node.
func (s *State) drop(c *Cluster, gone func(*disk) bool) {
	c.disks = slices.DeleteFunc(c.disks, func(d disk) bool {
		if !gone(&d) {
			return false
		}
		if d.log {
			_ = c.Kafka.WipeNode(d.node, s.Now) // it has no process any more, or never had a log
		}
		return true
	})
}

// DiskGone deletes the disks on the volume of a claim that was removed.
func (s *State) DiskGone(claim types.UID) {
	for _, c := range s.clusters {
		s.drop(c, func(d *disk) bool { return d.claim == claim })
	}
}
