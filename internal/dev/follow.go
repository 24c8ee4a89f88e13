package dev

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// say prints a line with the current time.
func (w *world) say(format string, args ...any) {
	w.print([]string{fmt.Sprintf(format, args...)})
}

func (w *world) print(lines []string) {
	stamp := w.options.Clock.Now().Local().Format(time.TimeOnly)
	for _, line := range lines {
		fmt.Fprintln(w.options.Out, cut(fmt.Sprintf("%-*s%s", stampWidth, stamp, line), w.options.Width, w.options.ASCII))
		stamp = "" // only the first line has a time
	}
}

// watchAgain is the delay before a closed watch is opened again.
const watchAgain = time.Second

// follow watches the objects of the kind and prints one line per transition.
func (w *world) follow(ctx context.Context, k *Kind) {
	j := newJournal(w.options.Width - stampWidth)
	for ctx.Err() == nil {
		watcher, err := w.client.Watch(ctx, k.List())
		if err == nil {
			for e := range watcher.ResultChan() {
				if o, ok := e.Object.(lifecycle.Object); ok && (e.Type == watch.Added || e.Type == watch.Modified) {
					for _, entry := range j.entries(o.GetName(), string(o.GetUID()), o.LifecycleStatus()) {
						w.print(entry)
					}
				}
			}
			watcher.Stop()
		}
		select {
		case <-ctx.Done():
		case <-w.options.Clock.After(watchAgain):
		}
	}
}
