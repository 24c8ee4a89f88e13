package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindRollsPods replaces the daemons whose pods are to change, in the order of an upgrade, and no others.
func TestKindRollsPods(t *testing.T) {
	r := launched(t, "16")
	memory := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.Resources = map[string]corev1.ResourceRequirements{"osd": memory, "mgr": memory}
	})
	r.step()
	want := []string{"mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2"}
	r.until("the roll", 10*time.Minute, func() bool { return len(r.world.Started) >= len(want) && r.settled("16")() })
	if diff := cmp.Diff(want, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	r.clean()

	r.edit(func(c *cephv1.Cluster) {
		c.Spec.CephConfig = map[string]cephv1.ConfigSection{"osd": {"debug_ms": "1"}}
		c.Spec.Mon.AllowMultiplePerNode = true
	})
	for range 30 {
		r.step()
	}
	if started := r.started(); len(started) > 0 {
		t.Errorf("a change of no pod restarts %v", started)
	}
}

// TestKindAwaitsTheNewPod replaces one daemon after the other although the pod of a Deployment that was changed runs on for a while: it
// serves, and is no evidence for the new one.
func TestKindAwaitsTheNewPod(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*cephv1.Cluster)
		ends   string
	}{
		{"another pod", func(c *cephv1.Cluster) {
			more := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}
			c.Spec.Resources = map[string]corev1.ResourceRequirements{"mon": more, "mgr": more, "osd": more, "mds": more, "rgw": more}
		}, "16"},
		{"another version", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" }, "18"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.ObjectStores[0].Instances = 2
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			r.started()
			r.world.Lag = 5 * time.Second
			r.world.Replacing = func(d cephclient.Daemon) {
				var deployments appsv1.DeploymentList
				r.must(r.client.List(t.Context(), &deployments))
				for i := range deployments.Items {
					of, known := render.DaemonOf(deployments.Items[i].Labels)
					if known && of != d && of.Type != cephclient.TypeMDS && !r.current(&deployments.Items[i]) {
						t.Errorf("%s ends while %s was changed and did not start again", d, of)
					}
				}
			}
			r.edit(row.change)
			r.step()
			r.until("the roll", 20*time.Minute, func() bool { return len(r.world.Started) >= 12 && r.settled(row.ends)() })
			started := r.started()
			slices.Sort(started)
			want := []string{"mds.myfs-a", "mds.myfs-b", "mgr.a", "mgr.b", "mon.a", "mon.b", "mon.c", "osd.0", "osd.1", "osd.2", "rgw.store.a", "rgw.store.b"}
			if diff := cmp.Diff(want, started); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
		})
	}
}

// TestKindNeedsAnAcceptedOutage upgrades a cluster with one monitor and one manager only after their outage was accepted.
func TestKindNeedsAnAcceptedOutage(t *testing.T) {
	small := cluster("ceph:16")
	small.Spec.Mon.Count, small.Spec.Mgr.Count, small.Spec.Filesystems[0].StandbyCount = 1, 1, 0
	r := newRig(t, small)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.started()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.step()
	r.until("the refusal", time.Minute, func() bool {
		return r.entry().State == cephupgrade.Refusing && strings.Contains(r.message(lifecycle.Ready), "detent.dev/accept-outage")
	})
	if started := r.started(); len(started) > 0 {
		t.Errorf("started: %v", started)
	}
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{"detent.dev/accept-outage": "mon, mgr,mds"} })
	r.step()
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	want := []string{"mon.a", "mgr.a", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a"}
	if diff := cmp.Diff(want, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	r.clean()
}

// TestKindReportsAnImageThatDoesNotStart stops at the first daemon that does not start, names it, and goes on once it does, or once the
// spec names another build of the same version.
func TestKindReportsAnImageThatDoesNotStart(t *testing.T) {
	for name, correct := range map[string]func(*rig){
		"it starts after all": func(r *rig) { r.world.Broken = nil },
		"another build":       func(r *rig) { r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "rebuilt/ceph:18" }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["rebuilt/ceph:18"] = r.world.Images["ceph:18"]
			r.world.Broken = func(d cephclient.Daemon, image string) bool {
				return d.String() == "osd.0" && strings.HasPrefix(image, "ceph:18@")
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.step()
			r.until("the daemon", 10*time.Minute, func() bool {
				return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == "osd.0"
			})
			before := len(r.world.Started)
			for range 60 {
				r.step()
			}
			if len(r.world.Started) > before {
				t.Errorf("started meanwhile: %v", r.world.Started[before:])
			}
			if message := r.message(lifecycle.Ready); !strings.Contains(message, "osd.0") {
				t.Errorf("the condition Ready does not name the OSD: %s", message)
			}
			correct(r)
			r.until("the upgrade", 20*time.Minute, r.settled("18"))
			if started := r.started(); slices.Index(started, "osd.0") != before || len(started) != 11 {
				t.Errorf("started: %v, want each daemon once and osd.0 after %d others", started, before)
			}
			r.clean()
		})
	}
}

// TestKindRepairsWhilePaused creates a lost Deployment again, and changes nothing else.
func TestKindRepairsWhilePaused(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) {
		c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"}
		c.Spec.CephVersion.Image = "ceph:18"
	})
	r.step()
	lost := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-osd-1"}}
	r.must(r.client.Delete(t.Context(), lost))
	r.until("the repair", time.Minute, func() bool { return len(r.world.Started) == 1 })
	for range 30 {
		r.step()
	}
	if diff := cmp.Diff([]string{"osd.1"}, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	if r.versions()["mon"] != "16" {
		t.Errorf("the monitors run %s", r.versions()["mon"])
	}
}

// TestKindKeepsAMetadataServerInAPodChange replaces the standby first when no metadata server changes its version, whatever the release says of
// a change to it: one of them is there for clients all the time.
func TestKindKeepsAMetadataServerInAPodChange(t *testing.T) {
	for name, prepare := range map[string]func(r *rig){
		"on a release to which standbys stop": func(*rig) {},
		"without a version in the spec":       func(r *rig) { r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion = nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			prepare(r)
			r.started()
			r.edit(requests(cephclient.TypeMDS, "1Gi"))
			r.until("the change", 5*time.Minute, func() bool {
				if step := r.entry().Data["step"]; step == "Stop" {
					t.Fatalf("the upgrade stops %s", r.entry().Data["daemon"])
				}
				return len(r.world.Started) == 2 && cephupgrade.Resting(r.entry().State)
			})
			if diff := cmp.Diff([]string{"mds.myfs-b", "mds.myfs-a"}, r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
		})
	}
}
