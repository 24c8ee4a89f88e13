// Package daemons lists the daemons that the spec of a Ceph cluster declares.
package daemons

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Daemon is one daemon that a spec declares.
type Daemon struct {
	// Name in Ceph. The number of an OSD is assigned by Ceph: its ID is empty here, and Slot identifies it.
	Name ceph.Daemon
	// Slot is the storage of an OSD: that of a volume claim, or of a directory on a host.
	Slot string
	// Claims is the set of volume claims of an OSD; nil for a directory.
	Claims *cephv1.VolumeClaims
	// Node and Path are the directory of an OSD.
	Node, Path string
	// Filesystem of a metadata server, and Store of a gateway.
	Filesystem, Store string
	// Port of a gateway.
	Port int32
}

// Of returns the daemons that the cluster declares, in the order of an upgrade.
func Of(c *cephv1.Cluster) (all []Daemon) {
	for i := range int(c.Spec.Mon.Count) {
		all = append(all, Daemon{Name: ceph.Daemon{Type: ceph.TypeMon, ID: letter(i)}})
	}
	for i := range int(c.Spec.Mgr.Count) {
		all = append(all, Daemon{Name: ceph.Daemon{Type: ceph.TypeMgr, ID: letter(i)}})
	}
	all = append(all, osds(&c.Spec.Storage)...)
	for i := range c.Spec.ObjectStores {
		s := &c.Spec.ObjectStores[i]
		for n := range int(s.Instances) {
			all = append(all, Daemon{Name: ceph.Daemon{Type: ceph.TypeRGW, ID: s.Name + "." + letter(n)}, Store: s.Name, Port: s.Port})
		}
	}
	for i := range c.Spec.Filesystems {
		f := &c.Spec.Filesystems[i]
		for n := range int(f.ActiveCount + f.StandbyCount) {
			all = append(all, Daemon{Name: ceph.Daemon{Type: ceph.TypeMDS, ID: f.Name + "-" + letter(n)}, Filesystem: f.Name})
		}
	}
	return all
}

func osds(s *cephv1.StorageSpec) (all []Daemon) {
	osd := ceph.Daemon{Type: ceph.TypeOSD}
	for i := range s.VolumeClaims {
		set := &s.VolumeClaims[i]
		for n := range int(set.Count) {
			all = append(all, Daemon{Name: osd, Slot: fmt.Sprintf("%s-%d", set.Name, n), Claims: set})
		}
	}
	for _, node := range s.Nodes {
		for _, d := range node.Directories {
			all = append(all, Daemon{Name: osd, Slot: directorySlot(node.Name, d.Path), Node: node.Name, Path: d.Path})
		}
	}
	return all
}

// directorySlot contains no character that the key of a Secret does not permit.
func directorySlot(node, path string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(node + "\n" + path))
	return fmt.Sprintf("dir-%016x", h.Sum64())
}

// letter returns a, b, ... z, aa, ab, ...
func letter(i int) string {
	text := string(rune('a' + i%26))
	if i < 26 {
		return text
	}
	return letter(i/26-1) + text
}

// ObjectName is the name of the Deployment of a daemon.
func ObjectName(cluster string, d ceph.Daemon) string {
	return cluster + "-" + string(d.Type) + "-" + strings.ReplaceAll(d.ID, ".", "-")
}
