// Package machine is what the cluster needs of the machine it runs on, and what it leaves there: packages, processes, mounts,
// network, kernel settings. Linux alone.
package machine

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is how often a condition of the machine is looked at.
const pollEvery = 50 * time.Millisecond

// Await looks at a condition until it is met, fails or ctx ends.
func Await(ctx context.Context, what string, met func() (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		done, err := met()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
