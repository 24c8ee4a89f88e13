package kafka

import (
	"context"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kraftscaledown"
)

// Effect is a request of a lifecycle of a Kafka resource. Exactly one of its fields is set.
type Effect struct {
	// Restart replaces the pod of a node.
	Restart *Restart
	// Update changes a feature level.
	Update *kafkaclient.FeatureUpdate
	// Format permits formatting the storage of a node.
	Format *Format
	// Replace replaces the pod of a node and its claims by empty ones.
	Replace *Replace
	// Removal is a step of the removal of a broker.
	Removal *kraftscaledown.Effect
	// Configuration is a step of the change of configurations of running brokers.
	Configuration *dynamicconfig.Effect
}

// Format permits formatting the storage of a node whose volume was lost.
type Format struct{ Node int32 }

// Replace deletes the claims and the pod of a node.
type Replace struct{ Node int32 }

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
	case t.Effect.Replace != nil:
		return objects.Replace(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Replace.Node)
	case t.Effect.Restart != nil:
		version := t.Effect.Restart.Version
		if n := t.Snapshot.Node(t.Effect.Restart.Node); version == "" && n != nil {
			version = n.Version()
		}
		return objects.Restart(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Restart.Node, version)
	case t.Effect.Removal != nil:
		return remove(ctx, system, objects.Removal(t.Object, t.Snapshot, t.Write), &t)
	case t.Effect.Configuration != nil:
		return configure(ctx, system, objects, &t)
	default:
		return fmt.Errorf("executing an effect of Kafka %s: it is empty", t.Object.Name)
	}
}

// configure executes a step of the change of configurations.
func configure(ctx context.Context, system connection.System, objects *children.Reconciler, t *effectRequest) error {
	switch e := t.Effect.Configuration; {
	case e.Remember != nil:
		return objects.RecordAltered(ctx, t.Object, t.Snapshot, t.Write, *e.Remember)
	case len(e.Alter) > 0:
		system.Write(ctx, connection.EndpointOf(t.Object), t.RequestID, kafkaclient.Command{Alter: e.Alter})
		return nil
	default:
		return fmt.Errorf("configuring Kafka %s: the effect is empty", t.Object.Name)
	}
}

// remove executes a step of the removal of a broker.
func remove(ctx context.Context, system connection.System, removal children.Removal, t *effectRequest) error {
	cluster := connection.EndpointOf(t.Object)
	switch e := t.Effect.Removal; {
	case e.Stop != nil:
		return removal.Stop(ctx, *e.Stop)
	case e.Return != nil:
		return removal.Return(ctx, *e.Return)
	case e.Release != nil:
		return removal.Release(ctx, *e.Release)
	case e.Drain != nil:
		return removal.Drain(ctx, e.Drain.Broker, e.Drain.Partitions)
	case e.EndDrain != nil:
		return removal.Drain(ctx, *e.EndDrain, 0)
	case e.Unregister != nil:
		system.Write(ctx, cluster, t.RequestID, kafkaclient.Command{Unregister: e.Unregister})
	case e.Cordon != nil:
		system.Write(ctx, cluster, observation.DrainRequest(t.RequestID, t.Snapshot.Now), kafkaclient.Command{Cordon: e.Cordon})
	case len(e.Move) > 0:
		system.Write(ctx, cluster, observation.DrainRequest(t.RequestID, t.Snapshot.Now), kafkaclient.Command{Reassign: e.Move})
	default:
		return fmt.Errorf("removing a broker of Kafka %s: the effect is empty", t.Object.Name)
	}
	return nil
}
