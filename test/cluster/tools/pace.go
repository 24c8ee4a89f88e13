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

// again repeats a step every second until it succeeds or the limit has passed. The last error is returned. A new Service, for example,
// has no addresses for a moment.
func again(ctx context.Context, limit time.Duration, step func() error) error {
	retry := newPace(time.Second)
	defer retry.stop()
	for until := time.Now().Add(limit); ; {
		err := step()
		if err == nil || time.Now().After(until) || retry.wait(ctx) != nil {
			return err
		}
	}
}
