package main

import (
	"context"
	"time"
)

// pace waits a time between two steps. The zero value waits no time and only checks whether
// the context has ended.
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
