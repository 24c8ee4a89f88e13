package ceph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

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
		"an unknown release":             {"18", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:21" }, "Ceph 21.2.7 unknown is not supported"},
		"a release that is skipped":      {"18", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:20" }, "skips 19 squid: upgrade to it first"},
		"OSDs without monitors":          {"16", func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = policy("ceph:18", "osd") }, "has osd without mon, mgr"},
		"an image that is not Ceph":      {"16", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "busybox:1" }, "is not an image of Ceph"},
		"an image that cannot be pulled": {"16", func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "nowhere/ceph:18" }, "check that it exists and can be pulled"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			for _, major := range []int{20, 21} {
				r.world.Images[fmt.Sprintf("ceph:%d", major)] = versions.Version{Major: major, Minor: 2, Patch: 7, Commit: "newer"}
			}
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

// TestKindHoldsARemovedVersion does not take an upgrade for done whose version, or the policy without one, is removed half way.
func TestKindHoldsARemovedVersion(t *testing.T) {
	for name, tc := range map[string]struct{ begin, remove func(*cephv1.Cluster) }{
		"the version": {
			begin:  func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" },
			remove: func(c *cephv1.Cluster) { c.Spec.CephVersion = nil },
		},
		"the policy of a cluster without a version": {
			begin: func(c *cephv1.Cluster) {
				c.Spec.CephVersion = nil
				c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon"}}
			},
			remove: func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.edit(tc.begin)
			r.step()
			r.until("the monitors", 10*time.Minute, func() bool { return r.versions()["mon"] == "18" })
			r.edit(tc.remove)
			r.step()
			r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
			r.started()
			for range 60 {
				r.step()
			}
			if started := r.started(); len(started) > 0 || r.condition(status.VersionSettled) != "False" {
				t.Errorf("started %v, VersionSettled is %s", started, r.condition(status.VersionSettled))
			}
			if text := r.message(lifecycle.Ready); !strings.Contains(text, "To finish, set spec.cephVersion.image to an image of 18.2.7. To stay here, set spec.upgradePolicy") {
				t.Errorf("shown %q", text)
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion = &cephv1.CephVersion{Image: "ceph:18"} })
			r.step()
			r.until("the rest", 15*time.Minute, r.settled("18"))
		})
	}
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
			state: cephupgrade.AwaitingOkToStop, want: "Ceph answers for osd.0: Denied: not now. Bring back the OSDs",
		},
		"a pool of one copy": {
			begin: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) { c.Pools = []simulated.Pool{{PGs: 8, Size: 1, MinSize: 1}} })
			},
			end: func(r *rig) {
				r.ceph.Do(func(c *simulated.Cluster) { c.Pools = []simulated.Pool{{PGs: 8, Size: 3, MinSize: 2}} })
			},
			state: cephupgrade.AwaitingOkToStop, want: "a pool whose size equals its min_size needs one more copy: ceph osd pool set <pool> size <copies>",
		},
		"a gateway that an administrator stopped": {
			begin: func(r *rig) { r.scale("rook-ceph-rgw-store-a", 0) },
			end:   func(r *rig) { r.scale("rook-ceph-rgw-store-a", 1) },
			state: cephupgrade.ReplacingDaemon, want: "not available: rgw.store.a",
		},
		"a gateway whose Deployment is gone and cannot be created": {
			begin: func(r *rig) {
				r.deny("rook-ceph-rgw-store-a")
				r.must(r.client.Delete(context.Background(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-rgw-store-a"}}))
			},
			end:   func(r *rig) { r.deny("") },
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

// TestKindWarnsOfOutageEntries names the entries of the annotation that have no effect.
func TestKindWarnsOfOutageEntries(t *testing.T) {
	r := launched(t, "16")
	for name, tc := range map[string]struct{ entries, want string }{
		"every type that can be accepted": {"mon, mgr,mds", ""},
		"a type that cannot be accepted":  {"mon,osd", `the entry "osd" of the annotation detent.dev/accept-outage has no effect: set mon, mgr or mds, whose outage can be accepted`},
		"no type":                         {strings.Repeat("x", 40), `the entry "` + strings.Repeat("x", 32) + `" of the annotation detent.dev/accept-outage has no effect: set mon, mgr or mds, whose outage can be accepted`},
		"no entry":                        {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{facts.AcceptOutage: tc.entries} })
			r.until("the warning", time.Minute, func() bool { return r.warning(status.OutageEntry) == tc.want })
		})
	}
}

// TestKindWarnsOfOptionsWithoutEffect names the options of the spec that would change the identity of the cluster, until they are removed.
func TestKindWarnsOfOptionsWithoutEffect(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.CephConfig = map[string]cephv1.ConfigSection{"osd": {"fsid": "a", "debug_ms": "1"}}
	})
	const want = `the option "fsid" in osd of spec.cephConfig has no effect: what identifies the cluster and its monitors is set for it`
	r.until("the warning", time.Minute, func() bool { return r.warning(status.OptionIgnored) == want })
	r.edit(func(c *cephv1.Cluster) { delete(c.Spec.CephConfig["osd"], "fsid") })
	r.until("that the warning ends", time.Minute, func() bool { return r.warning(status.OptionIgnored) == "" })
}

// scale a Deployment by hand.
func (r *rig) scale(name string, replicas int32) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: name}, d))
	d.Spec.Replicas = &replicas
	r.must(r.client.Update(context.Background(), d))
}

// TestKindKeepsAFilesystemReduced does not raise max_mds while the upgrade of metadata servers has stopped half way: a metadata server of the
// older release could become active beside one of the newer.
func TestKindKeepsAFilesystemReduced(t *testing.T) {
	image := func(name string) func(*cephv1.Cluster) {
		return func(c *cephv1.Cluster) { c.Spec.CephVersion.Image, c.Spec.UpgradePolicy = name, nil }
	}
	for name, tc := range map[string]struct {
		begin, stop func(*cephv1.Cluster)
		// mixed means that a metadata server was replaced before the upgrade stops.
		mixed bool
		state string
	}{
		"it waits beyond its deadline": {begin: image("ceph:18"), state: cephupgrade.AwaitingHealth},
		"the spec is refused":          {begin: image("ceph:18"), stop: image("busybox:1"), mixed: true, state: cephupgrade.Refusing},
		"the policy is removed": {
			begin: func(c *cephv1.Cluster) {
				c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{
					CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon", "mgr", "osd", "rgw", "mds"},
				}
			},
			stop: image("ceph:16"), mixed: true, state: cephupgrade.PolicyRemoved,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Filesystems[0].ActiveCount = 2
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			active := func() (n int) {
				r.ceph.Do(func(c *simulated.Cluster) { n = c.Filesystems[0].MaxMDS })
				return n
			}
			r.until("that the filesystem is complete", time.Minute, func() bool { return active() == 2 })
			r.edit(tc.begin)
			r.step()
			r.until("that the filesystem is reduced", 15*time.Minute, func() bool {
				return active() == 1 && (!tc.mixed || strings.Contains(r.versions()["mds"], " "))
			})
			if tc.stop != nil {
				r.edit(tc.stop)
				r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == tc.state })
			} else {
				r.ceph.Do(func(c *simulated.Cluster) {
					c.Raise(cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr})
				})
				r.until("the wait", time.Minute, func() bool { return r.entry().State == tc.state })
				r.clock.Step(2 * time.Hour)
				r.until("that it is stalled", time.Minute, func() bool { return r.condition(lifecycle.Stalled) == "True" })
			}
			for range 30 {
				r.step()
				if active() != 1 {
					t.Fatalf("max_mds is %d while the metadata servers run %s", active(), r.versions()["mds"])
				}
			}
			r.ceph.Do(func(c *simulated.Cluster) { c.Clear("TEST_BOOM") })
			r.edit(image("ceph:18"))
			r.until("the rest", 15*time.Minute, func() bool { return r.settled("18")() && active() == 2 })
		})
	}
}

// deny makes the controller fail to create a Deployment; empty for none.
func (r *rig) deny(deployment string) {
	r.t.Helper()
	base := r.client
	r.client = interceptor.NewClient(base.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, is := o.(*appsv1.Deployment); is && o.GetName() == deployment {
				return errors.New("exceeded quota")
			}
			return c.Create(ctx, o, opts...)
		},
	})
	r.restart()
	r.client = base
}
