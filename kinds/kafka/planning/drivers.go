package planning

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/disruption"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/podset"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
	lifecycle "github.com/detent-dev/detent/runtime"
	simkafka "github.com/detent-dev/detent/simulator/kafka"
)

// System is Kafka as a system of effects.
const System plan.System = "kafka"

// Verbs of effects on Kafka. Their targets are feature=level, the id of a broker, a partition, and a property.
const (
	VerbUpdateFeatures = "update-features"
	VerbUnregister     = "unregister-broker"
	VerbCordon         = "cordon"
	VerbUncordon       = "uncordon"
	VerbAlterConfig    = "alter-config"
	VerbReassign       = "reassign"
)

// assemble makes the drivers: the kubelets and rollouts, then the controllers of the operator.
func (s *simulation) assemble(o Options) error {
	e := s.env
	s.collector = &observation.Collector{
		Table: s.section.Table, System: &connection.Direct{Protocol: connection.NewProtocol(s.connect)}, Hosts: e.Client,
		Options: observation.Options{OperatorVersion: e.OperatorVersion, Finalizing: o.Finalizing},
	}
	kind, err := kafka.NewKind(s.collector, &children.Reconciler{Client: e.Client, Live: e.Client})
	if err != nil {
		return err
	}
	children := lifecycle.NewChildren(e.Client, e.Client, e.Clock)
	disruptionLocks := lifecycle.NewDisruptionLocks()
	clusters := lifecycle.New(kind, lifecycle.Options{Client: e.Client, Live: e.Client, Clock: e.Clock, Children: children, DisruptionLocks: disruptionLocks, Journal: e.Journal})
	disruptor := &disruption.Disruptor{Collector: s.collector, DisruptionLocks: disruptionLocks, Live: e.Client, Clock: e.Clock}
	sets := &podset.Reconciler{Client: e.Client, Live: e.Client, Children: children, Clock: e.Clock, Disrupt: disruptor.Disrupt}
	s.drivers = []plan.Driver{
		{Of: corev1.SchemeGroupVersion.WithKind("Pod"), Run: s.sync},
		{Of: appsv1.SchemeGroupVersion.WithKind("Deployment"), OnWritesOnly: true, Run: s.rollOut},
		{Of: corev1beta2.GroupVersion().WithKind("StrimziPodSet"), Operator: true, All: true, Run: plan.Reconciling(sets)},
		{Of: kafkav1beta2.GroupVersion().WithKind(kafkav1beta2.KindKafka), Operator: true, Restarts: true, All: true, Run: plan.Reconciling(clusters)},
	}
	return nil
}

// connect returns a client of the simulated cluster that records writes.
func (s *simulation) connect(at connection.Endpoint) (kafkaclient.Client, func(), error) {
	c := s.system.Cluster(at.Name)
	return &recorded{Client: simkafka.Memory{Cluster: c.Kafka}, simulation: s, cluster: at.Name}, func() {}, nil
}

// recorded is a Kafka client that records its writes.
type recorded struct {
	kafkaclient.Client
	simulation *simulation
	cluster    types.NamespacedName
}

func (t *recorded) done(verb, target, words string) {
	t.simulation.env.Effect(t.cluster, System, verb, target, words)
	t.simulation.look()
}

// UpdateFeature implements kafkaclient.Writer.
func (t *recorded) UpdateFeature(ctx context.Context, u kafkaclient.FeatureUpdate) error {
	err := t.Client.UpdateFeature(ctx, u)
	if !u.ValidateOnly {
		level := levelWord(u.Name, u.Level)
		t.done(VerbUpdateFeatures, u.Name+"="+level, "ask Kafka for "+u.Name+" "+level)
	}
	return err
}

// UnregisterBroker implements kafkaclient.Writer.
func (t *recorded) UnregisterBroker(ctx context.Context, id int32) error {
	err := t.Client.UnregisterBroker(ctx, id)
	t.done(VerbUnregister, fmt.Sprint(id), fmt.Sprintf("unregister broker %d", id))
	return err
}

// Cordon implements kafkaclient.Writer.
func (t *recorded) Cordon(ctx context.Context, c kafkaclient.Cordon) error {
	err := t.Client.Cordon(ctx, c)
	verb, words := VerbUncordon, "lift the cordon of"
	if c.Cordoned {
		verb, words = VerbCordon, "cordon"
	}
	t.done(verb, fmt.Sprint(c.Broker), fmt.Sprintf("%s broker %d", words, c.Broker))
	return err
}

// Reassign implements kafkaclient.Writer.
func (t *recorded) Reassign(ctx context.Context, moves []kafkaclient.Move) error {
	err := t.Client.Reassign(ctx, moves)
	for _, m := range moves {
		name := kafkaclient.Partition{Topic: m.Topic, Index: m.Index}.Name()
		words := fmt.Sprintf("move %s to %v", name, m.Replicas)
		if len(m.Replicas) == 0 {
			words = "cancel the move of " + name
		}
		t.done(VerbReassign, name, words)
	}
	return err
}

// Alter implements kafkaclient.Writer. Values may be secret and are not shown.
func (t *recorded) Alter(ctx context.Context, alterations []kafkaclient.Alteration) error {
	err := t.Client.Alter(ctx, alterations)
	for _, a := range alterations {
		of := "all brokers"
		if a.Broker != nil {
			of = fmt.Sprintf("broker %d", *a.Broker)
		}
		for _, name := range sortedKeys(a.Set) {
			t.done(VerbAlterConfig, name, "set "+name+" of "+of)
		}
		for _, name := range a.Delete {
			t.done(VerbAlterConfig, name, "delete the dynamic value of "+name+" of "+of)
		}
	}
	return err
}

// levelWord formats a level in the form that users write.
func levelWord(feature string, level int16) string {
	if name, named := versions.MetadataName(level); named && feature == versions.FeatureMetadata {
		return name
	}
	return fmt.Sprint(level)
}
