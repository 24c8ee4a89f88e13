package campaign_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/ceph/pods"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// TestCampaign injects faults at every effect and event of the changes of a Kafka cluster, of an account with instances at an external
// system, and of requests for the offsets of a connector, as ModeOf selects them; nightly with six nodes too.
func TestCampaign(t *testing.T) {
	mode, err := campaign.ModeOf(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	world, err := newLands()
	if err != nil {
		t.Fatal(err)
	}
	subjects := selectedSubjects(t, world, mode)
	environment := begin(t, world, subjects...)
	for _, s := range subjects {
		t.Run(s.Name, func(t *testing.T) { campaign.Inject(t, environment, s, mode) })
	}
}

// selectedSubjects returns the selected subjects. Without any, the test is skipped with the names of all of them.
func selectedSubjects(t *testing.T, world *lands, mode campaign.Mode) []*campaign.Subject {
	t.Helper()
	type way struct {
		name    string
		pools   pools
		changes changes
	}
	all := []way{
		{"kafka version, three nodes of both roles", dualRoles, upgrades(len(levels()) - 1)},
		{"kafka setting, three nodes of both roles", dualRoles, settings()},
		{"kafka configuration, three nodes of both roles", dualRoles, alterations()},
		{"kafka scale-down, one node of both roles and four brokers", shrinking, removals()},
		{"kafka drain, one node of both roles and four brokers", shrinking, drains(2)},
	}
	if mode.Nightly {
		all = append(all, way{"kafka version, three controllers and three brokers", separate, upgrades(len(levels()) - 1)})
	}
	var (
		out   []*campaign.Subject
		names []string
	)
	for _, one := range all {
		names = append(names, one.name)
		if !mode.Takes(one.name) {
			continue
		}
		s, err := kafkaSubject(world, one.name, one.pools, one.changes, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if names = append(names, cephUpgrade); mode.Takes(cephUpgrade) {
		s, err := cephSubject(world)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	const accounts = "accounts"
	if names = append(names, accounts); mode.Takes(accounts) {
		s, err := accountsSubject()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	operations := requests()
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		if names = append(names, name); !mode.Takes(name) {
			continue
		}
		s, err := mirrorsSubject(world, name, operations[name])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		t.Skipf("DETENT_PROOF_ONLY asks for none of %q", names)
	}
	return out
}

// begin starts a control plane with the kinds of the subjects, and simulated kubelets.
func begin(t *testing.T, world *lands, subjects ...*campaign.Subject) *campaign.Environment {
	t.Helper()
	log.SetLogger(logr.Discard())
	environment, err := campaign.NewEnvironment(t.Context(), t.Output(), func(_ context.Context, a *campaign.Environment, mgr ctrl.Manager) error {
		world.admin = a.Admin
		if err := pods.SetupWithManager(mgr, clock.RealClock{}, world.ceph.running); err != nil {
			return err
		}
		return kubelet.SetupWithManager(mgr, world)
	}, subjects...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Close(); err != nil {
			t.Error(err)
		}
	})
	return environment
}

// isCurrentlyReady reports whether the object is Ready in its current generation.
func isCurrentlyReady(o lifecycle.Object) bool {
	status := o.LifecycleStatus()
	return status.ObservedGeneration == o.GetGeneration() && meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready)
}
