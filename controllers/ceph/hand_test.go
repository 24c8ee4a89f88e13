package ceph_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindAdoptsAnImageSetByHand replaces no daemon again that an administrator changed to the wanted version while the operator did not run.
func TestKindAdoptsAnImageSetByHand(t *testing.T) {
	for name, image := range map[string]func(r *rig) string{
		"with the digest":       func(r *rig) string { return r.record().Images["ceph:18"].Reference },
		"by its name":           func(*rig) string { return "ceph:18" },
		"by a name of its own":  func(*rig) string { return "ceph:mirrored" },
		"with another's digest": func(*rig) string { return "ceph:mirrored@sha256:" + strings.Repeat("7", 64) },
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["ceph:mirrored"] = r.world.Images["ceph:18"]
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.until("the detection", time.Minute, func() bool { return r.record().Images["ceph:18"].Reference != "" })
			before := r.setByHand("rook-ceph-mon-c", image(r))
			r.until("the monitor", time.Minute, func() bool { return strings.Contains(r.versions()["mon"], "18") })
			r.resume()
			r.until("the upgrade", 15*time.Minute, r.settled("18"))
			want := []string{"mon.c", "mon.b", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-b", "mds.myfs-a"}
			if diff := cmp.Diff(want, append(before, r.started()...)); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			if warning := r.warning("ImageSetByHand"); warning != "" {
				t.Errorf("it warns of what is wanted: %s", warning)
			}
			r.clean()
		})
	}
}

// TestKindWarnsOfAnImageSetByHand shows an image that is neither what the daemon ran nor what it is to run.
func TestKindWarnsOfAnImageSetByHand(t *testing.T) {
	t.Run("its version is another one", func(t *testing.T) {
		r := launched(t, "16")
		r.world.Images["ceph:18.2.4"] = versions.Version{Major: 18, Minor: 2, Patch: 4, Commit: "older"}
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
		r.until("the detection", time.Minute, func() bool { return r.record().Images["ceph:18"].Reference != "" })
		r.setByHand("rook-ceph-mon-c", "ceph:18.2.4")
		r.until("the monitor", time.Minute, func() bool { return strings.Contains(r.versions()["mon"], "18") })
		r.resume()
		r.until("the warning", time.Minute, func() bool {
			return strings.Contains(r.warning("ImageSetByHand"), "the image ceph:18.2.4 was set in the Deployment of mon.c, which has the version 18.2.4")
		})
		r.until("the upgrade", 15*time.Minute, r.settled("18"))
		if warning := r.warning("ImageSetByHand"); warning != "" {
			t.Errorf("the warning stays: %s", warning)
		}
	})
	t.Run("it does not start", func(t *testing.T) {
		r := launched(t, "16")
		r.world.Images["ceph:mirrored"] = r.world.Images["ceph:18"]
		r.world.Broken = func(_ cephclient.Daemon, image string) bool { return image == "ceph:mirrored" }
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
		r.until("the detection", time.Minute, func() bool { return r.record().Images["ceph:18"].Reference != "" })
		r.setByHand("rook-ceph-mon-c", "ceph:mirrored")
		r.step()
		r.resume()
		want := "the image ceph:mirrored was set in the Deployment of mon.c, which has not reported its version"
		r.until("the reason", 2*time.Minute, func() bool {
			return r.warning("ImageSetByHand") == want+": correct the image there" && strings.Contains(r.message(lifecycle.Ready), want)
		})
		for range 60 {
			r.step()
		}
		if started := r.started(); len(started) > 0 {
			t.Errorf("started: %v", started)
		}
		r.image("rook-ceph-mon-c", "ceph:18")
		r.until("the upgrade", 15*time.Minute, r.settled("18"))
	})
}

// TestKindCorrectsAnImageSetByHand replaces an image that an administrator set, and that cannot be pulled, once the spec asks for another one
// than the daemon ran before.
func TestKindCorrectsAnImageSetByHand(t *testing.T) {
	for name, tc := range map[string]struct {
		daemon, correct, release string
		starts                   int
	}{
		"a monitor, by another name":        {"mon.c", "ceph:other", "16", 1},
		"a monitor, by another build":       {"mon.c", "ceph:rebuilt", "16", 11},
		"a monitor, by the next release":    {"mon.c", "ceph:18", "18", 11},
		"an OSD, by another name":           {"osd.1", "ceph:other", "16", 1},
		"an OSD, by another build":          {"osd.1", "ceph:rebuilt", "16", 11},
		"a manager, by another name":        {"mgr.b", "ceph:other", "16", 1},
		"the active manager":                {"mgr.a", "ceph:other", "16", 1},
		"a metadata server, by another one": {"mds.myfs-b", "ceph:other", "16", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Digests = map[string]string{"ceph:rebuilt": strings.Repeat("7", 64)}
			r.world.Images["ceph:other"], r.world.Images["ceph:rebuilt"] = r.world.Images["ceph:16"], r.world.Images["ceph:16"]
			r.setByHand("rook-ceph-"+strings.ReplaceAll(tc.daemon, ".", "-"), "ceph:typo")
			r.step()
			r.resume()
			want := "the image ceph:typo was set in the Deployment of " + tc.daemon + ", which has not reported its version: correct the image there, or set spec.cephVersion.image to another image of 16.2.15 than ceph:16" +
				": one of the same digest replaces this daemon alone, and one of another digest replaces all daemons"
			r.until("the remedy", 2*time.Minute, func() bool { return r.warning("ImageSetByHand") == want })
			for range 60 {
				r.step()
			}
			if started := r.started(); len(started) > 0 {
				t.Errorf("started: %v", started)
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = tc.correct })
			r.until("the correction", 5*time.Minute, func() bool { return len(r.world.Started) > 0 })
			if first := r.world.Started[0].Daemon.String(); first != tc.daemon {
				t.Errorf("first started: got %s, want %s", first, tc.daemon)
			}
			r.until("the rest", 15*time.Minute, r.settled(tc.release))
			if starts := len(r.started()); starts != tc.starts {
				t.Errorf("%d daemons started, want %d", starts, tc.starts)
			}
			if warning := r.warning("ImageSetByHand"); warning != "" {
				t.Errorf("the warning stays: %s", warning)
			}
			r.clean()
		})
	}
}

// TestKindCorrectsAnImageBesideOneThatIsMissing replaces a monitor that does not start, although the Deployment of a manager cannot be created or
// an administrator stopped it: it takes nothing away.
func TestKindCorrectsAnImageBesideOneThatIsMissing(t *testing.T) {
	for name, missing := range map[string]func(r *rig){
		"refused": func(r *rig) {
			r.deny("rook-ceph-mgr-b")
			r.must(r.client.Delete(r.t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-mgr-b"}}))
		},
		"stopped": func(r *rig) { r.scale("rook-ceph-mgr-b", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Digests = map[string]string{"ceph:rebuilt": strings.Repeat("7", 64)}
			r.world.Images["ceph:other"], r.world.Images["ceph:rebuilt"] = r.world.Images["ceph:16"], r.world.Images["ceph:16"]
			r.setByHand("rook-ceph-mon-c", "ceph:typo")
			r.step()
			r.resume()
			missing(r)
			r.until("the remedy", 2*time.Minute, func() bool { return r.warning("ImageSetByHand") != "" })
			if started := r.started(); len(started) > 0 {
				t.Errorf("started: %v", started)
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:other" })
			r.until("the correction", 5*time.Minute, func() bool { return slices.Contains(r.started(), "mon.c") })
		})
	}
}

// setByHand changes the image of a Deployment while the operator does not run, and returns what was started before.
func (r *rig) setByHand(deployment, image string) (before []string) {
	r.t.Helper()
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"} })
	r.step()
	before = r.started()
	r.image(deployment, image)
	return before
}

// resume starts the operator again.
func (r *rig) resume() {
	r.t.Helper()
	r.edit(func(c *cephv1.Cluster) { c.Annotations = nil })
	r.restart()
	r.step()
}

// image changes the image in a Deployment.
func (r *rig) image(deployment, image string) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: deployment}, d))
	pod := &d.Spec.Template.Spec
	for i := range pod.InitContainers {
		pod.InitContainers[i].Image = image
	}
	pod.Containers[0].Image = image
	r.must(r.client.Update(context.Background(), d))
}

// TestKindWarnsOfADowngrade shows a change that is permitted and unusual for as long as it lasts, also while nothing is read that it follows
// from.
func TestKindWarnsOfADowngrade(t *testing.T) {
	r := launched(t, "18")
	older := versions.Version{Major: 18, Minor: 2, Patch: 4, Commit: "older"}
	r.world.Images["ceph:18.2.4"] = older
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18.2.4" })
	const want = "Ceph is changed from 18.2.7 back to 18.2.4"
	r.until("the warning", time.Minute, func() bool { return r.warning("Downgrade") == want })
	r.until("the downgrade", 15*time.Minute, func() bool {
		v := r.get().Status.Version
		ended := r.entry().State == cephupgrade.Settled && v != nil && v.Version == older.String()
		if warning := r.warning("Downgrade"); !ended && warning != want && len(r.world.Started) < 10 {
			t.Fatalf("in %s the warning is %q", r.entry().State, warning)
		}
		return ended
	})
	r.step()
	if warning := r.warning("Downgrade"); warning != "" {
		t.Errorf("at rest it warns: %s", warning)
	}
}

// TestKindKeepsAnImageSetByHand starts no daemon on an older release than an administrator set in its Deployment.
func TestKindKeepsAnImageSetByHand(t *testing.T) {
	started := func(r *rig, names ...string) {
		r.t.Helper()
		r.world.Images["ceph:mirrored"] = r.world.Images["ceph:18"]
		r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"} })
		r.step()
		for _, name := range names {
			r.image("rook-ceph-"+name, "ceph:mirrored")
			for range 12 {
				r.step()
			}
		}
	}
	all := []string{"mon-a", "mon-b", "mon-c", "mgr-a", "mgr-b", "osd-0", "osd-1", "osd-2", "mds-myfs-a", "mds-myfs-b"}
	for name, tc := range map[string]struct {
		by func(r *rig)
		at string
	}{
		"another change of its pod": {at: "rook-ceph-osd-0", by: func(r *rig) {
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion = nil })
			started(r, all...)
			r.resume()
			r.until("the adoption", 5*time.Minute, func() bool { return r.record().Daemons["osd.0"].Version.Major == 18 })
			r.started()
			r.edit(func(c *cephv1.Cluster) {
				c.Spec.Resources = map[string]corev1.ResourceRequirements{"osd": {Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("192Mi")}}}
			})
			r.until("the change", 15*time.Minute, func() bool { return r.entry().State == cephupgrade.Settled && len(r.world.Started) == 3 })
		}},
		"its Deployment is deleted during the pause": {at: "rook-ceph-osd-0", by: func(r *rig) {
			started(r, "mon-a", "mon-b", "mon-c", "mgr-a", "mgr-b", "osd-0")
			r.delete("rook-ceph-osd-0")
		}},
		"its Deployment is deleted while it is held": {at: "rook-ceph-osd-0", by: func(r *rig) {
			started(r, "mon-a", "mon-b", "mon-c", "mgr-a", "mgr-b", "osd-0")
			r.resume()
			r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
			r.delete("rook-ceph-osd-0")
		}},
		"the Deployment of a gateway is deleted": {at: "rook-ceph-rgw-store-a", by: func(r *rig) {
			started(r, "rgw-store-a")
			r.resume()
			r.delete("rook-ceph-rgw-store-a")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			if !strings.Contains(name, "gateway") {
				c.Spec.ObjectStores = nil // a gateway reports no version, and would hold the change of a pod as one of another version
			}
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			r.started()
			tc.by(r)
			d := &appsv1.Deployment{}
			r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: tc.at}, d))
			if diff := cmp.Diff("ceph:mirrored", d.Spec.Template.Spec.Containers[0].Image); diff != "" {
				t.Errorf("image of %s (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

// delete deletes a Deployment, and waits until there is another one.
func (r *rig) delete(deployment string) {
	r.t.Helper()
	d, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: "rook-ceph", Name: deployment}
	r.must(r.client.Get(context.Background(), key, d))
	r.must(r.client.Delete(context.Background(), d))
	r.until("the Deployment", time.Minute, func() bool { return r.client.Get(context.Background(), key, d) == nil })
}

// TestKindRepairsOnTheReleaseThatMayHaveStarted creates a Deployment that is lost before the effect that changed it is recorded.
func TestKindRepairsOnTheReleaseThatMayHaveStarted(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the record", 5*time.Minute, func() bool {
		one := r.record().Daemons["mon.c"]
		return one.Intent.Version.Major == 18 && one.Version.Major == 16
	})
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"} })
	r.delete("rook-ceph-mon-c")
	d := &appsv1.Deployment{}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-c"}, d))
	if diff := cmp.Diff(r.record().Images["ceph:18"].Reference, d.Spec.Template.Spec.Containers[0].Image); diff != "" {
		t.Errorf("image (-want +got):\n%s", diff)
	}
}

// TestKindForgetsAWithdrawalOnceTheStartIsMade loses the status when the start of a daemon is recorded and not made. The start is withdrawn, as
// the cluster is unhealthy by then, and made later: nothing is left of the withdrawal.
func TestKindForgetsAWithdrawalOnceTheStartIsMade(t *testing.T) {
	r := launched(t, "16")
	intended := r.recordedStart("ceph:18")
	r.ceph.Do(func(c *simulated.Cluster) {
		c.Raise(cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr})
	})
	r.wipe()
	r.until("the mark", time.Minute, func() bool { return r.marked(intended) })
	r.ceph.Do(func(c *simulated.Cluster) { c.Clear("TEST_BOOM") })
	r.until("the end", 30*time.Minute, r.settled("18"))
	if r.marked(intended) {
		t.Errorf("the Deployment of %s still names a change that is made no more", intended)
	}
}

// TestKindStartsNoReleaseThatWasWithdrawn goes back to the release of the daemons when the first start on another one is recorded and not
// written yet: nothing was started, and a Deployment that is lost later is created on what it ran.
func TestKindStartsNoReleaseThatWasWithdrawn(t *testing.T) {
	for name, withdraw := range map[string]func(r *rig){
		"the spec goes back":                          func(*rig) {},
		"the spec goes back after the operator ended": func(r *rig) { r.restart() },
		"the spec goes back while the cluster is unhealthy": func(r *rig) {
			r.ceph.Do(func(c *simulated.Cluster) {
				c.Raise(cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr})
			})
			for range 20 {
				r.step()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			intended := r.recordedStart("ceph:18")
			withdraw(r)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
			r.ceph.Do(func(c *simulated.Cluster) { c.Clear("TEST_BOOM") })
			r.until("the rest", 5*time.Minute, func() bool { return r.settled("16")() && r.intended() == "" })
			r.until("the end of the mark", time.Minute, func() bool { return !r.marked(intended) })
			r.delete("rook-ceph-" + strings.ReplaceAll(intended, ".", "-"))
			r.until("the repair", 5*time.Minute, r.settled("16"))
			for _, s := range r.world.Started {
				if s.Version.Major != 16 {
					t.Errorf("%s was started on %s", s.Daemon, s.Version)
				}
			}
		})
	}
}
