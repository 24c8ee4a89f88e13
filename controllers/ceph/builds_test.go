package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// everyDaemon is the order in which a build is taken up on one release.
func everyDaemon() []string {
	return []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-b", "mds.myfs-a"}
}

// TestKindTakesUpAnotherBuild replaces the daemons once the spec names another build of the version that they run, and no daemon for another name
// of the same build.
func TestKindTakesUpAnotherBuild(t *testing.T) {
	asks := func(image string) func(*rig) {
		return func(r *rig) {
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = image })
			r.step()
		}
	}
	hand := func(deployment, image string) func(*rig) {
		return func(r *rig) {
			r.setByHand(deployment, image)
			for range 30 {
				r.step()
			}
			r.started()
			r.resume()
		}
	}
	interrupted := func(r *rig) {
		r.until("the first daemons", 10*time.Minute, func() bool { return len(r.world.Started) == 2 })
		c := r.get()
		c.Status.Lifecycles = nil
		r.must(r.client.Status().Update(t.Context(), c))
		r.restart()
	}
	halfWay := func(r *rig) {
		r.until("the first daemons", 10*time.Minute, func() bool { return len(r.world.Started) == 2 })
	}
	recorded := func(r *rig) {
		for range 60 {
			r.step()
		}
	}
	without := func(names ...string) []string {
		return slices.DeleteFunc(everyDaemon(), func(d string) bool { return slices.Contains(names, d) })
	}
	for name, tc := range map[string]struct {
		steps []func(*rig)
		want  []string
	}{
		"another build":                    {[]func(*rig){asks("rebuilt/ceph:16")}, everyDaemon()},
		"another name of the build":        {[]func(*rig){asks("mirror/ceph:16")}, nil},
		"the status is lost half way":      {[]func(*rig){asks("rebuilt/ceph:16"), interrupted}, everyDaemon()},
		"the build is withdrawn half way":  {[]func(*rig){asks("rebuilt/ceph:16"), halfWay, asks("ceph:16")}, []string{"mon.b", "mon.c", "mon.b", "mon.c"}},
		"an image was set by hand before":  {[]func(*rig){hand("rook-ceph-mgr-b", "hand/ceph:16"), asks("rebuilt/ceph:16")}, everyDaemon()},
		"an image is set by hand later":    {[]func(*rig){asks("mirror/ceph:16"), recorded, hand("rook-ceph-mgr-b", "hand/ceph:16")}, nil},
		"the build is set by hand earlier": {[]func(*rig){hand("rook-ceph-mgr-b", "rebuilt/ceph:16@sha256:"+strings.Repeat("7", 64)), asks("rebuilt/ceph:16")}, without("mgr.b")},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Digests = map[string]string{"rebuilt/ceph:16": strings.Repeat("7", 64)}
			for _, image := range []string{"rebuilt/ceph:16", "mirror/ceph:16", "hand/ceph:16"} {
				r.world.Images[image] = r.world.Images["ceph:16"]
			}
			for _, step := range tc.steps {
				step(r)
			}
			for range 30 {
				r.step()
			}
			r.until("the end", 20*time.Minute, func() bool { return len(r.world.Started) >= len(tc.want) && r.settled("16")() })
			for range 60 {
				r.step()
			}
			if diff := cmp.Diff(tc.want, r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
		})
	}
}

// TestKindReplacesABuildThatCrashes has a daemon crash on another build of the version that it ran, and names a build that starts.
func TestKindReplacesABuildThatCrashes(t *testing.T) {
	for name, tc := range map[string]struct {
		crashes, asks string
		want          []string
	}{
		"a monitor, by the build from before": {"mon.b", "ceph:16", []string{"mon.b"}},
		"a monitor, by a third build":         {"mon.b", "third/ceph:16", everyDaemon()},
		"an OSD, by the build from before":    {"osd.0", "ceph:16", []string{"osd.0", "mon.b", "mon.c", "mon.a", "mgr.a", "mgr.b"}},
		"a metadata server, by a third build": {"mds.myfs-b", "third/ceph:16", []string{"mds.myfs-b", "mon.b", "mon.c", "mon.a", "mgr.a", "mgr.b", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Digests = map[string]string{"rebuilt/ceph:16": strings.Repeat("7", 64), "third/ceph:16": strings.Repeat("8", 64)}
			for image := range r.world.Digests {
				r.world.Images[image] = r.world.Images["ceph:16"]
			}
			r.world.Broken = func(d cephclient.Daemon, image string) bool {
				return d.String() == tc.crashes && strings.HasPrefix(image, "rebuilt/")
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "rebuilt/ceph:16" })
			r.until("the crash", 20*time.Minute, func() bool {
				return strings.Contains(r.message("Ready"), tc.crashes+" does not run (CrashLoopBackOff)")
			})
			r.started()
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = tc.asks })
			r.step()
			r.until("the end", 20*time.Minute, r.settled("16"))
			if diff := cmp.Diff(tc.want, r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
		})
	}
}

// TestKindReplacesANameThatCannotBePulled has daemons start again once the registry of their image is gone, and names the image elsewhere.
func TestKindReplacesANameThatCannotBePulled(t *testing.T) {
	for name, ended := range map[string][]string{
		"several OSDs":          {"osd.0", "osd.1"},
		"the daemons of a node": {"mon.b", "mgr.b", "osd.0", "mds.myfs-b"},
		"a whole filesystem":    {"mon.b", "mds.myfs-a", "mds.myfs-b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["mirror/ceph:16"] = r.world.Images["ceph:16"]
			r.world.Unpulled = func(_, image string) bool { return image == "ceph:16" }
			var all corev1.PodList
			r.must(r.client.List(t.Context(), &all))
			for i := range all.Items {
				if d, ok := render.DaemonOf(all.Items[i].Labels); ok && slices.Contains(ended, d.String()) {
					r.must(r.client.Delete(t.Context(), &all.Items[i]))
				}
			}
			r.until("the pods", time.Minute, func() bool {
				return strings.Contains(r.message("Ready"), ended[0]+" (ImagePullBackOff), "+ended[1]+" (ImagePullBackOff)")
			})
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "mirror/ceph:16" })
			r.step()
			r.until("the end", 20*time.Minute, r.settled("16"))
			if diff := cmp.Diff(ended, r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
		})
	}
}

// TestKindWarnsOfABuildThatIsKept names the daemons that keep another build than the spec names, since the name was recorded without taking it up.
func TestKindWarnsOfABuildThatIsKept(t *testing.T) {
	r := launched(t, "16")
	digest := strings.Repeat("7", 64)
	r.world.Digests = map[string]string{"rebuilt/ceph:16": digest}
	named := "rebuilt/ceph:16@sha256:" + digest
	for _, image := range []string{"rebuilt/ceph:16", named} {
		r.world.Images[image] = r.world.Images["ceph:16"]
	}
	r.ceph.Do(func(c *simulated.Cluster) { delete(c.Keys, "detent/upgrade") })
	r.restart()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "rebuilt/ceph:16" })
	const want = "mon.a, mon.b, mon.c and 8 others run the image ceph:16, and the spec names rebuilt/ceph:16, another build of the version. " +
		"A build is taken up when the spec begins to name it: to take it up now, name it rebuilt/ceph:16@sha256:7777777777777777777777777777777777777777777777777777777777777777"
	r.until("the warning", 5*time.Minute, func() bool { return r.warning("OtherBuild") == want })
	for range 120 {
		r.step()
		if r.warning("OtherBuild") != want {
			t.Fatalf("in %s the warning is %q", r.entry().State, r.warning("OtherBuild"))
		}
	}
	r.restart()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = named })
	r.until("the end", 20*time.Minute, func() bool { return len(r.world.Started) == len(everyDaemon()) && r.settled("16")() })
	if warning := r.warning("OtherBuild"); warning != "" {
		t.Errorf("at the end it warns: %s", warning)
	}
}

// TestKindLaunchesByTheNameInTheSpec adds daemons once the spec has another name of the image that runs, and its registry is gone.
func TestKindLaunchesByTheNameInTheSpec(t *testing.T) {
	r := launched(t, "16")
	r.world.Images["mirror/ceph:16"] = r.world.Images["ceph:16"]
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "mirror/ceph:16" })
	for range 60 {
		r.step()
	}
	r.started()
	r.world.Unpulled = func(_, image string) bool { return image == "ceph:16" }
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.Mgr.Count, c.Spec.Filesystems[0].StandbyCount = 3, 2
		c.Spec.ObjectStores = append(c.Spec.ObjectStores, *c.Spec.ObjectStores[0].DeepCopy())
		c.Spec.ObjectStores[1].Name = "second"
	})
	r.until("the daemons", 10*time.Minute, func() bool { return len(r.world.Started) == 3 && r.settled("16")() })
	for name, one := range r.record().Daemons {
		added := name == "mgr.c" || name == "mds.myfs-c" || strings.HasPrefix(name, "rgw.second")
		if by := map[bool]string{false: "ceph:16", true: "mirror/ceph:16"}[added]; one.Image != by {
			t.Errorf("%s was launched as %s, want %s", name, one.Image, by)
		}
	}
	r.clean()
}
