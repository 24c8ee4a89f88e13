package pass_test

import (
	"testing"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/transitions"
)

// steady is an input whose snapshot costs nothing, so that only the pass is measured.
func steady(b *testing.B, w world, entries ...lifecyclev1.Lifecycle) input {
	in, _ := given(b, w, entries...)
	in.Observe = func([]transitions.Need, bool) (world, error) { return w, nil }
	return in
}

// BenchmarkDecide measures two lifecycles on one object. The aim is at most 4 µs at rest and 10 µs with a transition.
func BenchmarkDecide(b *testing.B) {
	idle := []lifecyclev1.Lifecycle{at("left", "Idle", "1"), at("right", "Idle", "1")}
	unsure := broken(known(1, 2), func(t *tank) { t.Queue = unread })
	for _, bench := range []struct {
		name  string
		in    input
		moves int
	}{
		{"at rest", steady(b, world{"left": known(1, 1), "right": known(1, 1)}, idle...), 0},
		{"waiting", steady(b, world{"left": unsure, "right": known(1, 1)}, at("left", "Waiting", "2"), idle[1]), 0},
		{"transition", steady(b, world{"left": known(1, 2), "right": known(1, 1)}, idle...), 1},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				step, err := pass.Decide(bench.in)
				if err != nil || len(step.Moved) != bench.moves {
					b.Fatalf("moved %v, %v", words(step), err)
				}
			}
		})
	}
}

// BenchmarkPass adds what a pass without a transition does besides deciding: showing every entry, and asking one action.
func BenchmarkPass(b *testing.B) {
	b.Run("at rest, shown", func(b *testing.B) {
		in := steady(b, world{"left": known(1, 1), "right": known(1, 1)}, at("left", "Idle", "1"), at("right", "Idle", "1"))
		b.ReportAllocs()
		for b.Loop() {
			step, err := pass.Decide(in)
			if err != nil {
				b.Fatal(err)
			}
			for i := range step.Results {
				step.Results[i].Project()
			}
		}
	})
	b.Run("acting", func(b *testing.B) {
		in := steady(b, world{"left": known(1, 2), "right": known(1, 1)}, at("left", "Filling", "2"), at("right", "Idle", "1"))
		b.ReportAllocs()
		for b.Loop() {
			step, err := pass.Decide(in)
			if err != nil {
				b.Fatal(err)
			}
			if acting, _, err := pass.Act(in, &step, &step.Results[0]); err != nil || len(acting.Effects) != 1 {
				b.Fatal(acting, err)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(b)
	}
}
