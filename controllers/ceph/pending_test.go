package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// tooLarge reports whether a pod requests more memory than any node has.
func tooLarge(p *corev1.Pod) bool {
	request := p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory]
	return request.Cmp(resource.MustParse("64Gi")) > 0
}

// requests sets the memory that the pods of a type request; nothing for an empty text.
func requests(t cephclient.Type, memory string) func(*cephv1.Cluster) {
	return func(c *cephv1.Cluster) {
		if c.Spec.Resources = nil; memory != "" {
			c.Spec.Resources = map[string]corev1.ResourceRequirements{string(t): {Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}}
		}
	}
}

// TestKindCorrectsAPodThatDoesNotStart replaces the daemon whose pod does not start once the spec wants another pod: nothing else changes its
// Deployment.
func TestKindCorrectsAPodThatDoesNotStart(t *testing.T) {
	both := func(changes ...func(*cephv1.Cluster)) func(*cephv1.Cluster) {
		return func(c *cephv1.Cluster) {
			for _, change := range changes {
				change(c)
			}
		}
	}
	image := func(name string) func(*cephv1.Cluster) {
		return func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = name }
	}
	for name, tc := range map[string]struct {
		of       cephclient.Type
		daemon   string
		and      func(*cephv1.Cluster)
		correct  func(*cephv1.Cluster)
		release  string
		restarts int
	}{
		"a monitor, as before":                 {cephclient.TypeMon, "mon.b", nil, requests("", ""), "16", 1},
		"a monitor, by another size":           {cephclient.TypeMon, "mon.b", nil, requests(cephclient.TypeMon, "1Gi"), "16", 3},
		"a monitor, by another size and image": {cephclient.TypeMon, "mon.b", nil, both(requests(cephclient.TypeMon, "1Gi"), image("ceph:other")), "16", 3},
		"a manager, as before":                 {cephclient.TypeMgr, "mgr.b", nil, requests("", ""), "16", 1},
		"an OSD, as before":                    {cephclient.TypeOSD, "osd.0", nil, requests("", ""), "16", 1},
		"an OSD, and monitors change, too":     {cephclient.TypeOSD, "osd.0", nil, requests(cephclient.TypeMon, "1Gi"), "16", 4},
		"a metadata server, as before":         {cephclient.TypeMDS, "mds.myfs-b", nil, requests("", ""), "16", 1},
		"a gateway, as before":                 {cephclient.TypeRGW, "rgw.store.a", nil, requests("", ""), "16", 1},
		"a gateway, and monitors change, too":  {cephclient.TypeRGW, "rgw.store.a", nil, requests(cephclient.TypeMon, "1Gi"), "16", 4},
		"an OSD in an upgrade":                 {cephclient.TypeOSD, "osd.0", image("ceph:18"), requests("", ""), "18", 6},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["ceph:other"] = r.world.Images["ceph:16"]
			r.world.Unscheduled = tooLarge
			r.edit(requests(tc.of, "900Gi"))
			if tc.and != nil {
				r.edit(tc.and)
			}
			r.until("the daemon whose pod does not start", 15*time.Minute, func() bool {
				return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == tc.daemon
			})
			for range 60 {
				r.step()
			}
			r.started()
			r.edit(tc.correct)
			r.until("the correction", 5*time.Minute, func() bool { return len(r.world.Started) > 0 })
			if first := r.world.Started[0].Daemon.String(); first != tc.daemon {
				t.Errorf("first started: got %s, want %s", first, tc.daemon)
			}
			r.until("the rest", 20*time.Minute, func() bool { return len(r.world.Started) >= tc.restarts && r.settled(tc.release)() })
			if got := r.started(); len(got) != tc.restarts {
				t.Errorf("started %s, want %d daemons", strings.Join(slices.Sorted(slices.Values(got)), ", "), tc.restarts)
			}
			r.clean()
		})
	}
}

// TestKindStartsOSDsThatWereTakenOut corrects the pods of two OSDs that no node takes, and that Ceph has marked out. Neither waits for the other.
func TestKindStartsOSDsThatWereTakenOut(t *testing.T) {
	const key = "storage"
	away := []cephclient.Daemon{{Type: cephclient.TypeOSD, ID: "2"}, {Type: cephclient.TypeOSD, ID: "3"}}
	c := cluster("ceph:16")
	c.Spec.Storage.VolumeClaims[0].Count = 6
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.world.Unscheduled = func(p *corev1.Pod) bool {
		d, _ := render.DaemonOf(p.Labels)
		return slices.Contains(away, d) && !slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == key })
	}
	var list corev1.PodList
	r.must(r.client.List(t.Context(), &list))
	for i := range list.Items {
		if d, _ := render.DaemonOf(list.Items[i].Labels); slices.Contains(away, d) {
			r.must(r.client.Delete(t.Context(), &list.Items[i]))
		}
	}
	for range 30 {
		r.step()
	}
	r.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range away {
			r.run(c, "osd", "out", d.ID)
		}
	})
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.Placement = map[string]cephv1.Placement{"osd": {Tolerations: []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}}}
	})
	r.started()
	r.until("all OSDs have the other pod", 20*time.Minute, func() bool { return r.settled("16")() && len(r.world.Started) > 5 })
	if got := r.started(); !slices.Equal(got[:2], []string{"osd.2", "osd.3"}) {
		t.Errorf("the OSDs that were away are first, got %v", got)
	}
}
