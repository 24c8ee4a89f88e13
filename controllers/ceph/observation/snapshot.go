// Package observation observes a Ceph cluster: its objects in Kubernetes, and what Ceph reports.
package observation

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// LifecycleUpgrade is the name of the upgrade in the status.
const LifecycleUpgrade = "upgrade"

// Snapshot is what one reconcile observes.
type Snapshot struct {
	Now   time.Time
	Table *versions.Table
	// Record of the cluster, with its ConfigMap; nil without one.
	Record       *record.Record
	RecordObject *corev1.ConfigMap
	// Keys are the entries of the Secret with the keys; nil if there is none. They are secret.
	Keys map[string]string
	// KeysGone means that the Secret was deleted, or entries of it were: Keys are those that this process has read from it.
	KeysGone bool
	// Declared are the daemons of the spec. An OSD has its number if Ceph has assigned one.
	Declared []daemons.Daemon
	// Unused are the OSDs of the spec that were removed from Ceph, by the name that they had. They are not declared.
	Unused []daemons.Daemon
	// Waiting are the OSDs that Ceph has made and that wait until nothing is left of a removed one with their number, by slot.
	Waiting map[string]ceph.Daemon
	// Services of the monitors, Deployments and pods by daemon, claims by slot, and Jobs by the id of their image.
	Services    map[ceph.Daemon]*corev1.Service
	Deployments map[ceph.Daemon]*appsv1.Deployment
	Pods        map[ceph.Daemon]*corev1.Pod
	Claims      map[string]*corev1.PersistentVolumeClaim
	Detections  map[string]Detection
	// Budgets are the PodDisruptionBudgets by name.
	Budgets map[string]*policyv1.PodDisruptionBudget
	// Tools is the Deployment in whose pod commands are run, and ToolsPod its newest pod; nil without one.
	Tools    *appsv1.Deployment
	ToolsPod *corev1.Pod
	// Pulls are the Jobs that pull images to nodes, by the id of both.
	Pulls map[string]Pull
	// Outdated are the daemons whose Deployment differs from the desired one in more than the image.
	Outdated map[ceph.Daemon]bool
	// HostGone are the monitors whose pod cannot be scheduled since the host with their data does not exist any more.
	HostGone map[ceph.Daemon]bool
	// PodNames are all pods of the cluster.
	PodNames map[string]bool
	// Endpoint of the cluster.
	Endpoint connection.Endpoint
	// Selected is the daemon that the upgrade has selected.
	Selected ceph.Daemon
	// InFlight are the commands whose effect the readings may not show.
	InFlight external.InFlight
	// Progressing means that the upgrade has just begun to wait for Ceph: answers are read again sooner.
	Progressing bool

	Cluster    transitions.Fact[cephupgrade.Cluster]
	Health     transitions.Fact[ceph.Health]
	Permission transitions.Fact[ceph.OKToStop]
	Self       transitions.Fact[versions.Version]
	Memory     transitions.Fact[cephupgrade.Memory]
	Sessions   transitions.Fact[[]ceph.Session]
}

// Detection is a Job that detects the version of an image, with its pod.
type Detection struct {
	Job *batchv1.Job
	Pod *corev1.Pod
	// Absent means that a registry answered that it does not have the image.
	Absent bool
}

// Known returns the value of a fact, and false if it is not known or was not requested: a paused cluster is observed without Ceph.
func Known[T any](fact transitions.Fact[T]) (value T, known bool) {
	if fact.Asked() {
		return fact.Get()
	}
	return value, false
}

// Launched reports whether a daemon was ever launched.
func (s *Snapshot) Launched() bool {
	if s.Record == nil {
		return false
	}
	for _, d := range s.Record.Daemons {
		if d.Reference != "" {
			return true
		}
	}
	return false
}

// RecordLost reports whether the cluster has no record although parts of it exist: it was launched, and nothing is known of it.
func (s *Snapshot) RecordLost() bool {
	return s.Record == nil && len(s.Deployments)+len(s.Services)+len(s.Claims) > 0
}

// Founded reports whether a daemon has ever served. Before that the cluster has no data, and no other daemons than monitors.
func (s *Snapshot) Founded() bool {
	if s.Record == nil {
		return false
	}
	for _, d := range s.Record.Daemons {
		if d.Format == record.FormatDone {
			return true
		}
	}
	return false
}

// Find returns the declared daemon of the name, and false if the spec declares none.
func (s *Snapshot) Find(name ceph.Daemon) (daemons.Daemon, bool) {
	for _, d := range s.Declared {
		if d.Name == name {
			return d, true
		}
	}
	return daemons.Daemon{}, false
}

// resolve sets the numbers of OSDs: as recorded, or as the map shows them. A number that a removed OSD had is free once nothing is left of
// that OSD.
func (s *Snapshot) resolve() {
	if s.Record == nil {
		return
	}
	s.separate()
	numbers := map[string]string{}
	s.Waiting = map[string]ceph.Daemon{}
	if m, known := Known(s.Cluster); known {
		for _, o := range m.OSDs.OSDs {
			slot, ours := s.Record.Slot(o.UUID)
			if one, taken := s.Record.Daemons[o.Daemon().String()]; ours && (!taken || one.Slot == slot) {
				if s.Left(o.Daemon()) {
					s.Waiting[slot] = o.Daemon()
					continue
				}
				numbers[slot] = o.Daemon().ID
			}
		}
	}
	for _, name := range s.Record.Of(ceph.TypeOSD) {
		numbers[s.Record.Daemons[name.String()].Slot] = name.ID
	}
	for i := range s.Declared {
		if d := &s.Declared[i]; d.Name.Type == ceph.TypeOSD {
			d.Name.ID = numbers[d.Slot]
		}
	}
}

// separate takes the OSDs that were removed from Ceph out of the declared ones.
func (s *Snapshot) separate() {
	s.Declared = slices.DeleteFunc(s.Declared, func(d daemons.Daemon) bool {
		removed, is := s.Record.Removed[d.Slot]
		if is {
			d.Name = removed.Name()
			s.Unused = append(s.Unused, d)
		}
		return is
	})
}

// Left reports whether objects of an OSD exist that was removed from Ceph.
func (s *Snapshot) Left(osd ceph.Daemon) bool {
	if _, recorded := s.Record.Daemons[osd.String()]; recorded || s.Deployments[osd] == nil && s.Pods[osd] == nil {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(s.Record.Removed)), func(r record.Removed) bool { return r.OSD == osd.String() })
}
