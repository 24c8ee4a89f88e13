package facts

import (
	"fmt"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
)

// Held is why the pod of an OSD must not be ended, with what to do; empty if it may be. Kubernetes keeps a claim that somebody deletes as long
// as a pod uses it. Nothing takes the deletion back: the end of the pod completes it. A pod that terminates keeps nothing any more.
func Held(s *observation.Snapshot, osd ceph.Daemon) string {
	claim, pod := s.Claims[s.Record.Daemons[osd.String()].Slot], s.Pods[osd]
	if osd.Type != ceph.TypeOSD || claim == nil || claim.DeletionTimestamp == nil || pod == nil || pod.DeletionTimestamp != nil || neverServed(s, osd) {
		return ""
	}
	return fmt.Sprintf("%s is not restarted: its claim %s is being deleted, and its data is lost when the pod %s ends. Take the OSD out with ceph osd out %s, "+
		"and delete the pod once the data is elsewhere; or set the reclaim policy of the volume %s to Retain before the pod is deleted, and bind it to a new claim of that name",
		osd, claim.Name, pod.Name, osd.ID, claim.Spec.VolumeName)
}
