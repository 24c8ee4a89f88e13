package planning

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/simulator/connect"
)

// TestSimulationContinuesAFrozenWorker checks that a frozen worker continues at its time, and not before.
func TestSimulationContinuesAFrozenWorker(t *testing.T) {
	name, begin := types.NamespacedName{Namespace: "default", Name: "my-mm2"}, time.Unix(1_700_000_000, 0)
	clock := clocktesting.NewFakePassiveClock(begin)
	c := connect.New(connect.DefaultSettings(), 2, false)
	c.Start(0, false)
	c.Freeze(0)
	s := &simulation{
		env: &plan.Environment{Begin: begin, Clock: clock}, groups: map[types.NamespacedName]*connect.Cluster{name: c},
		silent: []silent{{group: name, worker: 0, until: begin.Add(time.Minute)}},
	}
	if at, ok := s.Next(); !ok || !at.Equal(begin.Add(time.Minute)) {
		t.Errorf("the next event is at %s, %v, want after a minute", at, ok)
	}
	s.Happen()
	if c.Workers[0].Process != connect.Frozen {
		t.Error("the worker continues at once")
	}
	clock.SetTime(begin.Add(time.Minute))
	s.Happen()
	if c.Workers[0].Process != connect.Up {
		t.Error("the worker is still frozen after a minute")
	}
	if at, ok := s.Next(); ok {
		t.Errorf("another event at %s", at)
	}
}
