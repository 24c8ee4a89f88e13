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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

type effect = cephupgrade.Effect

// launched is a cluster that runs a release and rests.
func launched(t *testing.T, release string) *rig {
	t.Helper()
	r := newRig(t, cluster("ceph:"+release))
	r.until("the launch", 5*time.Minute, r.settled(release))
	r.started()
	return r
}

// clean fails if a cluster at rest holds what an upgrade needed.
func (r *rig) clean() {
	r.t.Helper()
	r.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range c.Daemons {
			if d.NoOut {
				r.t.Errorf("%s keeps its flag noout", d.Name)
			}
		}
		for key := range c.Keys {
			if key != "detent/upgrade" {
				r.t.Errorf("the key %s is left", key)
			}
		}
		for _, f := range c.Filesystems {
			if f.MaxMDS != 1 {
				r.t.Errorf("max_mds of %s is %d", f.Name, f.MaxMDS)
			}
		}
	})
}

// TestKindLaunchesACluster launches all daemons in the order in which they depend on each other, and each of them once.
func TestKindLaunchesACluster(t *testing.T) {
	r := newRig(t, cluster("ceph:16"))
	r.until("the launch", 5*time.Minute, r.settled("16"))
	want := []string{
		"mon.a", "mon.b", "mon.c", "mgr.a", "mgr.b", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a", "mds.myfs-b",
	}
	if diff := cmp.Diff(want, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	t.Logf("%s, states %v", r.clock.Since(noon), r.states)
}

// order in which the daemons of the tests are replaced, up to the OSDs.
func order() []string {
	return []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2"}
}

// TestKindUpgradesACluster upgrades all daemons, one at a time.
func TestKindUpgradesACluster(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		last     []string
		// disturb is called in each second.
		disturb func(r *rig, second int)
	}{
		"14 to 16": {from: "14", to: "16", last: []string{"rgw.store.a", "mds.myfs-a", "mds.myfs-b"}},
		"16 to 18": {from: "16", to: "18", last: []string{"rgw.store.a", "mds.myfs-b", "mds.myfs-a"}},
		"16 to 18 with an operator that ends again and again": {
			from: "16", to: "18", last: []string{"rgw.store.a", "mds.myfs-b", "mds.myfs-a"},
			disturb: func(r *rig, second int) {
				if second%7 == 0 {
					r.restart()
				}
			},
		},
		"14 to 16 with a status that is lost again and again": {
			from: "14", to: "16", last: []string{"rgw.store.a", "mds.myfs-a", "mds.myfs-b"},
			disturb: func(r *rig, second int) {
				if second%23 == 0 {
					c := r.get()
					c.Status = cephv1.ClusterStatus{}
					r.must(r.client.Status().Update(context.Background(), c))
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + tc.to })
			r.step()
			second := 0
			r.until("the upgrade", 15*time.Minute, func() bool {
				second++
				if tc.disturb != nil {
					tc.disturb(r, second)
				}
				return r.settled(tc.to)()
			})
			if diff := cmp.Diff(append(order(), tc.last...), r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
			r.ceph.Do(func(c *simulated.Cluster) {
				if want := cephtest.Releases()[tc.to].Major; c.RequireRelease != want {
					t.Errorf("OSDs are required to run %d, want %d", c.RequireRelease, want)
				}
			})
			t.Logf("%d seconds", second)
		})
	}
}

// TestKindUpgradesComponents upgrades the monitors, then managers and OSDs, and then the rest.
func TestKindUpgradesComponents(t *testing.T) {
	r := launched(t, "16")
	awaiting := func() bool { return r.entry().State == cephupgrade.AwaitingAdmin }
	for _, step := range []struct {
		name string
		edit func(*cephv1.Cluster)
		done func() bool
		want map[string]string
	}{
		{
			name: "the monitors",
			edit: func(c *cephv1.Cluster) {
				c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon"}}
			},
			done: awaiting, want: map[string]string{"mon": "18", "mgr": "16", "osd": "16", "rgw": "16", "mds": "16"},
		},
		{
			name: "managers and OSDs, in another order",
			edit: func(c *cephv1.Cluster) { c.Spec.UpgradePolicy.Components = []cephv1.Component{"osd", "mon", "mgr"} },
			done: func() bool { return awaiting() && r.versions()["osd"] == "18" },
			want: map[string]string{"mon": "18", "mgr": "18", "osd": "18", "rgw": "16", "mds": "16"},
		},
		{
			name: "the rest, by another name of the same version",
			edit: func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "registry.example/ceph:18" },
			done: r.settled("18"), want: map[string]string{"mon": "18", "mgr": "18", "osd": "18", "rgw": "18", "mds": "18"},
		},
	} {
		r.world.Images["registry.example/ceph:18"] = cephtest.Releases()["18"]
		r.edit(step.edit)
		r.step()
		r.until(step.name, 15*time.Minute, step.done)
		if diff := cmp.Diff(step.want, r.versions()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	r.clean()
}

// TestKindRefuses refuses specs before any daemon is touched, with the reason and the remedy, and goes on once they are corrected.
func TestKindRefuses(t *testing.T) {
	policy := func(image string, components ...cephv1.Component) *cephv1.UpgradePolicy {
		return &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: image}, Components: components}
	}
	for name, tc := range map[string]struct {
		from string
		edit func(*cephv1.Cluster)
		want string
	}{
		"more than two releases":         {"14", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" }, "the most is two releases"},
		"a downgrade":                    {"18", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" }, "their data cannot be used by an older release"},
		"an unknown release":             {"18", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:99" }, "set allowUnsupported to true"},
		"OSDs without monitors":          {"16", func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = policy("ceph:18", "osd") }, "has osd without mon, mgr"},
		"an image that is not Ceph":      {"16", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "busybox:1" }, "is not an image of Ceph"},
		"an image that cannot be pulled": {"16", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "nowhere/ceph:18" }, "check that it exists and can be pulled"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			unknown := cephtest.Releases()["18"]
			unknown.Major = 20
			r.world.Images["ceph:99"] = unknown
			r.edit(tc.edit)
			r.step()
			r.until("the refusal", 8*time.Minute, func() bool { return r.entry().State == cephupgrade.Refusing })
			r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), tc.want) })
			if started := r.started(); len(started) > 0 {
				t.Errorf("started: %v", started)
			}
			r.edit(func(c *cephv1.Cluster) {
				c.Spec.UpgradePolicy, c.Spec.CephVersion.Image = nil, "ceph:"+tc.from
			})
			r.step()
			r.until("the correction", 5*time.Minute, r.settled(tc.from))
			if started := r.started(); len(started) > 0 {
				t.Errorf("started after the correction: %v", started)
			}
		})
	}
}

func (r *rig) message(kind string) string {
	for _, c := range r.get().Status.Conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return ""
}

// TestKindHoldsARemovedPolicy moves no daemon back when the policy is removed half way.
func TestKindHoldsARemovedPolicy(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon"}}
	})
	r.step()
	r.until("the monitors", 10*time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingAdmin })
	r.started()
	r.edit(func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil })
	r.step()
	r.until("the hold", time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
	for range 60 {
		r.step()
	}
	if started := r.started(); len(started) > 0 || r.versions()["mon"] != "18" {
		t.Errorf("started %v, versions %v", started, r.versions())
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.step()
	r.until("the rest", 15*time.Minute, r.settled("18"))
}

// TestKindWaits names what it waits for, replaces no further daemon, and goes on by itself.
func TestKindWaits(t *testing.T) {
	boom := cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr, Summary: "boom"}
	osd2 := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "2"}
	osds := []cephclient.Daemon{{Type: cephclient.TypeOSD, ID: "0"}, {Type: cephclient.TypeOSD, ID: "1"}, osd2}
	for name, tc := range map[string]struct {
		begin, end func(r *rig)
		state      string
		want       string
	}{
		"a health code": {
			begin: func(r *rig) { r.ceph.Do(func(c *simulated.Cluster) { c.Raise(boom) }) },
			end:   func(r *rig) { r.ceph.Do(func(c *simulated.Cluster) { c.Clear(boom.Code) }) },
			state: cephupgrade.AwaitingHealth, want: "TEST_BOOM",
		},
		"an OSD that is stopped": {
			begin: func(r *rig) { r.ceph.Do(func(c *simulated.Cluster) { c.Stop(osd2) }) },
			end: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) {
					d, _ := c.Daemon(osd2)
					_ = c.Start(osd2, d.Version, d.Pod)
				})
			},
			want: "OSD_DOWN",
		},
		"OSDs that are stopped, and that a flag keeps in": {
			begin: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) {
					for _, d := range osds {
						c.Stop(d)
						c.Flag(d, true)
					}
				})
			},
			end: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) {
					for _, name := range osds {
						c.Flag(name, false)
						d, _ := c.Daemon(name)
						_ = c.Start(name, d.Version, d.Pod)
					}
				})
			},
			want: "the flag noout keeps Ceph from marking it out: repair it, or remove the flag",
		},
		"Ceph that does not permit to stop a daemon": {
			begin: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) {
					c.Faults = append(c.Faults, simulated.Fault{Command: "osd ok-to-stop", Result: cephclient.Result{Code: 16, Stderr: []byte("Error EBUSY: not now\n")}})
				})
			},
			end:   func(r *rig) { r.ceph.Do(func(c *simulated.Cluster) { c.Faults = nil }) },
			state: cephupgrade.AwaitingOkToStop, want: "Ceph answers for osd.",
		},
		"a gateway that an administrator stopped": {
			begin: func(r *rig) { r.scale("rook-ceph-rgw-store-a", 0) },
			end:   func(r *rig) { r.scale("rook-ceph-rgw-store-a", 1) },
			state: cephupgrade.ReplacingDaemon, want: "not available: rgw.store.a",
		},
		"an image that does not start": {
			begin: func(r *rig) {
				r.world.Broken = func(d cephclient.Daemon, image string) bool {
					return d == osds[0] && strings.HasPrefix(image, "ceph:18")
				}
			},
			end:   func(r *rig) { r.world.Broken = nil },
			state: cephupgrade.AwaitingDaemon, want: "osd.0 does not run (CrashLoopBackOff)",
		},
		"a command that hangs": {
			begin: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) {
					c.Faults = append(c.Faults, simulated.Fault{Command: "health", Kind: simulated.Hang})
				})
			},
			end:  func(r *rig) { r.ceph.Do(func(c *simulated.Cluster) { c.Faults = nil }) },
			want: "longer than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.step()
			r.until("the managers", 10*time.Minute, func() bool {
				return r.versions()["mgr"] == "18" && r.entry().Data["daemon"] == "osd.0" && len(r.world.Started) == 5
			})
			tc.begin(r)
			r.until("the wait", 2*time.Minute, func() bool {
				return (tc.state == "" || r.entry().State == tc.state) && slices.ContainsFunc(r.entry().WaitingFor, func(w lifecyclev1.WaitingFor) bool { return strings.Contains(w.Observed, tc.want) })
			})
			before := len(r.world.Started)
			for range 30 {
				r.step()
			}
			if len(r.world.Started) > before {
				t.Errorf("started meanwhile: %v", r.world.Started[before:])
			}
			tc.end(r)
			r.until("the end", 15*time.Minute, r.settled("18"))
			r.clean()
		})
	}
}

// scale a Deployment by hand.
func (r *rig) scale(name string, replicas int32) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: name}, d))
	d.Spec.Replicas = &replicas
	r.must(r.client.Update(context.Background(), d))
}

// TestKindWithoutAVersion leaves a cluster on its release, and launches none whose default image cannot be pulled.
func TestKindWithoutAVersion(t *testing.T) {
	t.Run("a cluster that exists", func(t *testing.T) {
		r := launched(t, "16")
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion = nil })
		for range 30 {
			r.step()
		}
		if started := r.started(); len(started) > 0 || !r.settled("16")() {
			t.Errorf("started %v, in state %s", started, r.entry().State)
		}
	})
	t.Run("a new cluster", func(t *testing.T) {
		c := cluster("")
		c.Spec.CephVersion = nil
		r := newRig(t, c)
		r.until("the refusal", 8*time.Minute, func() bool { return r.entry().State == cephupgrade.Refusing })
		r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), "Supported are 14 nautilus") })
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion = &cephv1.CephVersion{Image: "ceph:16"} })
		r.until("the launch", 5*time.Minute, r.settled("16"))
	})
}

// TestKindRepairs creates what was lost, on what it ran.
func TestKindRepairs(t *testing.T) {
	r := launched(t, "16")
	ctx := context.Background()
	lose := func(o client.Object, name string) {
		t.Helper()
		o.SetName(name)
		o.SetNamespace("rook-ceph")
		r.must(r.client.Delete(ctx, o))
	}
	lose(&appsv1.Deployment{}, "rook-ceph-osd-1")
	lose(&corev1.Service{}, "rook-ceph-mon-b")
	before := r.record().Daemons["mon.b"].Address
	r.until("the repair", 3*time.Minute, func() bool { return len(r.world.Started) == 1 && r.settled("16")() })
	if diff := cmp.Diff([]string{"osd.1"}, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	s := &corev1.Service{}
	r.must(r.client.Get(ctx, client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-b"}, s))
	if s.Spec.ClusterIP != before {
		t.Errorf("mon.b has the address %s, was %s", s.Spec.ClusterIP, before)
	}
}

// TestKindKeepsItsIdentity restores a record that was deleted, founds no second cluster after a restart, and adopts what a deleted resource
// left.
func TestKindKeepsItsIdentity(t *testing.T) {
	r := launched(t, "16")
	ctx := context.Background()
	remove := func(o client.Object, name string) {
		t.Helper()
		o.SetName(name)
		o.SetNamespace("rook-ceph")
		r.must(r.client.Delete(ctx, o))
	}
	before := r.record()
	remove(&corev1.ConfigMap{}, record.Name("rook-ceph"))
	r.step()
	if diff := cmp.Diff(before, r.record()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}

	remove(&corev1.ConfigMap{}, record.Name("rook-ceph"))
	r.restart()
	for range 30 {
		r.step()
	}
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: "rook-ceph", Name: record.Name("rook-ceph")}, &corev1.ConfigMap{}); err == nil {
		t.Error("another record was made")
	}
	data, err := record.Encode(before)
	r.must(err)
	r.must(r.client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: record.Name("rook-ceph"), Namespace: "rook-ceph", Labels: map[string]string{"ceph.rook.io/cluster": "rook-ceph"}}, Data: data}))
	r.until("the restored record", time.Minute, r.settled("16"))

	again := cluster("ceph:16")
	again.UID = "another"
	r.must(r.client.Delete(ctx, r.get()))
	r.must(r.client.Create(ctx, again))
	r.started()
	r.until("the adoption", 5*time.Minute, func() bool { return len(r.world.Started) == 11 && r.settled("16")() })
	if r.record().FSID != before.FSID {
		t.Error("another cluster was founded")
	}
}

func (r *rig) record() *record.Record {
	r.t.Helper()
	m := &corev1.ConfigMap{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: record.Name("rook-ceph")}, m))
	out, err := record.Decode(m.Data)
	r.must(err)
	return out
}

// TestKindAdds adds daemons that were declared later, with their keys, on the version that the cluster runs.
func TestKindAdds(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.Filesystems = append(c.Spec.Filesystems, cephv1.FilesystemSpec{Name: "other", ActiveCount: 2, StandbyCount: 1})
		c.Spec.Storage.VolumeClaims[0].Count = 3
		c.Spec.Mgr.Count = 3
	})
	r.step()
	r.until("the new daemons", 5*time.Minute, func() bool { return len(r.world.Started) == 5 && r.settled("16")() })
	want := []string{"mds.other-a", "mds.other-b", "mds.other-c", "mgr.c", "osd.3"}
	if got := r.started(); cmp.Diff(want, slices.Sorted(slices.Values(got))) != "" {
		t.Errorf("started %v, want %v", got, want)
	}
	r.ceph.Do(func(c *simulated.Cluster) {
		if c.Filesystems[1].MaxMDS != 2 {
			t.Errorf("max_mds of other is %d, want 2", c.Filesystems[1].MaxMDS)
		}
	})
}

// TestKindRestsWithoutWrites writes nothing while nothing changes.
func TestKindRestsWithoutWrites(t *testing.T) {
	r := launched(t, "16")
	version := func() (all []string) {
		var list corev1.ConfigMapList
		r.must(r.client.List(context.Background(), &list))
		for _, m := range list.Items {
			all = append(all, m.ResourceVersion)
		}
		return append(all, r.get().ResourceVersion)
	}
	for range 30 {
		r.step()
	}
	before := version()
	for range 40 {
		r.step()
	}
	if diff := cmp.Diff(before, version()); diff != "" {
		t.Errorf("written at rest (-before +after):\n%s", diff)
	}
}

// TestKindKeepsSecretsSecret finds no key outside the Secret.
func TestKindKeepsSecretsSecret(t *testing.T) {
	r := launched(t, "16")
	s := &corev1.Secret{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-keys"}, s))
	if len(s.OwnerReferences) > 0 {
		t.Error("the keys have an owner: they would be deleted with the Cluster")
	}
	for entry, keyring := range s.Data {
		key, found := strings.CutPrefix(strings.SplitN(string(keyring), "\n", 3)[1], "\tkey = ")
		if !found {
			t.Fatalf("the entry %s has no key", entry)
		}
		var maps corev1.ConfigMapList
		var deployments appsv1.DeploymentList
		r.must(r.client.List(context.Background(), &maps))
		r.must(r.client.List(context.Background(), &deployments))
		for _, m := range maps.Items {
			for _, text := range m.Data {
				if strings.Contains(text, key) {
					t.Errorf("the ConfigMap %s contains the key of %s", m.Name, entry)
				}
			}
		}
		for i := range deployments.Items {
			if strings.Contains(deployments.Items[i].String(), key) {
				t.Errorf("the Deployment %s contains the key of %s", deployments.Items[i].Name, entry)
			}
		}
	}
}
