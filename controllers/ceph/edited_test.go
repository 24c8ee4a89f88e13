package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// editMonitor edits the Deployment of a monitor, as an administrator does.
func (r *rig) editMonitor(id string, how func(*appsv1.Deployment)) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-" + id}, d))
	how(d)
	r.must(r.client.Update(context.Background(), d))
}

// TestKindCorrectsDeploymentsThatWereEdited upgrades monitors whose Deployments an administrator paused, scaled up, or gave another strategy.
func TestKindCorrectsDeploymentsThatWereEdited(t *testing.T) {
	r := launched(t, "16")
	r.editMonitor("a", func(d *appsv1.Deployment) { d.Spec.Paused = true })
	r.editMonitor("b", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) })
	r.editMonitor("c", func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType })
	want := "the Deployment rook-ceph-mon-a is paused: resume it with kubectl rollout resume -n rook-ceph deployment rook-ceph-mon-a; " +
		"the Deployment rook-ceph-mon-b has 2 replicas, and a daemon runs once: kubectl scale -n rook-ceph deployment rook-ceph-mon-b --replicas=1"
	r.until("the Warning", time.Minute, func() bool { return r.warning(status.DeploymentEdited) == want })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the monitors", 5*time.Minute, func() bool { return r.versions()["mon"] == "18" && r.warning(status.DeploymentEdited) == "" })
	r.editMonitor("c", func(d *appsv1.Deployment) {
		if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
			t.Errorf("the strategy is %s", d.Spec.Strategy.Type)
		}
	})
}

// TestKindNamesADeploymentThatIsPaused awaits a daemon whose Deployment was paused after it was changed.
func TestKindNamesADeploymentThatIsPaused(t *testing.T) {
	r := launched(t, "16")
	r.world.Lag = 30 * time.Second
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the change", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingDaemon })
	id := strings.TrimPrefix(r.entry().Data["daemon"], "mon.")
	r.editMonitor(id, func(d *appsv1.Deployment) { d.Spec.Paused = true })
	r.until("the reason", time.Minute, func() bool {
		return strings.Contains(r.message(lifecycle.Reconciling), "does not run (the Deployment rook-ceph-mon-"+id+" is paused: resume it")
	})
}

// TestKindCountsTheReadyPodOfADaemon has a second pod of a gateway, which cannot bind its port beside the first one.
func TestKindCountsTheReadyPodOfADaemon(t *testing.T) {
	r := launched(t, "16")
	var all corev1.PodList
	r.must(r.client.List(t.Context(), &all, client.MatchingLabels{"ceph_daemon_type": "rgw"}))
	second := all.Items[0].DeepCopy()
	second.ObjectMeta = metav1.ObjectMeta{Namespace: second.Namespace, Name: second.Name + "2", Labels: second.Labels, Annotations: second.Annotations}
	second.Status = corev1.PodStatus{}
	r.must(r.client.Create(t.Context(), second))
	for range 15 {
		r.step()
	}
	if got := r.message(lifecycle.Ready); r.condition(lifecycle.Ready) != "True" {
		t.Errorf("not ready: %s", got)
	}
}

// TestKindNamesADaemonThatIsScaledToZero names a manager that holds an upgrade back, with the way out.
func TestKindNamesADaemonThatIsScaledToZero(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the first monitor", 5*time.Minute, func() bool { return strings.Contains(r.versions()["mon"], "18") })
	r.scale("rook-ceph-mgr-b", 0)
	const want = "the Deployment rook-ceph-mgr-b has 0 replicas: kubectl scale -n rook-ceph deployment rook-ceph-mgr-b --replicas=1"
	r.until("the reason", 2*time.Minute, func() bool {
		return r.entry().State == cephupgrade.ReplacingDaemon && r.warning(status.DeploymentEdited) == want
	})
	r.scale("rook-ceph-mgr-b", 1)
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
}
