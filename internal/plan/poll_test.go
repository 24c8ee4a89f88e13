package plan_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
)

// counted counts the jobs of a simulation.
type counted struct {
	plan.Simulation
	jobs *int
}

// Drivers implements plan.Simulation.
func (c counted) Drivers() []plan.Driver {
	drivers := c.Simulation.Drivers()
	for i := range drivers {
		run := drivers[i].Run
		drivers[i].Run = func(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
			*c.jobs++
			return run(ctx, name)
		}
	}
	return drivers
}

// The wait for an empty broker has a deadline of a day. It must not be simulated poll by poll, of which there are 2,880.
func TestMakeDoesNotPollABlockedRemoval(t *testing.T) {
	kinds, jobs := kafkas(), 0
	simulate := kinds[0].Simulate
	kinds[0].Simulate = func(e *plan.Environment) (plan.Simulation, error) {
		s, err := simulate(e)
		return counted{s, &jobs}, err
	}
	found, err := objects.Read([]string{"testdata/cases/scale-down-holds-replicas.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := readInput(kinds, found)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Make(context.Background(), in, plan.Options{OperatorVersion: "0.0.0"}); err != nil {
		t.Fatal(err)
	}
	if jobs > 400 {
		t.Errorf("%d jobs were simulated", jobs)
	}
	t.Logf("%d jobs", jobs)
}
