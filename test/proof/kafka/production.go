package kafka

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/simulator/store"
)

// Production is the code of the operator on an API server in memory and the answers of the model's world.
type Production struct {
	// Kind of controllers/kafka. A test may replace its functions.
	Kind controller.Kind

	collector *observation.Collector
	system    *system
	scheme    *k8sruntime.Scheme
	objects   *templates
	api       *currentStore
}

// currentStore is a client of the store that it was last set to.
type currentStore struct{ client.Client }

// NewProduction returns the code of the operator, for clusters on the versions of the table.
func NewProduction(ctx context.Context, table *versions.Table) (*Production, error) {
	p := &Production{scheme: k8sruntime.NewScheme(), system: &system{world: &World{Silent: true}}, api: &currentStore{}}
	for _, add := range []func(*k8sruntime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme,
	} {
		if err := add(p.scheme); err != nil {
			return nil, err
		}
	}
	p.collector = &observation.Collector{Table: table, System: p.system, Hosts: p.api}
	effects := &children.Reconciler{Client: p.api, Live: p.api}
	var err error
	if p.Kind, err = controller.NewKind(p.collector, effects); err != nil {
		return nil, err
	}
	p.objects, err = p.render(ctx, effects)
	return p, err
}

// serve makes the API server store the objects, and nothing else.
func (p *Production) serve(now time.Time, objects []client.Object) (*store.Store, error) {
	s := store.New(p.scheme, now)
	for _, o := range objects {
		if err := s.Put(o); err != nil {
			return nil, fmt.Errorf("storing %T %s: %w", o, o.GetName(), err)
		}
	}
	p.api.Client = s.Client()
	return s, nil
}

// writer returns a writer of the cluster's children.
func (p *Production) writer(now time.Time, k *kafkav1beta2.Kafka) lifecycle.Writer {
	return lifecycle.NewChildren(p.api, p.api, clocktesting.NewFakePassiveClock(now)).Writer(k, nil)
}

// system is Kafka as the model's world answers.
type system struct {
	world *World
	// pods that are asked directly, as observed.
	pods [Nodes]*Pod
	// current is the request ID of the version change.
	current machines.RequestID
	now     time.Time
	// written are the commands that were sent.
	written []command
}

// command is a command with its request ID.
type command struct {
	RequestID machines.RequestID
	Name      string
	Level     int16
}

var _ connection.System = &system{}

// Read answers every query now.
func (s *system) Read(_ context.Context, _ connection.Endpoint, queries []connection.Query, _ bool, now time.Time) []connection.Reading {
	out := make([]connection.Reading, len(queries))
	for i, q := range queries {
		out[i].At = now
		out[i].Answer, out[i].Err = s.answer(q.Question, now)
	}
	return out
}

func (s *system) answer(q kafkaclient.Question, now time.Time) (kafkaclient.Answer, error) {
	if q.About == kafkaclient.AboutMember {
		m := s.world.member(int(q.Broker), s.pods[q.Broker])
		report := kafkaclient.RoleReport{Asked: true, Answered: m.Answered, Serving: m.Broker}
		return kafkaclient.Answer{Member: &kafkaclient.Member{ID: q.Broker, Broker: report, Controller: report}}, nil
	}
	if !s.world.serves() {
		return kafkaclient.Answer{}, errSilent
	}
	features, quorum, partitions, brokers := s.world.features(), s.world.quorum(now), s.world.partitions(now), s.world.brokers(now)
	return kafkaclient.Answer{Features: &features, Quorum: &quorum, Partitions: &partitions, Brokers: &brokers}, nil
}

// Write notes the command.
func (s *system) Write(_ context.Context, _ connection.Endpoint, id machines.RequestID, c kafkaclient.Command) {
	if r := s.world.request; r != nil && r.requestID == id {
		return // every System ignores a repeated command
	}
	if u := c.UpdateFeature; u != nil {
		s.written = append(s.written, command{id, u.Name, u.Level})
	}
}

// Answer returns the outcome of the command with the request ID.
func (s *system) Answer(_ connection.Endpoint, id machines.RequestID) external.Answer {
	states := map[kafkaversion.Status]external.AnswerState{
		kafkaversion.Asked: external.Pending, kafkaversion.Done: external.Done, kafkaversion.Refused: external.Refused, kafkaversion.Unknown: external.Unknown,
	}
	a := s.world.answerTo(id)
	return external.Answer{RequestID: id, State: states[a.Status], Text: a.Text}
}

// Failure returns none: the kind does not read it.
func (*system) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns the command of an earlier visit that may still take effect.
func (s *system) InFlight(connection.Endpoint, string) external.InFlight {
	f := s.world.inFlight(s.current, s.now)
	return external.InFlight{Until: f.Until, Sent: f.Sent}
}

// Drop does nothing: no connection exists.
func (s *system) Drop(types.UID) {}
