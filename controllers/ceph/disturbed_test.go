package ceph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// oracle judges each replacement of a daemon at the moment at which its pod is ended, by what the simulated cluster really does.
type oracle struct {
	r        *rig
	to       int
	findings []string
	// disturbed is when the last disturbance began: what the operator has written just before could not regard it.
	disturbed time.Time
}

// replacing is called before a pod is ended because its Deployment was changed.
func (o *oracle) replacing(d cephclient.Daemon) {
	known := o.r.clock.Since(o.disturbed) > time.Second
	o.r.ceph.Do(func(c *simulated.Cluster) {
		for i := range c.Daemons {
			other := &c.Daemons[i]
			standby := d.Type == cephclient.TypeMDS && other.Name.Type == cephclient.TypeMDS // stopped for the change of its active server
			switch {
			case other.Name == d:
			case !other.Running && !standby && known:
				o.finds("%s is taken away while %s does not run", d, other.Name)
			case d.Type == cephclient.TypeOSD && other.Name.Type == d.Type && c.Now < other.Since+c.Settings.OSDBoot+c.Settings.Recovery:
				o.finds("%s is taken away while %s recovers", d, other.Name)
			case before(other.Name.Type, d.Type) && other.Version.Major != o.to:
				o.finds("%s changes before %s", d, other.Name)
			}
		}
		if d.Type == cephclient.TypeMDS && c.RequireRelease != o.to {
			o.finds("%s changes before the release is required", d)
		}
		for _, code := range c.Codes {
			if !known {
				break
			}
			o.finds("%s is taken away although %s is raised", d, code.Code)
		}
	})
}

func (o *oracle) finds(format string, args ...any) {
	o.findings = append(o.findings, fmt.Sprintf("%s: ", o.r.clock.Since(noon))+fmt.Sprintf(format, args...))
}

// before is the order of the types; gateways and metadata servers do not depend on each other.
func before(a, b cephclient.Type) bool {
	order := []cephclient.Type{cephclient.TypeMon, cephclient.TypeMgr, cephclient.TypeOSD}
	at, of := slices.Index(order, a), slices.Index(order, b)
	return at >= 0 && (of < 0 || at < of)
}

// disturbances of an upgrade. Each is undone or heals by itself.
func disturbances() []func(*rig, *rand.Rand) {
	boom := cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr, Summary: "boom"}
	return []func(*rig, *rand.Rand){
		func(r *rig, _ *rand.Rand) { r.restart() },
		func(r *rig, _ *rand.Rand) { r.wipe() },
		func(r *rig, random *rand.Rand) { // a pod is lost
			var pods corev1.PodList
			r.must(r.client.List(context.Background(), &pods))
			p := &pods.Items[random.IntN(len(pods.Items))]
			r.ceph.Do(func(c *simulated.Cluster) {
				for _, d := range c.Daemons {
					if d.Pod == p.Name {
						c.Stop(d.Name)
					}
				}
			})
			r.must(r.client.Delete(context.Background(), p, client.GracePeriodSeconds(0)))
		},
		func(r *rig, _ *rand.Rand) { r.ceph.Do(func(c *simulated.Cluster) { c.Raise(boom) }) },
		func(r *rig, _ *rand.Rand) { // the answers to some commands are lost
			r.ceph.Do(func(c *simulated.Cluster) {
				c.Faults = append(c.Faults, simulated.Fault{Command: "osd set-group", Kind: simulated.LoseReply, Times: 1}, simulated.Fault{Command: "config-key set", Kind: simulated.Hang, Times: 1})
			})
		},
		func(r *rig, _ *rand.Rand) { r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = true }) },
	}
}

// calm undoes what does not heal by itself.
func calm(r *rig) {
	r.ceph.Do(func(c *simulated.Cluster) {
		c.Clear("TEST_BOOM")
		c.Unreachable = false
	})
}

// TestKindUnderDisturbances upgrades a cluster under random disturbances: the order is never violated, one daemon at a time is taken
// away, none while the cluster is unhealthy, and nothing stays behind.
func TestKindUnderDisturbances(t *testing.T) {
	for seed := range uint64(4) {
		from, to := "14", "16"
		if seed%2 == 1 {
			from, to = "16", "18"
		}
		t.Run(fmt.Sprintf("%s to %s, seed %d", from, to, seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // it has to be repeatable
			r := launched(t, from)
			o := &oracle{r: r, to: cephtest.Releases()[to].Major}
			r.world.Replacing = o.replacing
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + to })
			r.step()
			all, second, quiet := disturbances(), 0, 0
			r.until("the upgrade", 30*time.Minute, func() bool {
				second++
				switch {
				case second%29 == 0 && second < 600:
					o.disturbed = r.clock.Now()
					all[random.IntN(len(all))](r, random)
					quiet = second + 1 + random.IntN(20)
				case second == quiet:
					calm(r)
				}
				return r.settled(to)()
			})
			for _, finding := range o.findings {
				t.Error(finding)
			}
			r.clean()
			t.Logf("%d seconds", second)
		})
	}
}

// TestOracleFindsViolations takes daemons away as no upgrade does.
func TestOracleFindsViolations(t *testing.T) {
	r := launched(t, "16")
	osd := func(id string) cephclient.Daemon { return cephclient.Daemon{Type: cephclient.TypeOSD, ID: id} }
	for name, tc := range map[string]struct {
		disrupt func(c *simulated.Cluster)
		take    cephclient.Daemon
	}{
		"an OSD before the monitors": {func(*simulated.Cluster) {}, osd("0")},
		"two at once":                {func(c *simulated.Cluster) { c.Stop(osd("1")) }, cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"}},
		"an unhealthy cluster":       {func(c *simulated.Cluster) { c.Raise(cephclient.Check{Code: "X"}) }, cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &oracle{r: r, to: 18}
			r.ceph.Do(tc.disrupt)
			o.replacing(tc.take)
			if len(o.findings) == 0 {
				t.Error("it finds nothing")
			}
			r.ceph.Do(func(c *simulated.Cluster) { c.Clear("X") })
		})
	}
}
