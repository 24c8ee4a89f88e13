// Package planning is the KafkaMirrorMaker2 kind of a plan: its controller on simulated Connect workers. Pods and pod sets are simulated
// by the Kafka kind.
package planning

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
	graphs, err := mirrormaker2.Lifecycles()
	if err != nil {
		return plan.Kind{}, err
	}
	return plan.Kind{
		Kind: mirrormaker2.Resource(), Lifecycles: graphs, PauseAnnotations: labels.Pauses(),
		ReadWorld: readWorld,
		Simulate:  func(e *plan.Environment) (plan.Simulation, error) { return newSimulation(e) },
	}, nil
}

// simulation is the simulated Connect workers of one plan.
type simulation struct {
	env     *plan.Environment
	section *World
	table   *versions.Table
	groups  map[types.NamespacedName]*connect.Cluster
	driver  plan.Driver
	// silent are the frozen workers that continue.
	silent []silent
}

// silent is a worker that is frozen until a time.
type silent struct {
	group  types.NamespacedName
	worker int
	until  time.Time
}

func newSimulation(e *plan.Environment) (*simulation, error) {
	section, ok := e.Section.(*World)
	if !ok {
		return nil, fmt.Errorf("simulating Connect: the section of the World document is %T", e.Section)
	}
	table, err := versions.Embedded()
	if err != nil {
		return nil, err
	}
	s := &simulation{env: e, section: section, table: table, groups: map[types.NamespacedName]*connect.Cluster{}}
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

// Prepare implements plan.Simulation: if a resource has had workers, its connectors exist as declared, unless the World document or the
// resource's status shows others.
func (s *simulation) Prepare(_ context.Context, objects []lifecycle.Object) error {
	for _, o := range objects {
		m, ok := o.(*kafkav1beta2.KafkaMirrorMaker2)
		if !ok {
			return fmt.Errorf("simulating the past of %T %s: it is no KafkaMirrorMaker2", o, o.GetName())
		}
		name := client.ObjectKeyFromObject(m)
		c := s.group(name)
		if err := s.seed(c, m); err != nil {
			return fmt.Errorf("simulating the past of KafkaMirrorMaker2 %s: %w", name, err)
		}
		s.arrange(name, c)
	}
	return nil
}

// seed creates the connectors of a resource that has had workers.
func (s *simulation) seed(c *connect.Cluster, m *kafkav1beta2.KafkaMirrorMaker2) error {
	world := s.section.Groups[m.Name]
	if len(m.Status.Connectors) == 0 && len(world.Connectors) == 0 {
		return nil
	}
	declared, rendered := m.Spec.Connectors(), render.New(render.Input{Namespace: m.Namespace, Name: m.Name, Spec: &m.Spec}).Connectors()
	var assumed []string
	for _, connector := range declared {
		given, isGiven := world.Connectors[connector.Name]
		if !isGiven {
			assumed = append(assumed, connector.Name)
		}
		initial := given.State
		if initial == "" {
			initial = map[kafkav1beta2.ConnectorState]connectclient.State{kafkav1beta2.ConnectorStopped: connectclient.Stopped, kafkav1beta2.ConnectorPaused: connectclient.Paused}[connector.Desired()]
		}
		if err := c.Seed(connector.Name, rendered[connector.Name].Config, initial); err != nil {
			return err
		}
		offsets, err := given.offsets()
		if err != nil {
			return err
		}
		if err := c.SeedOffsets(connector.Name, offsets); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(world.Connectors)) {
		if _, ok := rendered[name]; !ok {
			s.env.Assume(client.ObjectKeyFromObject(m), "connector %s of the World is left out: the resource declares none of this name", name)
		}
	}
	if len(assumed) > 0 {
		s.env.Assume(client.ObjectKeyFromObject(m), "Connect has the connectors as declared, without offsets: the input does not contain what Connect stores")
	}
	c.Tick(c.Now + time.Minute.Milliseconds())
	return nil
}

// arrange makes the workers of a resource refuse and be silent as the World document says.
func (s *simulation) arrange(name types.NamespacedName, c *connect.Cluster) {
	world := s.section.Groups[name.Name]
	c.Faults = append(c.Faults, world.faults()...)
	for _, pod := range slices.Sorted(maps.Keys(world.SilentWorkers)) {
		worker, err := strconv.Atoi(observation.Number(pod))
		if err != nil || worker >= len(c.Workers) || c.Workers[worker].Process != connect.Up {
			s.env.Assume(name, "worker %s of the World is not silent: the input has no ready pod of this name", pod)
			continue
		}
		c.Freeze(worker)
		if d := world.SilentWorkers[pod].Duration; d > 0 {
			s.silent = append(s.silent, silent{group: name, worker: worker, until: s.env.Begin.Add(d)})
		}
	}
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
		switch has := c.Workers[i].Process != connect.Dead; {
		case ready[i] && !has:
			c.Start(i, false)
		case !ready[i] && has:
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

// Next implements plan.Simulation: when the next frozen worker continues. Otherwise the controller polls.
func (s *simulation) Next() (time.Time, bool) {
	var next time.Time
	for _, w := range s.silent {
		if next.IsZero() || w.until.Before(next) {
			next = w.until
		}
	}
	return next, !next.IsZero()
}

// Happen implements plan.Simulation: frozen workers continue. A worker whose pod was replaced meanwhile is not frozen any more.
func (s *simulation) Happen() {
	s.silent = slices.DeleteFunc(s.silent, func(w silent) bool {
		due := !w.until.After(s.env.Clock.Now())
		if due {
			s.groups[w.group].Thaw(w.worker)
		}
		return due
	})
}

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
		Service: &recorded{Client: service, simulation: s, of: e.Name},
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
