package facts

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Availability returns which daemons are available, from a live snapshot. A stopped metadata server is no member: the upgrade stops it as
// a standby of the filesystem whose active one is replaced. It stops no daemon of another type: an administrator did, and the daemon is
// missing. A gateway that does not start is a member for other gateways alone, and an OSD that has never served for itself alone: no daemon
// of Ceph depends on them, and the upgrade may be what repairs them.
func Availability(_ *cephv1.Cluster, s *observation.Snapshot) lifecycle.Availability {
	var out lifecycle.Availability
	if !s.Launched() {
		return out
	}
	for _, d := range Daemons(s) {
		if d.Stopped && d.Name.Type == ceph.TypeMDS || ended(s, &d) && !concerns(s, d.Name) {
			continue
		}
		// A container that keeps failing is no restart that ends by itself: it must not block the repair of others that do not serve either.
		// Nor is one that an administrator stopped, or one whose pod does not end on a node that is down.
		m := lifecycle.Member{Name: d.Name.String(), Running: d.Pod != "" || d.Trouble != nil, Lost: d.Stopped || d.Ending != nil, Ready: d.Ready, Serving: serving(s, &d)}
		m.InSync = m.Serving == transitions.Yes
		if pod := s.Pods[d.Name]; pod != nil {
			m.Instance = string(pod.UID)
		}
		out.Members = append(out.Members, m)
	}
	for _, d := range s.Declared {
		// Its Deployment was lost, and may be impossible to create: a member that is missing here would count as available.
		if s.Record.Daemons[d.Name.String()].Reference != "" && s.Deployments[d.Name] == nil && (!dataless(s, d.Name) || concerns(s, d.Name)) {
			out.Members = append(out.Members, lifecycle.Member{Name: d.Name.String(), Lost: true, Serving: transitions.No})
		}
	}
	return out
}

// Missing reports whether a daemon that was launched is not ready, or not shown by Ceph since its process started. It is false if Ceph was not
// read. The readiness of a gateway is all that is known of it, and stopped daemons are not missing.
func Missing(s *observation.Snapshot) bool {
	if _, known := observation.Known(s.Cluster); !known || !s.Launched() {
		return false
	}
	return slices.ContainsFunc(Daemons(s), func(d cephupgrade.Daemon) bool {
		return !d.Stopped && d.Name.Type != ceph.TypeRGW && (!d.Ready || serving(s, &d) != transitions.Yes)
	})
}

// ended reports whether no daemon of Ceph depends on the daemon, and it does not start: no container of a pod of it runs, and something is wrong
// with it. An OSD without data has not started either if nothing is known of its pod but that it is idle.
func ended(s *observation.Snapshot, d *cephupgrade.Daemon) bool {
	pod := s.Pods[d.Name]
	empty := dataless(s, d.Name)
	if empty && d.Idle {
		return true
	}
	return (d.Name.Type == ceph.TypeRGW || empty) && d.Trouble != nil && (pod == nil || observation.StartedAt(pod).IsZero())
}

// slow is how long a pod may be without a container that runs. An OSD whose pod takes longer is idle.
const slow = 2 * time.Minute

// idle reports whether nothing of an OSD runs or is about to: its Deployment has no replicas, its pod from before does not end, or no container of
// its pod has run for a while, also none that prepares its data. Of a volume that cannot be attached the pod says no more than that.
func idle(s *observation.Snapshot, d *cephupgrade.Daemon) bool {
	if d.Name.Type != ceph.TypeOSD || d.Pod != "" {
		return false
	}
	pod := s.Pods[d.Name]
	waits := pod != nil && pod.DeletionTimestamp == nil && !s.Now.Before(lastRan(pod, s.Now).Add(slow))
	return d.Stopped || d.Ending != nil || waits
}

// lastRan returns when a container of the pod, also an init container, ran last: now if one runs, and the creation of the pod if none has run. One
// that has just ended may be followed by another one.
func lastRan(pod *corev1.Pod, now time.Time) time.Time {
	last := pod.CreationTimestamp.Time
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch end := status.State.Terminated; {
		case status.State.Running != nil:
			return now
		case end != nil && end.FinishedAt.After(last):
			last = end.FinishedAt.Time
		}
	}
	return last
}

// dataless reports whether the daemon is an OSD without data: it has never served, by the record and by the OSD map.
func dataless(s *observation.Snapshot, name ceph.Daemon) bool {
	m, known := observation.Known(s.Cluster)
	if name.Type != ceph.TypeOSD || !known || !neverServed(s, name) {
		return false
	}
	o, mapped := m.OSDs.Of(name)
	return mapped && o.New && !o.Up
}

// concerns reports whether a daemon that does not start counts for the one that is selected: for another gateway, or for itself.
func concerns(s *observation.Snapshot, name ceph.Daemon) bool {
	return s.Selected == name || name.Type == ceph.TypeRGW && s.Selected.Type == ceph.TypeRGW
}

// serving reports whether Ceph counts on the daemon, by a reading that is newer than its process. Of a gateway, which Ceph does not count on,
// only the pod says that.
func serving(s *observation.Snapshot, d *cephupgrade.Daemon) transitions.Answer {
	switch {
	case ended(s, d):
		return transitions.No
	case d.Name.Type == ceph.TypeRGW && d.Ready:
		return transitions.Yes
	case d.Name.Type == ceph.TypeRGW:
		return transitions.Unknown
	}
	m, known := observation.Known(s.Cluster)
	switch {
	case !known || s.Cluster.At().Before(d.StartedAt):
		return transitions.Unknown
	case Serves(&m, d.Name):
		return transitions.Yes
	}
	return transitions.No
}

// Serves reports whether a daemon has its role. A gateway has none that the maps show.
func Serves(m *cephupgrade.Cluster, d ceph.Daemon) bool {
	switch d.Type {
	case ceph.TypeMon:
		return slices.Contains(m.Quorum.Members, d.ID)
	case ceph.TypeMgr:
		return m.Managers.Active == d.ID && m.Managers.Available || slices.Contains(m.Managers.Standbys, d.ID)
	case ceph.TypeOSD:
		o, mapped := m.OSDs.Of(d)
		return mapped && o.Up
	case ceph.TypeMDS:
		all := slices.Clone(m.Filesystems.Standbys)
		for i := range m.Filesystems.Filesystems {
			all = append(all, m.Filesystems.Filesystems[i].MDS...)
		}
		return slices.ContainsFunc(all, func(one ceph.MDS) bool {
			return one.Name == d.ID && !one.Laggy && (one.State == ceph.MDSActive || one.State == ceph.MDSStandby || one.State == ceph.MDSStandbyReplay)
		})
	case ceph.TypeRGW:
	}
	return false
}
