package ceph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
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

// TestKindGoesOnWithoutWhatIsRefused makes everything else, says what the API server refuses, and makes that once it is permitted.
func TestKindGoesOnWithoutWhatIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		refused string
		want    []string
	}{
		"a claim":      {"rook-ceph-osd-set-0", []string{"mon.a", "mon.b", "mon.c", "mgr.a", "mgr.b", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a", "mds.myfs-b"}},
		"a Deployment": {"rook-ceph-mgr-a", []string{"mon.a", "mon.b", "mon.c", "mgr.b", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a", "mds.myfs-b"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cluster("ceph:16"))
			base, refuses := r.client, true
			r.client = interceptor.NewClient(base.(client.WithWatch), interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
					if refuses && object.GetName() == tc.refused {
						return apierrors.NewForbidden(schema.GroupResource{}, tc.refused, errors.New("exceeded quota"))
					}
					return c.Create(ctx, object, opts...)
				},
			})
			r.restart()
			r.client = base
			r.until("the rest", 10*time.Minute, func() bool { return len(r.world.Started) >= len(tc.want) })
			got := r.started()
			slices.Sort(got)
			if diff := cmp.Diff(slices.Sorted(slices.Values(tc.want)), got); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.until("what is refused", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), tc.refused) })
			if text := r.message(lifecycle.Ready); strings.Count(text, "exceeded quota") != 1 {
				t.Errorf("shown: %s", text)
			}
			refuses = false
			r.until("the launch", 10*time.Minute, r.settled("16"))
		})
	}
}

// order in which the daemons of the tests are replaced, up to the OSDs.
func order() []string {
	return []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2"}
}

// TestKindUpgradesACluster upgrades all daemons, one at a time.
func TestKindUpgradesACluster(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		// build is the number of the build of the newer release.
		build int
		last  []string
		// disturb is called in each second.
		disturb func(r *rig, second int)
	}{
		"14 to 16":            {from: "14", to: "16", last: []string{"rgw.store.a", "mds.myfs-a", "mds.myfs-b"}},
		"16 to 18":            {from: "16", to: "18", last: []string{"rgw.store.a", "mds.myfs-b", "mds.myfs-a"}},
		"16 to a build of 18": {from: "16", to: "18", build: 403, last: []string{"rgw.store.a", "mds.myfs-b", "mds.myfs-a"}},
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
					r.wipe()
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			to := cephtest.Releases()[tc.to]
			to.Build = tc.build
			r.world.Images["ceph:"+tc.to] = to
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + tc.to })
			r.step()
			second := 0
			r.until("the upgrade", 15*time.Minute, func() bool {
				second++
				if tc.disturb != nil {
					tc.disturb(r, second)
				}
				return r.settledOn(to)
			})
			if diff := cmp.Diff(append(order(), tc.last...), r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
			r.ceph.Do(func(c *simulated.Cluster) {
				if want := to.Major; c.RequireRelease != want {
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
// left. What the next one does not declare of it is named.
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

	less := cluster("ceph:16")
	less.UID, less.Spec.Mon.Count, less.Spec.Storage.VolumeClaims[0].Count, less.Spec.Filesystems[0].StandbyCount = "third", 1, 1, 0
	r.must(r.client.Delete(ctx, r.get()))
	r.must(r.client.Create(ctx, less))
	const want = "the record has daemons that the spec does not declare: mon.b, mon.c (set spec.mon.count to 3); osd.1 in set-1 (add their storage to spec.storage); " +
		"mds.myfs-b (add them to spec.filesystems)"
	r.until("the reason", 5*time.Minute, func() bool {
		return r.condition(lifecycle.Ready) == "False" && strings.Contains(r.message(lifecycle.Ready), want)
	})
	r.edit(func(c *cephv1.Cluster) { c.Spec = cluster("ceph:16").Spec })
	r.until("the daemons that were not declared", 5*time.Minute, func() bool { return r.settled("16")() && r.versions()["mon"] == "16" })
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
