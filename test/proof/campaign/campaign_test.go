package campaign_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// TestEveryFault lets faults strike at every effect and event of every subject: a sample that takes turns from day to day; all of
// one fault if DETENT_PROOF is all; two faults, every depth of time travel and six nodes if it is nightly. DETENT_PROOF_PLANS
// bounds the plans of each subject, of which DETENT_PROOF_SEED then draws; DETENT_PROOF_ONLY takes the subjects whose names
// contain it, and DETENT_PROOF_PLAN the plans: so one that went wrong is repeated by its own words.
func TestEveryFault(t *testing.T) {
	mode, err := modeOf(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	world, err := newLands()
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := mode.subjects(world)
	if err != nil {
		t.Fatal(err)
	}
	arena := begin(t, world, subjects...)
	for _, s := range subjects {
		t.Run(s.Name, func(t *testing.T) {
			c := &campaign.Campaign{Arena: arena, Subject: s, AtOnce: mode.atOnce, Log: t.Logf}
			if err := c.Refer(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			plans, of := mode.plans(c)
			t.Logf("%d of %d plans, seed %d", len(plans), of, mode.seed)
			report, err := c.Run(t.Context(), plans)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("the table of faults:\n\n%s", report.Table())
			if err := report.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// begin a control plane that knows the subjects, beside simulated kubelets.
func begin(t *testing.T, world *lands, subjects ...*campaign.Subject) *campaign.Arena {
	t.Helper()
	log.SetLogger(logr.Discard())
	arena, err := campaign.NewArena(t.Context(), t.Output(), func(ctx context.Context, a *campaign.Arena, mgr ctrl.Manager) error {
		if err := kubelet.CreateNodes(ctx, a.Admin, time.Now(), "node-1", "node-2", "node-3"); err != nil {
			return err
		}
		return kubelet.SetupWithManager(mgr, world)
	}, subjects...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	})
	return arena
}

// isCurrentlyReady says whether the object shows as ready in its newest generation.
func isCurrentlyReady(o lifecycle.Object) bool {
	status := o.LifecycleStatus()
	return status.ObservedGeneration == o.GetGeneration() && meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready)
}

// number in the environment, or another one.
func number(env func(string) string, name string, otherwise int) (int, error) {
	if env(name) == "" {
		return otherwise, nil
	}
	return strconv.Atoi(env(name))
}
