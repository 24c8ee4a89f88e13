package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// OSDRemoved is the reason of the Warning about OSDs that were removed from Ceph, and whose storage the spec still declares.
const OSDRemoved = "OSDRemoved"

// warnings are the conditions about what is unusual and stops nothing, one for each reason.
func warnings(c *cephv1.Cluster, s *observation.Snapshot) []metav1.Condition {
	var texts []string
	for i := range s.Unused {
		d := &s.Unused[i]
		texts = append(texts, fmt.Sprintf("%s was removed from Ceph: %s is not used. To make another OSD there, empty it, and approve that with %s",
			d.Name, storage(d), facts.ReuseCommand(c, s, d.Slot)))
	}
	return warn(nil, OSDRemoved, texts)
}

// storage says in words where the data of an OSD is.
func storage(d *daemons.Daemon) string {
	if d.Claims != nil {
		return fmt.Sprintf("the volume of the claim %s in the set %s", d.Slot, d.Claims.Name)
	}
	return "the directory " + d.Path + " on " + d.Node
}

// maxTexts is how many texts of one Warning are shown.
const maxTexts = 3

// warn appends a Warning with the texts, if there are any.
func warn(to []metav1.Condition, reason string, texts []string) []metav1.Condition {
	if len(texts) == 0 {
		return to
	}
	if more := len(texts) - maxTexts; more > 0 {
		texts = append(texts[:maxTexts], fmt.Sprintf("and %d others", more))
	}
	return append(to, metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: reason, Message: strings.Join(texts, "; ")})
}
