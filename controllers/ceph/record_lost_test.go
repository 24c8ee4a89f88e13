package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindShowsThatTheRecordIsLost loses the record while no operator runs that remembers it. The cluster is not taken for one that was never
// launched: an upgrade in progress stays where it is.
func TestKindShowsThatTheRecordIsLost(t *testing.T) {
	for _, state := range []string{
		cephupgrade.Settled, cephupgrade.SelectingDaemon, cephupgrade.AwaitingOkToStop, cephupgrade.ReplacingDaemon, cephupgrade.AwaitingDaemon,
	} {
		t.Run(state, func(t *testing.T) {
			r := launched(t, "16")
			if state != cephupgrade.Settled {
				r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
				r.until("the state", 5*time.Minute, func() bool { return r.entry().State == state })
			}
			r.must(r.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: record.Name("rook-ceph")}}))
			r.restart()
			for range 10 {
				r.clock.Step(time.Second)
				if _, err := r.reconciler.Reconcile(context.Background(), reconcile.Request{NamespacedName: r.key()}); err != nil && !strings.Contains(err.Error(), "rook-ceph-record") {
					t.Fatal(err)
				}
			}
			if got := r.entry().State; got != state {
				t.Errorf("it goes on to %s", got)
			}
			if got := r.message(lifecycle.Ready); !strings.Contains(got, "the ConfigMap rook-ceph-record: it is gone although parts of the cluster exist") {
				t.Errorf("Ready says: %s", got)
			}
		})
	}
}
