package node

import (
	"context"
	"errors"
	"time"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// Round is one life of a cluster.
type Round struct {
	// Up, Work and Down say how long each of them took.
	Up, Work, Down time.Duration
	// Left is how the machine differs from what it was before (machine.Changes): nothing, unless something is wrong.
	Left []string
}

// Play brings a cluster up, has work done on it, and removes it again, whatever becomes of the work and also when ctx ends.
// What an earlier cluster has left is removed first. Everything that is to be built or installed has to be there (Prepare),
// or the packages that came would count as left behind.
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
