package ceph_test

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestKindWarnsOfAnnotationsWithoutEffect names entries that let a health code pass in no attempt, and annotations that a Cluster does not have.
func TestKindWarnsOfAnnotationsWithoutEffect(t *testing.T) {
	r := launched(t, "16")
	for name, tc := range map[string]struct{ annotation, value, reason, want string }{
		"a code without an attempt": {
			facts.IgnoreHealth, "OSD_DOWN", labels.InvalidAnnotation,
			`the entry "OSD_DOWN" of the annotation detent.dev/ignore-health has no effect: write CODE=<attempt id>, with the id of the upgrade that the code may pass in: status.lifecycles has it`,
		},
		"a name that is misspelt": {
			"detent.dev/accept-outages", "mon", labels.UnknownAnnotation,
			"the annotation detent.dev/accept-outages of Cluster " + r.get().Name + " is unknown and has no effect. Remove it, or write detent.dev/accept-outage",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{tc.annotation: tc.value} })
			r.until("the warning", time.Minute, func() bool { return r.warning(tc.reason) == tc.want })
			r.edit(func(c *cephv1.Cluster) { c.Annotations = nil })
			r.until("that it is gone", time.Minute, func() bool { return r.warning(tc.reason) == "" })
		})
	}
}
