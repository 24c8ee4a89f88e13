package simulator

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// disk is one directory of a node's data and what lies in it. It goes with its claim, or with its pod if it has none.
type disk struct {
	claim, pod types.UID
	// dir tells the disks of one claim or pod apart.
	dir  string
	node int32
	// clusterID it was formatted for, empty while it has no meta.properties.
	clusterID string
	// votes says that it holds the metadata log of a controller, log that the log was begun.
	votes, log bool
}

func (d *disk) compare(other *disk) int {
	return cmp.Or(cmp.Compare(d.claim, other.claim), cmp.Compare(d.pod, other.pod), cmp.Compare(d.dir, other.dir))
}

// disk of the directory, made empty when there is none. The pointer holds until the next call.
func (c *Cluster) disk(wanted disk) *disk {
	i, found := slices.BinarySearchFunc(c.disks, wanted, func(d, wanted disk) int { return d.compare(&wanted) })
	if !found {
		c.disks = slices.Insert(c.disks, i, wanted)
	}
	return &c.disks[i]
}

// diskAt is the disk that a directory of the pod lies on.
func (c *Cluster) diskAt(pod *corev1.Pod, mounts kubelet.Mounts, n *node, dir string) *disk {
	wanted := disk{pod: pod.UID, dir: dir, node: n.id}
	if claim, ok := mounts.Claim(volumeAt(pod, dir)); ok {
		wanted.claim, wanted.pod = claim.UID, ""
	}
	return c.disk(wanted)
}

// volumeAt is the volume that the Kafka container has mounted at the directory or the nearest one above it.
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

// drop takes disks away. A node without its metadata log begins as a new one.
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

// DiskGone takes away what lay on the volume of a claim that was removed.
func (s *State) DiskGone(claim types.UID) {
	for _, c := range s.clusters {
		s.drop(c, func(d *disk) bool { return d.claim == claim })
	}
}
