package main

import (
	"context"
	"time"
)

// pace keeps a time between two steps; without one it only looks whether to stop.
type pace struct{ tick *time.Ticker }

func newPace(every time.Duration) pace {
	if every <= 0 {
		return pace{}
	}
	return pace{time.NewTicker(every)}
}

func (p pace) wait(ctx context.Context) error {
	if p.tick == nil {
		return ctx.Err()
	}
	select {
	case <-p.tick.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p pace) stop() {
	if p.tick != nil {
		p.tick.Stop()
	}
}
