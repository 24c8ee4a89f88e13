package mirrormaker2

import (
	"context"
	"fmt"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Effect is a request of a lifecycle. Exactly one of its fields is set.
type Effect struct {
	// Replace replaces a worker.
	Replace *connectworkers.Effect
	// Connector changes a connector.
	Connector *connector.Effect
	// Offsets carries out a request for offsets.
	Offsets *connectoroffsets.Effect
}

// executor executes effects.
type executor struct {
	collector *observation.Collector
	objects   *children.Reconciler
}

func (x *executor) execute(ctx context.Context, t effectRequest) error {
	name := facts.Named(t.Snapshot, t.Instance)
	switch {
	case t.Effect.Replace != nil:
		return x.objects.Replace(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Replace.Worker)
	case t.Effect.Connector != nil:
		return x.connector(ctx, t, name, t.Effect.Connector)
	case t.Effect.Offsets != nil:
		return x.offsets(ctx, t, name, t.Effect.Offsets)
	}
	return fmt.Errorf("executing an effect of KafkaMirrorMaker2 %s: it is empty", t.Object.Name)
}

// connector sends a command about a connector, or removes the annotation of a restart that was carried out.
func (x *executor) connector(ctx context.Context, t effectRequest, name string, e *connector.Effect) error {
	if e.Clear != "" {
		return x.objects.Clear(ctx, t.Object, e.Clear, t.Snapshot.Restarts[name].Value)
	}
	c := connection.Command{Connector: name, Config: t.Snapshot.Declared[name].Config}
	switch e.Command {
	case connector.Create:
		c.Verb, c.Initial = connection.Create, connect.State(e.State)
	case connector.Configure:
		c.Verb = connection.Configure
	case connector.Pause:
		c.Verb = connection.Pause
	case connector.Resume:
		c.Verb = connection.Resume
	case connector.Stop:
		c.Verb = connection.Stop
	case connector.Delete:
		c.Verb = connection.Delete
	case connector.RestartIt:
		c.Verb, c.Tasks, c.OnlyFailed = connection.Restart, e.Restart.Tasks, e.Restart.OnlyFailed
		if e.Restart.Annotation == "" {
			count := t.Snapshot.AutoRestarts[name]
			x.collector.Restarting(t.Object.UID, name, t.RequestID, observation.AutoRestart{Count: count.Count + 1, Last: t.Snapshot.Now})
		}
	case connector.RestartTask:
		c.Verb, c.Task = connection.RestartTask, e.Restart.Task-1
	case connector.None:
		return nil
	}
	x.collector.System.Write(ctx, connection.EndpointOf(t.Object), t.RequestID, c)
	return nil
}

// offsets carries out one step of a request for offsets.
func (x *executor) offsets(ctx context.Context, t effectRequest, name string, e *connectoroffsets.Effect) error {
	seen := t.Snapshot.Offsets[name]
	switch e.Kind {
	case connectoroffsets.Show:
		return x.objects.Show(ctx, t.Object, e.ID)
	case connectoroffsets.Finish:
		if e.Leave {
			return nil
		}
		return x.objects.Finish(ctx, t.Object, t.Snapshot, name, e.ID)
	case connectoroffsets.Write:
		return x.objects.WriteList(ctx, t.Object, t.Write, t.Snapshot.Requests.Of[name].ConfigMap, name, e.Document)
	case connectoroffsets.Keep:
		d := keep.Document{ID: e.ID, Offsets: e.Document}
		if seen != nil && t.Snapshot.Records[name].Operation == connectoroffsets.Alter {
			d.Requested = seen.Body
		}
		return x.objects.Keep(ctx, t.Object, t.Write, name, d)
	case connectoroffsets.Restart:
		for _, p := range t.Snapshot.Processes {
			if p.ID() == e.Worker {
				return x.objects.Restart(ctx, t.Snapshot, t.Write, p.Pod)
			}
		}
		return nil
	case connectoroffsets.Change:
		return x.change(ctx, t, name, e)
	}
	return fmt.Errorf("executing %s of KafkaMirrorMaker2 %s: it is not known", e.Kind, t.Object.Name)
}

// change sends an alter or a reset. The body must be the one that was requested.
func (x *executor) change(ctx context.Context, t effectRequest, name string, e *connectoroffsets.Effect) error {
	c := connection.Command{Verb: connection.Reset, Connector: name}
	if e.Operation == connectoroffsets.Alter {
		seen := t.Snapshot.Offsets[name]
		if seen == nil || keep.Digest(seen.Body) != e.Digest {
			return fmt.Errorf("altering the offsets of %s: %w: the requested body is not available", name, lifecycle.ErrWait)
		}
		c.Verb, c.Body = connection.Alter, seen.Body
	}
	x.collector.System.Write(ctx, connection.EndpointOf(t.Object), t.RequestID, c)
	return nil
}
