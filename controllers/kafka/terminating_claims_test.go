package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// warned returns the message of a warning; empty if there is none.
func (r *rig) warned(reason string) string {
	for _, c := range r.cluster().Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == reason {
			return c.Message
		}
	}
	return ""
}

// A claim that somebody deletes exists until its pod ends: no restart ends it. All other nodes are restarted, and the replacement of the
// storage that a user requests is the way out.
func TestARollKeepsANodeWhoseClaimIsBeingDeleted(t *testing.T) {
	for name, tc := range map[string]struct {
		lifecycle, done string
		change          func(d *disks)
	}{
		"a change of the configuration": {observation.LifecycleRoll, noderoll.Settled, func(d *disks) { d.configured(map[string]string{"queued.max.requests": "9"}) }},
		"a change of the version":       {observation.LifecycleVersion, kafkaversion.Settled, func(d *disks) { d.want("4.1.2") }},
	} {
		t.Run(name, func(t *testing.T) {
			d := withDisks(t)
			before := d.uids()
			d.must(d.client.Delete(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: d.key.Namespace, Name: claimBroker}}))
			tc.change(d)
			for range 80 {
				d.pass()
			}
			var kept []string
			for pod, uid := range d.uids() {
				if before[pod] == uid {
					kept = append(kept, pod)
				}
			}
			if diff := cmp.Diff([]string{podBroker}, kept); diff != "" {
				t.Errorf("pods that were not restarted (-want +got):\n%s", diff)
			}
			e := d.lifecycle(tc.lifecycle)
			if e.State != roll.SelectingNode {
				t.Errorf("state %s, want %s", e.State, roll.SelectingNode)
			}
			contains(t, fmt.Sprint(e.WaitingFor), podBroker, "a restart would complete the deletion of PersistentVolumeClaim "+claimBroker, "strimzi.io/delete-pod-and-pvc=true")
			contains(t, d.warned(status.ReasonStorage), "PersistentVolumeClaim "+claimBroker+" is being deleted", "while the pod runs")

			d.replace(podBroker, "true")
			d.until("the roll ends", func() bool { return d.state(tc.lifecycle) == tc.done && d.complete(podBroker)() })
			if got := d.warned(status.ReasonStorage); strings.Contains(got, claimBroker) {
				t.Errorf("warning %q after the replacement", got)
			}
			if d.uids()[podBroker] == before[podBroker] {
				t.Error("the pod was not replaced")
			}
		})
	}
}
