package node

import (
	"context"
	"errors"
	"time"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// Round is the result of one cluster from start to removal.
type Round struct {
	// Up, Work and Down are the durations of the three steps.
	Up, Work, Down time.Duration
	// Left is how the machine differs from before (machine.Changes): empty unless the removal is incomplete.
	Left []string
}

// Play starts a cluster, runs work on it, and removes it, also if work fails or ctx ends. It first removes the remains of
// an earlier cluster. Everything must have been built and installed by Prepare, otherwise packages that Play installs count
// as left behind.
func Play(ctx context.Context, o Options, work func(ctx context.Context, kubeconfig string) error) (Round, error) {
	var r Round
	if err := Down(ctx, o.Log); err != nil {
		return r, err
	}
	before, err := machine.Picture(ctx)
	if err != nil {
		return r, err
	}
	clock := time.Now()
	lap := func() time.Duration {
		begun := clock
		clock = time.Now()
		return clock.Sub(begun)
	}
	kubeconfig, err := Up(ctx, o)
	r.Up = lap()
	if err == nil {
		err = work(ctx, kubeconfig)
		r.Work = lap()
	}
	ctx = context.WithoutCancel(ctx)
	err = errors.Join(err, Down(ctx, o.Log))
	r.Down = lap()
	after, pictureErr := machine.Picture(ctx)
	r.Left = machine.Changes(before, after)
	return r, errors.Join(err, pictureErr)
}
