package connecttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/connect"
)

// via returns a step that sends a request to a worker.
func via(worker int, name string, send func(ctx context.Context, c connect.Client, w World) error) Step {
	return Step{fmt.Sprintf("%s, through worker %d", name, worker), func(ctx context.Context, w World) error { return send(ctx, w.Client(worker), w) }}
}

// on returns a step that sends a request about a connector to worker 0.
func on(class, name string, send func(ctx context.Context, c connect.Client, connector string) error) Step {
	return onVia(0, class, name, send)
}

func onVia(worker int, class, name string, send func(ctx context.Context, c connect.Client, connector string) error) Step {
	return via(worker, name, func(ctx context.Context, c connect.Client, w World) error {
		connector := class
		if class == Source || class == Checkpoint || class == Heartbeat {
			connector = Name(w, class)
		}
		return send(ctx, c, connector)
	})
}

func create(class string, initial connect.State) Step {
	return via(0, "create as "+string(initial), func(ctx context.Context, c connect.Client, w World) error {
		return w.Pass(ctx, "the workers accept a connector", func(ctx context.Context) (bool, error) {
			err := c.Create(ctx, Name(w, class), Config(w, class), initial)
			if r, refused := connect.AsRefused(err); refused && strings.Contains(r.Message, "already exists") {
				return true, nil
			}
			return err == nil, notYet(err)
		})
	})
}

func createOnce(class string) Step {
	return via(0, "create", func(ctx context.Context, c connect.Client, w World) error {
		return c.Create(ctx, Name(w, class), Config(w, class), connect.Running)
	})
}

func configure(class string, change func(config map[string]string)) Step {
	return via(0, "configure", func(ctx context.Context, c connect.Client, w World) error {
		config := Config(w, class)
		change(config)
		return c.Configure(ctx, Name(w, class), config)
	})
}

func remove(class string) Step {
	return on(class, "delete", func(ctx context.Context, c connect.Client, connector string) error { return c.Delete(ctx, connector) })
}

func stop(class string) Step { return stopVia(0, class) }

func stopVia(worker int, class string) Step {
	return onVia(worker, class, "stop", func(ctx context.Context, c connect.Client, connector string) error { return c.Stop(ctx, connector) })
}

func pause(class string) Step {
	return on(class, "pause", func(ctx context.Context, c connect.Client, connector string) error { return c.Pause(ctx, connector) })
}

func resume(class string) Step {
	return on(class, "resume", func(ctx context.Context, c connect.Client, connector string) error { return c.Resume(ctx, connector) })
}

// alter sends a body in which $A is the alias of the source and $T the topic.
func alter(class, body string) Step { return alterVia(0, class, body) }

func alterVia(worker int, class, body string) Step {
	return via(worker, "alter to "+body, func(ctx context.Context, c connect.Client, w World) error {
		connector := class
		if class == Source || class == Checkpoint || class == Heartbeat {
			connector = Name(w, class)
		}
		message, err := c.AlterOffsets(ctx, connector, fill(w, body))
		if err == nil && !strings.Contains(message, "altered successfully") {
			return fmt.Errorf("connect answered %q", message)
		}
		return err
	})
}

func reset(class string) Step {
	return on(class, "reset", func(ctx context.Context, c connect.Client, connector string) error {
		message, err := c.ResetOffsets(ctx, connector)
		if err == nil && !strings.Contains(message, "reset successfully") {
			return fmt.Errorf("connect answered %q", message)
		}
		return err
	})
}

func fill(w World, text string) string {
	return strings.NewReplacer("$A", w.Source(), "$T", w.Topic()).Replace(text)
}

// at returns the entry of a partition of the topic.
func at(partition int, offset string) string {
	if offset != "null" {
		offset = `{"offset":` + offset + `}`
	}
	return fmt.Sprintf(`{"partition":{"cluster":"$A","partition":%d,"topic":"$T"},"offset":%s}`, partition, offset)
}

// document returns the document with the entries.
func document(entries ...string) string { return `{"offsets":[` + strings.Join(entries, ",") + `]}` }

// notYet returns nil for an error that ends by itself.
func notYet(err error) error {
	var unreadable *connect.Unreadable
	r, refused := connect.AsRefused(err)
	if errors.As(err, &unreadable) || refused && (r.Code == connect.CodeConflict || r.Code == connect.CodeNotFound) {
		return nil
	}
	return err
}

// paused waits until the source connector is paused.
func paused() Step {
	return awaitStatus("it is paused", func(s connect.Status) bool { return s.Connector.State == connect.Paused })
}

// running waits until the source connector and at least one task run.
func running() Step {
	return awaitStatus("it runs", func(s connect.Status) bool {
		return s.Connector.State == connect.Running && len(s.Tasks) > 0 && s.Tasks[0].State == connect.Running
	})
}

func awaitStatus(what string, condition func(connect.Status) bool) Step {
	return Step{what, func(ctx context.Context, w World) error {
		return w.Pass(ctx, what, func(ctx context.Context) (bool, error) {
			s, err := w.Client(0).Status(ctx, Name(w, Source))
			return err == nil && condition(s), notYet(err)
		})
	}}
}

// stopped waits until the connector has stopped and the workers report no tasks.
func stopped(class string, workers ...int) Step {
	return Step{"it has stopped and no tasks are left", func(ctx context.Context, w World) error {
		return w.Pass(ctx, "it has stopped", func(ctx context.Context) (bool, error) {
			for _, worker := range workers {
				c := w.Client(worker)
				s, err := c.Status(ctx, Name(w, class))
				if err != nil || !s.StoppedWithoutTasks() {
					return false, notYet(err)
				}
				tasks, err := c.Tasks(ctx, Name(w, class))
				if err != nil || len(tasks) > 0 {
					return false, notYet(err)
				}
			}
			return true, nil
		})
	}}
}

func produce(records int) Step {
	return Step{fmt.Sprintf("%d records per partition", records), func(ctx context.Context, w World) error { return w.Produce(ctx, records) }}
}

// mirrored waits until the target topic has the number of records.
func mirrored(want int) Step {
	return Step{fmt.Sprintf("%d records are mirrored", want), func(ctx context.Context, w World) error {
		last := 0
		err := w.Pass(ctx, "the records are mirrored", func(ctx context.Context) (bool, error) {
			n, err := w.Mirrored(ctx)
			if last = n; n > want {
				return false, fmt.Errorf("%d records are mirrored", n)
			}
			return n == want, err
		})
		if err != nil {
			return fmt.Errorf("%w: %d of %d records", err, last, want)
		}
		return nil
	}}
}

// offsets waits until the connector has exactly the offsets of the document.
func offsets(class, want string) Step {
	return Step{"the offsets are " + want, func(ctx context.Context, w World) error {
		wanted, err := connect.ParseOffsets(fill(w, want))
		if err != nil {
			return err
		}
		var got connect.Offsets
		err = w.Pass(ctx, "the offsets are as expected", func(ctx context.Context) (bool, error) {
			text, err := w.Client(0).Offsets(ctx, Name(w, class))
			if err != nil {
				return false, notYet(err)
			}
			got, err = connect.ParseOffsets(text)
			return got.Equal(wanted), err
		})
		if err != nil {
			return fmt.Errorf("%w (-want +got):\n%s", err, cmp.Diff(wanted, got))
		}
		return nil
	}}
}

// overwritten waits until the offsets are no longer those of the document.
func overwritten(class, document string) Step {
	return Step{"the offsets are no longer " + document, func(ctx context.Context, w World) error {
		wanted, err := connect.ParseOffsets(fill(w, document))
		if err != nil {
			return err
		}
		return w.Pass(ctx, "another program changed the offsets", func(ctx context.Context) (bool, error) {
			text, err := w.Client(0).Offsets(ctx, Name(w, class))
			if err != nil {
				return false, notYet(err)
			}
			got, err := connect.ParseOffsets(text)
			return !got.Equal(wanted), err
		})
	}}
}

// connectors checks the names of all connectors of the world.
func connectors(classes ...string) Step {
	return Step{"the connectors are " + strings.Join(classes, ", "), func(ctx context.Context, w World) error {
		want := map[string]bool{}
		for _, class := range classes {
			want[Name(w, class)] = true
		}
		return w.Pass(ctx, "the connectors are listed", func(ctx context.Context) (bool, error) {
			all, err := w.Client(0).Connectors(ctx)
			got := map[string]bool{}
			for _, name := range all {
				if strings.HasPrefix(name, w.Source()+"->") {
					got[name] = true
				}
			}
			if err != nil || !maps.Equal(want, got) {
				return false, notYet(err)
			}
			configs, err := w.Client(0).Configs(ctx)
			if err != nil {
				return false, notYet(err)
			}
			statuses, err := w.Client(0).Statuses(ctx)
			for name := range want {
				if configs[name]["connector.class"] == "" || statuses[name].Name != name {
					return false, notYet(err)
				}
			}
			return true, notYet(err)
		})
	}}
}

func restart(class string, tasks, onlyFailed bool) Step {
	return on(class, "restart", func(ctx context.Context, c connect.Client, connector string) error {
		return c.Restart(ctx, connector, tasks, onlyFailed)
	})
}

func restartTask(class string, task int) Step {
	return on(class, fmt.Sprintf("restart task %d", task), func(ctx context.Context, c connect.Client, connector string) error {
		return c.RestartTask(ctx, connector, task)
	})
}

func freeze(worker int) Step {
	return Step{fmt.Sprintf("worker %d freezes while it mirrors", worker), func(ctx context.Context, w World) error { return w.FreezeWhileMirroring(ctx, worker) }}
}

func thaw(worker int) Step {
	return Step{fmt.Sprintf("worker %d thaws", worker), func(ctx context.Context, w World) error { return w.Thaw(ctx, worker) }}
}

func kill(worker int) Step {
	return Step{fmt.Sprintf("worker %d is killed", worker), func(ctx context.Context, w World) error { return w.Kill(ctx, worker) }}
}
