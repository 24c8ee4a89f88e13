package external

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

var (
	start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	name  = types.NamespacedName{Namespace: "ns", Name: "c"}
)

// An alarm never keeps another one from ringing earlier.
func TestAlarmsFireTheEarliest(t *testing.T) {
	clk, rung := clocktesting.NewFakeClock(start), make(chan time.Duration, 10)
	a := &alarms{}
	for _, after := range []time.Duration{time.Minute, 5 * time.Second, 10 * time.Second} {
		a.set(clk, "u", after, func() { rung <- after })
	}
	clk.Step(5 * time.Second)
	if got := <-rung; got != 5*time.Second {
		t.Errorf("the alarm after %s rang first", got)
	}
	if clk.HasWaiters() {
		t.Error("more than one alarm was set")
	}
}

// Who waits for an answer to change is woken for another look, once for each.
func TestAlarmsFireOnce(t *testing.T) {
	alarm := func() chan types.NamespacedName { return make(chan types.NamespacedName, 10) }
	for title, tc := range map[string]struct {
		after func(*alarms)
		want  int
	}{
		"once, however often it was asked for": {want: 1},
		"not after it was dropped":             {after: func(a *alarms) { a.drop("u") }},
		"not after all was closed":             {after: (*alarms).close},
	} {
		t.Run(title, func(t *testing.T) {
			clk, rung := clocktesting.NewFakeClock(start), alarm()
			a := &alarms{}
			for range 3 {
				a.set(clk, "u", 5*time.Second, func() { rung <- name })
			}
			clk.Step(4 * time.Second)
			if len(rung) > 0 {
				t.Error("woken too early")
			}
			if tc.after != nil {
				tc.after(a)
			}
			clk.Step(time.Minute)
			for range tc.want {
				<-rung
			}
			if len(rung) > 0 {
				t.Errorf("woken %d times more", len(rung))
			}
			a.set(clk, "u", time.Second, func() { rung <- name })
			if again := clk.HasWaiters(); again == a.closed {
				t.Errorf("another alarm was set: %v", again)
			}
		})
	}
}
