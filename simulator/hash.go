package simulator

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// AppendCanonical appends everything that determines the further behaviour of the world, with times in steps of grain
// milliseconds: see kafka.Cluster.AppendCanonical and kubelet.Pods.AppendCanonical. It omits Script: compare only
// worlds with the same script.
func (s *State) AppendCanonical(dst []byte, grain int64) []byte {
	dst = s.pods.AppendCanonical(dst, s.Now, grain)
	for _, c := range s.clusters {
		dst = append(append(append(dst, c.Namespace...), '/'), c.Name...)
		dst = append(dst, 0)
		dst = c.Kafka.AppendCanonical(dst, grain)
		for i := range c.seats {
			dst = append(dst, byte(c.seats[i].id), bit(s.exists(c, &c.seats[i])))
		}
		dst = c.appendDisks(dst)
		dst = append(dst, bit(c.created))
	}
	return dst
}

// appendDisks appends the disks by node and directory. The pods determine which claim or pod a disk belongs to.
func (c *Cluster) appendDisks(dst []byte) []byte {
	lines := make([]string, 0, len(c.disks))
	for i := range c.disks {
		d := &c.disks[i]
		line := append([]byte{byte(d.node)}, d.dir...)
		line = append(append(line, 0), d.clusterID...)
		lines = append(lines, string(append(line, 0, bit(d.claim != ""), bit(d.votes), bit(d.log))))
	}
	slices.Sort(lines)
	for _, line := range lines {
		dst = append(dst, line...)
	}
	return dst
}

// exists reports whether the pod of the seat is still known, under any name.
func (s *State) exists(c *Cluster, at *seat) bool {
	return slices.ContainsFunc(s.pods.All(), func(p kubelet.Pod) bool { return p.UID == at.pod && p.Namespace == c.Namespace })
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

// Hash returns a number that is the same for equal worlds.
func (s *State) Hash() uint64 { return xxhash.Sum64(s.AppendCanonical(nil, 1)) }
