// Package planning is the KafkaMirrorMaker2 kind of a plan: its controller on simulated Connect workers. Pods and pod sets are simulated
// by the Kafka kind.
package planning

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	connectclient "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
)

// System is Connect as a system of effects.
const System plan.System = "connect"

// New returns the KafkaMirrorMaker2 kind for a plan.
func New() (plan.Kind, error) {
	graphs, err := mirrormaker2.Machines()
	if err != nil {
		return plan.Kind{}, err
	}
	return plan.Kind{
		Kind: mirrormaker2.Resource(), Machines: graphs, PauseAnnotations: []string{labels.Pause},
		ReadWorld: func(*plan.Document) plan.Section { return section{} },
		Simulate:  func(e *plan.Environment) (plan.Simulation, error) { return newSimulation(e) },
	}, nil
}

// section is empty: the World document says nothing about Connect.
type section struct{}

// Check implements plan.Section.
func (section) Check(*plan.Document, []string) error { return nil }

// simulation is the simulated Connect workers of one plan.
type simulation struct {
	env    *plan.Environment
	table  *versions.Table
	groups map[types.NamespacedName]*connect.Cluster
	driver plan.Driver
}

func newSimulation(e *plan.Environment) (*simulation, error) {
	table, err := versions.Embedded()
	if err != nil {
		return nil, err
	}
	s := &simulation{env: e, table: table, groups: map[types.NamespacedName]*connect.Cluster{}}
	collector := &observation.Collector{Table: table, System: &connection.Direct{Protocol: connection.NewProtocol(s.over)}, Live: e.Client, Hosts: e.Client}
	kind, err := mirrormaker2.NewKind(collector, &children.Reconciler{Client: e.Client, Live: e.Client})
	if err != nil {
		return nil, err
	}
	r := lifecycle.New(kind, lifecycle.Options{Client: e.Client, Live: e.Client, Clock: e.Clock, Journal: e.Journal})
	s.driver = plan.Driver{Of: kafkav1beta2.GroupVersion().WithKind(kafkav1beta2.KindKafkaMirrorMaker2), Operator: true, Restarts: true, All: true, Run: plan.Reconciling(r)}
	return s, nil
}

// Drivers implements plan.Simulation.
func (s *simulation) Drivers() []plan.Driver { return []plan.Driver{s.driver} }

// Prepare implements plan.Simulation: if a resource has had workers, its connectors exist as declared, unless its status shows others.
func (s *simulation) Prepare(_ context.Context, objects []lifecycle.Object) error {
	for _, o := range objects {
		m, ok := o.(*kafkav1beta2.KafkaMirrorMaker2)
		if !ok {
			return fmt.Errorf("simulating the past of %T %s: it is no KafkaMirrorMaker2", o, o.GetName())
		}
		name := client.ObjectKeyFromObject(m)
		c := s.group(name)
		if len(m.Status.Connectors) == 0 {
			continue
		}
		s.env.Assume(name, "Connect has the connectors as declared, without offsets: the input does not contain what Connect stores")
		connectors := render.New(render.Input{Namespace: m.Namespace, Name: m.Name, Spec: &m.Spec}).Connectors()
		for _, connector := range m.Spec.Connectors() {
			initial := map[kafkav1beta2.ConnectorState]connectclient.State{kafkav1beta2.ConnectorStopped: connectclient.Stopped, kafkav1beta2.ConnectorPaused: connectclient.Paused}[connector.Desired()]
			if err := c.Seed(connector.Name, connectors[connector.Name].Config, initial); err != nil {
				return fmt.Errorf("simulating the past of KafkaMirrorMaker2 %s: %w", name, err)
			}
		}
		c.Tick(c.Now + time.Minute.Milliseconds())
	}
	return nil
}

// group returns the simulated workers of a resource: as many as there may be, of which those run whose pods are ready.
func (s *simulation) group(name types.NamespacedName) *connect.Cluster {
	c := s.groups[name]
	if c == nil {
		const most = 100
		c = connect.New(connect.DefaultSettings(), most, false)
		s.groups[name] = c
	}
	s.follow(name, c)
	return c
}

// follow starts and ends workers as their pods do.
func (s *simulation) follow(name types.NamespacedName, c *connect.Cluster) {
	ready := map[int]bool{}
	s.env.Store.Objects(corev1.SchemeGroupVersion.WithKind("Pod"), func(o client.Object) {
		pod, isPod := o.(*corev1.Pod)
		if !isPod || pod.Namespace != name.Namespace || pod.Labels[labels.ControllerName] != render.Name(name.Name) {
			return
		}
		if n, err := strconv.Atoi(observation.Number(pod.Name)); err == nil && facts.Ready(pod) {
			ready[n] = true
		}
	})
	for i := range c.Workers {
		switch up := c.Workers[i].Process == connect.Up; {
		case ready[i] && !up:
			c.Start(i, false)
		case !ready[i] && up:
			c.Kill(i)
		}
	}
}

// Advance implements plan.Simulation.
func (s *simulation) Advance(now time.Time) {
	for name, c := range s.groups {
		s.follow(name, c)
		c.Tick(max(c.Now, now.Sub(s.env.Begin).Milliseconds()+time.Minute.Milliseconds()))
	}
}

// Next implements plan.Simulation: the controller polls, and nothing else happens by itself.
func (s *simulation) Next() (time.Time, bool) { return time.Time{}, false }

// Happen implements plan.Simulation.
func (s *simulation) Happen() {}

// Knows implements plan.Simulation.
func (s *simulation) Knows(string) bool { return true }

// over returns clients of the simulated workers that record commands.
func (s *simulation) over(e connection.Endpoint) (*connection.Workers, func(), error) {
	c := s.group(e.Name)
	made := func(worker func() (int, bool)) (*rest.Client, error) {
		return rest.New(rest.Options{Address: "connect:8083", Transport: connect.Transport{Cluster: c, Worker: worker}})
	}
	service, err := made(c.Any)
	return &connection.Workers{
		Service: &taped{Client: service, simulation: s, of: e.Name},
		Worker: func(pod string) (connectclient.Reader, func(), error) {
			n, err := strconv.Atoi(observation.Number(pod))
			if err != nil {
				return nil, nil, err
			}
			one, err := made(c.One(n))
			return one, func() {}, err
		},
	}, func() {}, err
}
