package facts

import (
	"fmt"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/transitions"
)

// Reasons of OSDs whose claim is being deleted, or is gone.
const (
	ReasonClaimTerminating transitions.Reason = "ClaimTerminating"
	ReasonClaimGone        transitions.Reason = "ClaimGone"
)

// Held is why the pod of an OSD must not be ended, with what to do; nil if it may be. Kubernetes keeps a claim that somebody deletes as long
// as a pod uses it. Nothing takes the deletion back: the end of the pod completes it. A pod that terminates keeps nothing any more.
func Held(s *observation.Snapshot, osd ceph.Daemon) *transitions.Problem {
	claim, pod := s.Claims[s.Record.Daemons[osd.String()].Slot], s.Pods[osd]
	if osd.Type != ceph.TypeOSD || claim == nil || claim.DeletionTimestamp == nil || pod == nil || pod.DeletionTimestamp != nil || neverServed(s, osd) {
		return nil
	}
	volume := claim.Spec.VolumeName
	return transitions.Problemf(ReasonClaimTerminating, "%s is not restarted: its claim %s is being deleted, and its data is lost when the pod %s ends. Take the OSD out with ceph osd out %s, "+
		"and delete the pod once the data is elsewhere; or set the reclaim policy of the volume %s to Retain, delete the pod, remove spec.claimRef of the volume, "+
		"and create the claim again as it was, with spec.volumeName: %[5]s and the labels %[6]s", osd, claim.Name, pod.Name, osd.ID, volume,
		claimLabels(claim.Labels[render.LabelCluster], claim.Labels[render.LabelSlot]))
}

// claimLabels are the labels by which the claim of an OSD is found.
func claimLabels(cluster, slot string) string {
	return fmt.Sprintf("%s=%s and %s=%s", render.LabelCluster, cluster, render.LabelSlot, slot)
}

// ClaimGone reports whether the claim of an OSD that may have data is gone. None is made in its place, which would be empty: a claim with the
// volume of the OSD could not have its name.
func ClaimGone(s *observation.Snapshot, osd daemons.Daemon) bool {
	if osd.Claims == nil || s.Record == nil || s.Claims[osd.Slot] != nil {
		return false
	}
	_, recorded := s.Record.Daemons[osd.Name.String()]
	return recorded && !neverServed(s, osd.Name)
}

// WithoutClaim says that the claim of an OSD is gone, and what to do; nil if it is there, or if the OSD runs on a claim that lacks its labels.
func WithoutClaim(c *cephv1.Cluster, s *observation.Snapshot, osd daemons.Daemon) *transitions.Problem {
	if pod := s.Pods[osd.Name]; !ClaimGone(s, osd) || pod != nil && observation.Ready(pod) {
		return nil
	}
	return transitions.Problemf(ReasonClaimGone, "%s cannot run: there is no claim %s with the labels %s, and none is made, which would be empty. "+
		"If its volume is left, remove spec.claimRef of the volume, and create the claim as it was, with spec.volumeName and these labels; or, if its data is gone for good, "+
		"remove the OSD with ceph osd purge %s --yes-i-really-mean-it once the placement groups are complete without it: a new OSD takes its place",
		osd.Name, render.ClaimName(c.Name, osd.Slot), claimLabels(c.Name, osd.Slot), osd.Name.ID)
}
