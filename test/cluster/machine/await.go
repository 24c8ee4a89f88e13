// Package machine manages what the cluster uses of the machine it runs on, and removes it again: packages, processes, mounts,
// network, kernel settings. It supports only Linux.
package machine

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is the interval at which Await checks its condition.
const pollEvery = 50 * time.Millisecond

// Await polls a condition until it is met, it fails or ctx ends.
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
