// Package planning is the Kafka kind of a plan: its controllers on simulated clusters. The past of each cluster is simulated first, so
// that processes, disks and metadata are as the resources describe them.
package planning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Options of the Kafka controllers.
type Options struct {
	// Finalizing determines who raises the metadata version. Required.
	Finalizing observation.Finalizing
}

// New returns the Kafka kind for a plan.
func New(o Options) (plan.Kind, error) {
	graphs, err := kafka.Lifecycles()
	if err != nil {
		return plan.Kind{}, err
	}
	return plan.Kind{
		Kind: kafka.Resource(), Lifecycles: graphs, Timeless: map[string][]string{kraftscaledown.Name: {kraftscaledown.AwaitingEmpty}}, PauseAnnotations: labels.Pauses(), ReadWorld: readWorld,
		Simulate: func(e *plan.Environment) (plan.Simulation, error) { return newSimulation(e, o) },
	}, nil
}

// before is how long the simulated world exists before its first process starts.
const before = 10 * time.Minute

// nodeName is the name of the node that all pods are bound to.
const nodeName = "simulated"

// simulation is the simulated Kafka clusters of one plan, with their kubelets.
type simulation struct {
	env       *plan.Environment
	section   *World
	system    *simulator.State
	collector *observation.Collector
	drivers   []plan.Driver
	// watching is the time until which running processes are synced.
	watching time.Time
	// frozen are pods that were not healthy in the input. They keep their state until they are deleted.
	frozen map[types.UID]bool
}

func newSimulation(e *plan.Environment, o Options) (*simulation, error) {
	section, ok := e.Section.(*World)
	if !ok {
		return nil, fmt.Errorf("simulating Kafka: the section of the World document is %T", e.Section)
	}
	s := &simulation{env: e, section: section, frozen: map[types.UID]bool{}}
	s.system = simulator.New(simulator.Options{Table: section.Table}, kubelet.Timeline{Epoch: s.oldest().Add(-before)})
	s.system.Script.BadImages = e.BadImages
	return s, s.assemble(o)
}

// oldest returns the start time of the first process.
func (s *simulation) oldest() time.Time {
	first := s.env.Begin.Add(-plan.Usual)
	for _, o := range s.env.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			if at := startedAt(pod); !at.IsZero() && at.Before(first) {
				first = at
			}
		}
	}
	return first
}

// Drivers implements plan.Simulation.
func (s *simulation) Drivers() []plan.Driver { return s.drivers }

// Prepare implements plan.Simulation.
func (s *simulation) Prepare(ctx context.Context, objects []lifecycle.Object) error {
	for _, o := range objects {
		k, ok := o.(*kafkav1beta2.Kafka)
		if !ok {
			return fmt.Errorf("simulating the past of %T %s: it is no Kafka", o, o.GetName())
		}
		b := &background{simulation: s, kafka: k, name: client.ObjectKeyFromObject(k)}
		if err := b.bring(ctx); err != nil {
			return fmt.Errorf("simulating the past of Kafka %s: %w", b.name, err)
		}
	}
	s.watching = s.env.Begin.Add(noticed)
	return nil
}

// Advance implements plan.Simulation.
func (s *simulation) Advance(now time.Time) { s.system.Tick(s.system.Timeline.Milliseconds(now)) }

// Next implements plan.Simulation.
func (s *simulation) Next() (time.Time, bool) {
	next, found := time.Time{}, false
	for _, c := range s.system.Clusters() {
		if ms, ok := c.Kafka.NextEvent(); ok {
			if at := s.system.Timeline.Time(ms); !found || at.Before(next) {
				next, found = at, true
			}
		}
	}
	return next, found
}

// Happen implements plan.Simulation: the kubelets probe every process after an event in Kafka.
func (s *simulation) Happen() { s.look() }

// Knows implements plan.Simulation.
func (s *simulation) Knows(version string) bool {
	v, err := s.section.Table.Find(version)
	if err != nil {
		return false
	}
	_, known := v.Row()
	return known
}

// noticed is the maximum time until a readiness probe reports a change of a process.
const noticed = 20 * time.Second

// look lets the kubelets probe every process, now and until a readiness probe has noticed a change.
func (s *simulation) look() {
	now := s.env.Clock.Now()
	s.watching = now.Add(noticed)
	s.env.Wake(corev1.SchemeGroupVersion.WithKind("Pod"), now)
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
