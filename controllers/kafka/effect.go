package kafka

import (
	"context"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
)

// Effect is a request of a lifecycle of a Kafka resource. Exactly one of its fields is set.
type Effect struct {
	// Restart replaces the pod of a node.
	Restart *Restart
	// Update changes a feature level.
	Update *kafkaclient.FeatureUpdate
	// Format permits formatting the storage of a node.
	Format *Format
}

// Format permits formatting the storage of a node whose volume was lost.
type Format struct{ Node int32 }

// Restart restarts a node on a version. An empty version means the version that it runs.
type Restart struct {
	Node    int32
	Version string
}

// execute executes an effect of an action.
func execute(ctx context.Context, system connection.System, objects *children.Reconciler, t effectRequest) error {
	switch {
	case t.Effect.Update != nil:
		system.Write(ctx, connection.EndpointOf(t.Object), t.RequestID, kafkaclient.Command{UpdateFeature: t.Effect.Update})
		return nil
	case t.Effect.Format != nil:
		return objects.AllowFormat(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Format.Node)
	case t.Effect.Restart != nil:
		version := t.Effect.Restart.Version
		if n := t.Snapshot.Node(t.Effect.Restart.Node); version == "" && n != nil {
			version = n.Version()
		}
		return objects.Restart(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Restart.Node, version)
	default:
		return fmt.Errorf("executing an effect of Kafka %s: it is empty", t.Object.Name)
	}
}
