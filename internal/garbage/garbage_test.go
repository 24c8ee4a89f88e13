package garbage

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"
)

func TestTunerFollowsTheHeap(t *testing.T) {
	clk := testclock.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ctx, cancel := context.WithCancel(t.Context())
	sizes, read := []uint64{0, largeHeap - 1, largeHeap, 10 * largeHeap, 1, largeHeap}, make(chan struct{})
	var got []int
	tuner := &Tuner{
		Live: func() uint64 {
			size := sizes[0]
			if len(sizes) == 1 {
				cancel()
				return size
			}
			sizes = sizes[1:]
			go func() { read <- struct{}{} }()
			return size
		},
		Set: func(percent int) { got = append(got, percent) }, Clock: clk,
	}
	ended := make(chan error)
	go func() { ended <- tuner.Start(ctx) }()
	for running := true; running; {
		select {
		case <-read:
			clk.Step(every)
		case err := <-ended:
			if running = false; err != nil {
				t.Error(err)
			}
		}
	}
	if diff := cmp.Diff([]int{growthOfLarge, maxGrowth, growthOfLarge}, got); diff != "" {
		t.Errorf("growths that were set (-want +got):\n%s", diff)
	}
}

func TestGrowth(t *testing.T) {
	tests := map[string]struct {
		live uint64
		want int
	}{
		"not known yet":               {0, standardGrowth},
		"almost nothing":              {1, maxGrowth},
		"a small manager":             {5 << 20, 400},
		"the goal is twice the heap":  {smallestGoal / 2, standardGrowth},
		"just short of a large heap":  {largeHeap - 1, standardGrowth},
		"a large heap":                {largeHeap, growthOfLarge},
		"a heap of a hundred objects": {8 << 20, 200},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := growth(tc.live); got != tc.want {
				t.Errorf("a heap of %d bytes may grow by %d percent, want %d", tc.live, got, tc.want)
			}
		})
	}
}

func TestLive(t *testing.T) {
	runtime.GC() // before the first collection the size is not known
	if live() == 0 {
		t.Error("the size of the heap is unknown")
	}
}
