package facts

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/transitions"
)

// absence is how long the OSD map has to lack an OSD that it had. It is longer than a reading may be old, so that none from before the OSD was
// recorded counts.
const absence = time.Minute

// noUUID is the UUID of an OSD that was destroyed: its number is kept until it is purged.
const noUUID = "00000000-0000-0000-0000-000000000000"

// Gone says whether the OSD map lacks a recorded OSD. A map that has none of the recorded OSDs is no evidence: it may be that of monitors
// that lost their data.
func Gone(s *observation.Snapshot, osd ceph.Daemon) transitions.Answer {
	m, known := observation.Known(s.Cluster)
	if !known || s.Record == nil {
		return transitions.Unknown
	}
	has := func(name ceph.Daemon) bool {
		uuid := s.Record.OSDs[s.Record.Daemons[name.String()].Slot]
		return slices.ContainsFunc(m.OSDs.OSDs, func(o ceph.OSD) bool {
			return o.UUID == uuid || o.Daemon() == name && (o.UUID == "" || o.UUID == noUUID)
		})
	}
	switch {
	case has(osd):
		return transitions.No
	case slices.ContainsFunc(s.Record.Of(ceph.TypeOSD), has):
		return transitions.Yes
	}
	return transitions.Unknown
}

// Removed reports whether the OSD was removed from Ceph: the map has lacked it for long enough.
func Removed(s *observation.Snapshot, osd ceph.Daemon) bool {
	since := s.Record.Daemons[osd.String()].Absent
	return Gone(s, osd) == transitions.Yes && !since.IsZero() && !s.Cluster.At().Before(since.Add(absence))
}

// Empty reports whether the storage of an OSD was found empty: its pod does not start for that reason, or its claim is gone.
func Empty(s *observation.Snapshot, osd ceph.Daemon) bool {
	pod := s.Pods[osd]
	declared, _ := s.Find(osd)
	return pod != nil && foundNothing(pod) != nil || ClaimGone(s, declared)
}

// ReuseApproval is the value of the annotation for one removal: the UUID of the OSD is that of no other one.
func ReuseApproval(r *record.Record, slot string) string { return "new-osd=" + r.OSDs[slot] }

// Reuse reports whether another OSD may be made in the storage of one that was removed: the storage was found empty, or that is approved.
func Reuse(c *cephv1.Cluster, s *observation.Snapshot, slot string) bool {
	return s.Record.Removed[slot].Empty || c.Annotations[labels.Approve] == ReuseApproval(s.Record, slot)
}

// ReuseCommand approves to make another OSD in the storage.
func ReuseCommand(c *cephv1.Cluster, s *observation.Snapshot, slot string) string {
	return approveCommand(c, ReuseApproval(s.Record, slot))
}
