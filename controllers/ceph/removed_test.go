package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindGoesOnWithoutARemovedOSD removes an OSD from Ceph that died in the middle of an upgrade, as the reason of the Hold says.
func TestKindGoesOnWithoutARemovedOSD(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "3"}
	for name, row := range map[string]struct {
		// trouble is what the init container of the dead OSD says.
		trouble string
		// approved means that another OSD is made only after an approval.
		approved bool
		// claimless means that the claim of the dead OSD is gone.
		claimless bool
	}{
		"its storage may still have data": {approved: true},
		"its storage was found empty":     {trouble: "StorageLost: the data of osd.3 is gone"},
		"its claim is gone":               {claimless: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Storage.VolumeClaims[0].Count = 3
			if row.claimless {
				c.Spec.Storage.VolumeClaims[0].Count, c.Spec.Storage.Nodes = 4, nil
			}
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			slot, uuid := r.record().Daemons[osd.String()].Slot, r.record().OSDs[r.record().Daemons[osd.String()].Slot]
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.until("the OSDs", 10*time.Minute, func() bool {
				return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == "osd.2"
			})
			r.kill(osd, row.trouble)
			if row.claimless {
				claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: render.ClaimName(c.Name, slot)}}
				r.must(r.client.Delete(t.Context(), claim))
			}
			r.until("the hold", 2*time.Minute, func() bool { return r.entry().State == cephupgrade.DeadOSD })

			r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "purge", osd.ID, "--yes-i-really-mean-it") })
			r.world.Broken = nil
			r.started()
			r.until("the upgrade", 6*time.Minute, r.settled("18"))
			if diff := cmp.Diff(allOn("18"), r.versions()); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
			if warned := strings.Contains(r.warning("OSDRemoved"), "osd.3 was removed from Ceph"); warned != row.approved {
				t.Errorf("warned: %t, want %t: %s", warned, row.approved, r.warning("OSDRemoved"))
			}
			if row.approved {
				if _, made := r.record().Daemons[osd.String()]; made || r.deployment(osd) {
					t.Error("the OSD is made again before that is approved")
				}
				_, value, _ := strings.Cut(r.warning("OSDRemoved"), "detent.dev/approve=")
				r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{"detent.dev/approve": value} })
			}
			r.until("another OSD", 5*time.Minute, func() bool { return r.settled("18")() && r.deployment(osd) })
			if now := r.record().OSDs[slot]; now == uuid || r.record().Daemons[osd.String()].Slot != slot || r.warning("OSDRemoved") != "" {
				t.Errorf("the OSD in %s has the UUID %s, as before: %t; warning %q", slot, now, now == uuid, r.warning("OSDRemoved"))
			}
			r.clean()
		})
	}
}

// TestKindGoesOnWithoutAnOSDThatDiedWhenItWasReplaced gives up the OSD that the upgrade awaits. The upgrade names it as dead once it was taken
// out, and goes on once it was removed, also without the former.
func TestKindGoesOnWithoutAnOSDThatDiedWhenItWasReplaced(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "2"}
	for name, giveUp := range map[string]func(r *rig){
		"it is taken out first": func(r *rig) {
			r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "out", osd.ID) })
			r.until("the hold", 2*time.Minute, func() bool { return r.entry().State == cephupgrade.DeadOSD })
		},
		"it is removed at once": func(r *rig) {
			for range 10 { // Ceph removes no OSD that it still shows as up
				r.step()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Storage.VolumeClaims[0].Count = 4
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			r.world.Broken = func(d cephclient.Daemon, image string) bool { return d == osd && strings.HasPrefix(image, "ceph:18@") }
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.until("the OSD", 10*time.Minute, func() bool {
				return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == osd.String() &&
					strings.Contains(r.message(lifecycle.Ready), "take it out with ceph osd out 2")
			})
			giveUp(r)
			r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "purge", osd.ID, "--yes-i-really-mean-it") })
			r.until("the rest", 10*time.Minute, func() bool { return cmp.Equal(allOn("18"), r.versions()) })
			r.clean()
		})
	}
}

// TestKindKeepsTheDataOfAnOSDThatIsAddedAgain does not permit to make the data of an OSD again that had served, was removed from Ceph, and was
// added again with its UUID. One whose storage was found empty has none.
func TestKindKeepsTheDataOfAnOSDThatIsAddedAgain(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "3"}
	c := cluster("ceph:16")
	c.Spec.Storage.VolumeClaims[0].Count = 3
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	slot := r.record().Daemons[osd.String()].Slot
	uuid := r.record().OSDs[slot]
	r.kill(osd, "")
	r.until("that it is down", time.Minute, func() bool { return r.condition(lifecycle.Ready) == "False" })
	r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "purge", osd.ID, "--yes-i-really-mean-it") })
	r.until("the removal", 5*time.Minute, func() bool { return r.warning("OSDRemoved") != "" })
	r.world.Broken = nil
	r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "new", uuid, "-i", "-") })
	r.until("the OSD", time.Minute, func() bool { return r.record().Daemons[osd.String()].Slot == slot })
	if got := r.record().Daemons[osd.String()].Format; got != record.FormatDone {
		t.Errorf("its data may be made again: %s", got)
	}
	r.until("the rest", 5*time.Minute, r.settled("16"))
}

// TestKindNamesAnOSDThatWasDeadBefore asks for an upgrade while an OSD is dead. The data was restored elsewhere, and Ceph is whole: nothing
// but the OSD keeps the first monitor from being replaced, and the reason says so.
func TestKindNamesAnOSDThatWasDeadBefore(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "3"}
	c := cluster("ceph:16")
	c.Spec.Storage.VolumeClaims[0].Count = 3
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.kill(osd, "")
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.DeadOSD })
	if got, want := r.message(lifecycle.Ready), "osd.3 is down and out: repair it, or remove it with ceph osd purge"; !strings.Contains(got, want) {
		t.Errorf("Ready: got %q, want %q in it", got, want)
	}
	r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "purge", osd.ID, "--yes-i-really-mean-it") })
	r.until("the upgrade", 10*time.Minute, func() bool { return cmp.Equal(allOn("18"), r.versions()) })
	r.clean()
}

// allOn are the versions of a cluster whose daemons all run one.
func allOn(version string) map[string]string {
	return map[string]string{"mon": version, "mgr": version, "osd": version, "rgw": version, "mds": version}
}

// TestKindKeepsAnOSDThatReadingsMiss forgets no OSD that the map lacks for a while, nor all OSDs at once.
func TestKindKeepsAnOSDThatReadingsMiss(t *testing.T) {
	for name, row := range map[string]struct {
		lose func(c *simulated.Cluster)
		last time.Duration
	}{
		"one is missing for a while": {lose: func(c *simulated.Cluster) { lose(c, "2") }, last: 40 * time.Second},
		"all are missing": {lose: func(c *simulated.Cluster) {
			for _, id := range []string{"0", "1", "2"} {
				lose(c, id)
			}
		}, last: 5 * time.Minute},
		"Ceph does not answer": {lose: func(c *simulated.Cluster) { c.Unreachable = true }, last: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			var before *simulated.Cluster
			r.ceph.Do(func(c *simulated.Cluster) {
				before = c.Clone()
				row.lose(c)
			})
			for range int(row.last / time.Second) {
				r.step()
			}
			r.ceph.Do(func(c *simulated.Cluster) {
				now := c.Now
				*c = *before
				c.Advance(now)
			})
			r.until("the OSDs", 5*time.Minute, r.settled("16"))
			if got := r.record(); len(got.Removed) > 0 || len(got.Of(cephclient.TypeOSD)) != 3 {
				t.Errorf("removed %v, recorded %v", got.Removed, got.Of(cephclient.TypeOSD))
			}
			for _, osd := range r.record().Of(cephclient.TypeOSD) {
				if absent := r.record().Daemons[osd.String()].Absent; !absent.IsZero() {
					t.Errorf("%s counts as absent since %s", osd, absent)
				}
			}
		})
	}
}

// lose takes an OSD out of the maps.
func lose(c *simulated.Cluster, id string) {
	d := cephclient.Daemon{Type: cephclient.TypeOSD, ID: id}
	c.Stop(d)
	c.Advance(c.Now + 10_000)
	if _, err := c.Run(context.Background(), cephclient.Command{Args: []string{"osd", "purge", id, "--yes-i-really-mean-it"}}); err != nil {
		panic(err)
	}
}

// kill ends an OSD for good, and takes it out.
func (r *rig) kill(osd cephclient.Daemon, trouble string) {
	r.t.Helper()
	r.world.Broken = func(d cephclient.Daemon, _ string) bool { return d == osd }
	r.ceph.Do(func(c *simulated.Cluster) {
		c.Stop(osd)
		r.run(c, "osd", "out", osd.ID)
	})
	r.change(osd, func(p *corev1.Pod) {
		p.Status.Conditions, p.Status.ContainerStatuses = nil, nil
		if trouble != "" {
			end := &corev1.ContainerStateTerminated{ExitCode: 64, Message: trouble}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "format-data", LastTerminationState: corev1.ContainerState{Terminated: end}}}
		}
	})
}

func (r *rig) run(c *simulated.Cluster, args ...string) {
	r.t.Helper()
	result, err := c.Run(r.t.Context(), cephclient.Command{Args: args})
	if err != nil || result.Code != 0 {
		r.t.Fatalf("%v: %v %s", args, err, result.Stderr)
	}
}

// warning returns the message of the Warning with a reason; empty without one.
func (r *rig) warning(reason string) string {
	for _, c := range r.get().Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == reason {
			return c.Message
		}
	}
	return ""
}

// deployment reports whether a daemon has a Deployment.
func (r *rig) deployment(d cephclient.Daemon) bool {
	r.t.Helper()
	_, found := r.deployments()[d.String()]
	return found
}

// TestKindWaitsForOSDsOfOthers holds before the release is required while an OSD without a Deployment is older, and says what to do with it.
func TestKindWaitsForOSDsOfOthers(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "7"}
	for name, tc := range map[string]struct {
		// release that it runs, or ran.
		release string
		down    bool
		want    string
	}{
		"on the release":         {release: "18"},
		"older":                  {release: "16", want: "osd.7 run another version than 18.2.7 without a Deployment of this cluster: upgrade them where they are run"},
		"older, and it was lost": {release: "16", down: true, want: "osd.7 are down and last ran another version than 18.2.7: repair them, or remove them with ceph osd purge"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.ceph.Do(func(c *simulated.Cluster) {
				c.Add(osd)
				r.must(c.Start(osd, cephtest.Releases()[tc.release], "elsewhere"))
			})
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.until("the first OSD", 10*time.Minute, func() bool {
				return r.entry().Data["daemon"] == "osd.2" && r.entry().State == cephupgrade.AwaitingDaemon
			})
			if tc.down {
				r.ceph.Do(func(c *simulated.Cluster) { c.Stop(osd); r.run(c, "osd", "out", osd.ID) })
			}
			if tc.want == "" {
				r.until("the upgrade", 10*time.Minute, func() bool {
					return r.entry().State == cephupgrade.Settled && strings.Contains(r.versions()["mds"], "18")
				})
				return
			}
			r.until("the hold", 5*time.Minute, func() bool {
				return r.entry().State == cephupgrade.DeadOSD && strings.Contains(r.message(lifecycle.Ready), tc.want)
			})
		})
	}
}

// TestKindNamesThePodThatAReplacementWaitsFor adds storage while the pod of a removed OSD hangs on a node that is down. Ceph gives its number to the
// new OSD, which is launched once the pod is gone.
func TestKindNamesThePodThatAReplacementWaitsFor(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "3"}
	c := cluster("ceph:16")
	c.Spec.Storage.VolumeClaims[0].Count = 3
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.kill(osd, "")
	for range 15 {
		r.step()
	}
	r.ceph.Do(func(c *simulated.Cluster) { r.run(c, "osd", "purge", osd.ID, "--yes-i-really-mean-it") })
	var list corev1.PodList
	r.must(r.client.List(t.Context(), &list, client.MatchingLabels{"ceph_daemon_type": "osd", "ceph_daemon_id": "3"}))
	hung := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph-osd-3-hung", Namespace: "rook-ceph", Labels: list.Items[0].Labels},
		Spec:       corev1.PodSpec{NodeName: "down", Containers: list.Items[0].Spec.Containers},
	}
	r.must(r.client.Create(t.Context(), hung))
	r.until("the removal", 5*time.Minute, func() bool { return r.warning("OSDRemoved") != "" })
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.Storage.Nodes = append(c.Spec.Storage.Nodes, cephv1.NodeStorage{Name: "node-2", Directories: []cephv1.Directory{{Path: "/var/lib/osd"}}})
	})
	const until = "it waits until the pod rook-ceph-osd-3-hung of the removed osd.3 is gone: if its node is down for good, delete the pod with --force"
	want := "not serving: the OSD of /var/lib/osd on node-2 (" + until + ")"
	r.until("the reason", 5*time.Minute, func() bool { return r.message(lifecycle.Ready) == want })
	_, value, _ := strings.Cut(r.warning("OSDRemoved"), "detent.dev/approve=")
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{"detent.dev/approve": value} })
	r.until("the reason of the approved one", time.Minute, func() bool {
		return r.warning("OSDRemoved") == "osd.3 was removed from Ceph, and another OSD is made in the directory /var/lib/osd on node-1: "+until
	})
	r.world.Broken = nil
	r.must(r.client.Delete(t.Context(), hung, client.GracePeriodSeconds(0)))
	r.until("both OSDs", 5*time.Minute, func() bool { return r.settled("16")() && r.deployment(osd) && r.warning("OSDRemoved") == "" })
}
