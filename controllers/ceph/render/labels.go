// Package render creates the Kubernetes objects of a Ceph cluster. It is a pure function of the desired state and of the record: it sends
// no requests and reads no clock.
//
// The pods run plain images of Ceph. Everything that prepares a daemon happens in init containers of the same image.
package render

import (
	"maps"

	"github.com/detent-dev/detent/clients/ceph"
)

// Labels and annotations.
const (
	// LabelCluster is the name of the Cluster, on everything that belongs to it.
	LabelCluster = "ceph.rook.io/cluster"
	// LabelType and LabelID identify a daemon.
	LabelType = "ceph_daemon_type"
	LabelID   = "ceph_daemon_id"
	// LabelImage on a Job and its pod identifies the image whose version is detected.
	LabelImage = "detent.dev/image"
	// LabelPlacement on such a Job and its pod identifies the placement of the pod, if the spec has one: with another one it is another Job.
	LabelPlacement = "detent.dev/placement"
	// LabelPull on a Job and its pod identifies the image that is pulled, the node, and what its pod tolerates.
	LabelPull = "detent.dev/pull"
	// LabelSlot on a claim is the storage of an OSD.
	LabelSlot = "detent.dev/slot"
	// Template on a Deployment is a hash of the pod template that it was last given, without the image.
	Template = "detent.dev/template"
	// Revision on a pod identifies the template that it is of, with the image.
	Revision = "detent.dev/revision"
	// NewestVersion on a Deployment is the newest version that the daemon was ever started on.
	NewestVersion = "detent.dev/newest-version"
	// Withdrawn on a Deployment is the resourceVersion that it had when a change was recorded that is made no more.
	Withdrawn = "detent.dev/withdrawn-change-of"

	labelApp       = "app"
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "detent"
)

// Labels are on everything that belongs to a cluster.
func Labels(cluster string) map[string]string {
	return map[string]string{LabelCluster: cluster, labelManagedBy: managedBy}
}

// selector selects the pods of a daemon. It cannot be changed.
func selector(cluster string, d ceph.Daemon) map[string]string {
	return map[string]string{labelApp: "rook-ceph-" + string(d.Type), LabelCluster: cluster, LabelType: string(d.Type), LabelID: d.ID}
}

func daemonLabels(cluster string, d ceph.Daemon) map[string]string {
	out := Labels(cluster)
	maps.Copy(out, selector(cluster, d))
	return out
}

// DaemonOf returns the daemon that labels identify, and false if they identify none.
func DaemonOf(labels map[string]string) (ceph.Daemon, bool) {
	d := ceph.Daemon{Type: ceph.Type(labels[LabelType]), ID: labels[LabelID]}
	return d, d.Type != "" && d.ID != ""
}
