package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/fleet"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/transitions"
)

// Comparison compares the model with the code of the operator on one state after the other: what they observe, what is available,
// what an effect does, and what is repaired.
type Comparison struct {
	// Model and Production are the two sides. A test may replace functions of either.
	Model      Kind
	Production *Production

	ctx   context.Context //nolint:containedctx // that of the search
	at    *explore.Scenario
	table *versions.Table
	// digests are the digests of the desired state that the operator computed, by those of the model, and the reverse.
	digests, digestsBack map[string]string
}

// NewComparison returns the comparison for the states of a search.
func NewComparison(ctx context.Context, at *explore.Scenario, model Kind, table *versions.Table) (*Comparison, error) {
	production, err := NewProduction(ctx, table)
	if err != nil {
		return nil, fmt.Errorf("preparing the code of the operator: %w", err)
	}
	return &Comparison{
		Model: model, Production: production, ctx: ctx, at: at, table: table, digests: map[string]string{}, digestsBack: map[string]string{},
	}, nil
}

// costly are all costly facts.
func costly() []transitions.Need {
	return append([]transitions.Need{kafkaversion.NeedFeatures, noderoll.NeedSlot}, roll.ServingNeeds()...)
}

// Differences returns how the two sides differ on the present state; nil if they do not.
func (c *Comparison) Differences() error {
	s, ok := c.state()
	if !ok {
		return nil
	}
	objects := s.objects(c.Production.objects)
	stored, err := c.Production.serve(s.now, objects)
	if err != nil {
		return err
	}
	c.prepare(s)
	p := pair{Comparison: c, state: s, kafka: s.kafka(), stored: stored}
	for _, live := range []bool{false, true} {
		if wrong := p.observe(live); wrong != nil {
			return wrong
		}
	}
	for _, compare := range []func() error{p.decisions, p.effects, p.repair, p.apply} {
		if wrong := compare(); wrong != nil {
			return wrong
		}
	}
	return nil
}

// state reads the present state.
func (c *Comparison) state() (*modelState, bool) {
	s := &modelState{world: of(c.at), pods: podsOf(c.at), set: setOf(c.at), now: c.at.Now()}
	c.at.Objects("Cluster", func(o client.Object) { s.cluster, _ = o.(*Cluster) })
	return s, s.cluster != nil
}

// prepare sets what the operator reads from outside the API server.
func (c *Comparison) prepare(s *modelState) {
	p := c.Production
	*p.system = system{world: s.world, pods: s.pods, current: machines.RequestIDOf(string(s.cluster.UID), "version", entryOf(s.cluster.Status.Lifecycles, "version")), now: s.now}
	p.collector.Options = observation.Options{Finalizing: observation.FinalizeAutomatically}
	if s.cluster.ByApproval {
		p.collector.Options.Finalizing = observation.FinalizeByApproval
	}
	p.collector.Fleet = nil
	if s.world.noSlot {
		p.collector.Fleet = &fleet.Slots{Max: 1, Clusters: p.api}
	}
}

func entryOf(all []lifecyclev1.Lifecycle, name string) *lifecyclev1.Lifecycle {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// pair is one state on both sides.
type pair struct {
	*Comparison
	state  *modelState
	kafka  *kafkav1beta2.Kafka
	stored *store.Store
	// snapshots of the last observation.
	model      *Snapshot
	production *observation.Snapshot
}

// observe compares the facts of every lifecycle, and for a live observation what is available.
func (p *pair) observe(live bool) error {
	request := lifecycle.ObserveRequest{
		Needs: costly(), Live: live, Now: p.state.now, MaxAge: func(transitions.Need) time.Duration { return time.Minute },
		RequestIDs: map[string]machines.RequestID{},
	}
	for i := range p.state.cluster.Status.Lifecycles {
		e := &p.state.cluster.Status.Lifecycles[i]
		request.RequestIDs[e.Name] = machines.RequestIDOf(string(p.state.cluster.UID), e.Name, e)
	}
	var errs [2]error
	request.Read = p.at.Client()
	p.model, errs[0] = p.Model.Observe(p.ctx, p.state.cluster, request)
	request.Read = p.Production.api
	p.production, errs[1] = p.Production.Kind.Observe(p.ctx, p.kafka, request)
	if errs[0] != nil || errs[1] != nil {
		return fmt.Errorf("observing: the model says %v, controllers/kafka says %v", errs[0], errs[1]) //nolint:errorlint // one of them may be nil
	}
	for i, lc := range p.Model.Lifecycles {
		facts, other := factsOf(p, lc, p.state.cluster, p.model, live), factsOf(p, p.Production.Kind.Lifecycles[i], p.kafka, p.production, live)
		if wrong := p.facts(lc.Name(), facts, other); wrong != nil {
			return wrong
		}
	}
	if !live {
		return nil
	}
	want, got := p.Model.Availability(p.state.cluster, p.model), p.Production.Kind.Availability(p.kafka, p.production)
	return different("availability", want, got)
}

// evaluate evaluates a lifecycle on its facts, as the runtime does.
func evaluate[O client.Object, S, E any](p *pair, lc machines.Lifecycle[O, S, E], object O, snapshot S, live bool) machines.Evaluation[E] {
	e := entryOf(p.state.cluster.Status.Lifecycles, lc.Name())
	q := machines.EvaluationInput[O, S]{Object: object, Snapshot: snapshot, UID: string(object.GetUID()), Generation: object.GetGeneration(), Entry: e}
	q.Options = machines.ObserveOptions{Needs: costly(), Live: live, Now: p.state.now, RequestID: machines.RequestIDOf(q.UID, lc.Name(), e)}
	if e != nil {
		q.Options.Attempt, q.Options.EnteredAt = e.Attempt, e.EnteredAt.Time
	}
	return lc.Evaluator(access.Key{}).Evaluate(q)
}

func factsOf[O client.Object, S, E any](p *pair, lc machines.Lifecycle[O, S, E], object O, snapshot S, live bool) any {
	return evaluate(p, lc, object, snapshot, live).Facts()
}

// decisions compares what the lifecycles want to do next, and what their actions disrupt.
func (p *pair) decisions() error {
	for i, lc := range p.Model.Lifecycles {
		e := entryOf(p.state.cluster.Status.Lifecycles, lc.Name())
		if e == nil {
			continue
		}
		if _, acts := lc.Evaluator(access.Key{}).Action(e.State); !acts {
			continue
		}
		model := evaluate(p, lc, p.state.cluster, p.model, true).Act()
		production := evaluate(p, p.Production.Kind.Lifecycles[i], p.kafka, p.production, true).Act()
		var want, got []plan
		for _, effect := range model.Effects {
			target, disrupts := p.Model.Disrupts(effect)
			want = append(want, plan{effect, target, disrupts})
		}
		for _, effect := range production.Effects {
			target, disrupts := p.Production.Kind.Disrupts(effect)
			got = append(got, plan{modelEffect(effect), target, disrupts})
		}
		if wrong := different("effects of "+lc.Name(), want, got); wrong != nil {
			return wrong
		}
	}
	return nil
}

// plan is an effect, and what it disrupts.
type plan struct {
	Effect   Effect
	Target   string
	Disrupts bool
}

// modelEffect converts an effect of the operator.
func modelEffect(e controller.Effect) Effect {
	switch {
	case e.Restart != nil:
		return Effect{Restart: true, Node: int(e.Restart.Node), Version: e.Restart.Version}
	case e.Format != nil:
		return Effect{Format: true, Node: int(e.Format.Node)}
	}
	return Effect{Update: e.Update}
}

// productionEffect converts an effect of the model.
func productionEffect(e Effect) controller.Effect {
	node := int32(e.Node) //nolint:gosec // three
	switch {
	case e.Restart:
		return controller.Effect{Restart: &controller.Restart{Node: node, Version: e.Version}}
	case e.Format:
		return controller.Effect{Format: &controller.Format{Node: node}}
	}
	return controller.Effect{Update: e.Update}
}

// effects executes every effect on both sides and compares the results.
func (p *pair) effects() error {
	var all []Effect
	for node := range Nodes {
		all = append(all, Effect{Restart: true, Node: node}, Effect{Restart: true, Node: node, Version: p.state.cluster.Version}, Effect{Format: true, Node: node})
	}
	for _, level := range []int16{oldLevel, newerLevel} {
		all = append(all, Effect{Update: &kafkaclient.FeatureUpdate{Name: versions.FeatureMetadata, Level: level}})
	}
	id := p.Production.system.current
	for _, effect := range all {
		want := p.modelOutcome(func(write lifecycle.Writer) error {
			return p.Model.Execute(p.ctx, lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]{
				Object: p.state.cluster, Snapshot: p.model, Effect: effect, RequestID: id, Write: write,
			})
		})
		got := p.productionOutcome(func(write lifecycle.Writer) error {
			return p.Production.Kind.Execute(p.ctx, lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, controller.Effect]{
				Object: p.kafka, Snapshot: p.production, Effect: productionEffect(effect), RequestID: id, Write: write,
			})
		})
		if want != got {
			return different("outcome of the "+effect.String(), want, got)
		}
	}
	return nil
}

// repair compares what both sides repair.
func (p *pair) repair() error {
	want := p.modelOutcome(func(write lifecycle.Writer) error { return p.Model.Repair(p.ctx, p.state.cluster, p.model, write) })
	for i, pod := range p.state.pods {
		if n := &p.state.world.nodes[i]; pod != nil && pod.Ready && !n.never && p.state.now.After(kafkaversion.SnapshotDue(pod.StartedAt, p.state.world.lowered, interval)) {
			want.Levels[i] = p.state.world.Level // the record is settled as soon as the process has certainly taken a snapshot
		}
	}
	got := p.productionOutcome(func(write lifecycle.Writer) error {
		return p.Production.Kind.Repair(p.ctx, p.kafka, p.production, write)
	})
	if want != got {
		return different("outcome of the repair", want, got)
	}
	return nil
}

// apply checks that rendering and applying the desired children disrupts nothing: the entries of existing nodes change by a
// restart only.
func (p *pair) apply() error {
	want := p.modelOutcome(func(lifecycle.Writer) error { return nil })
	got := p.productionOutcome(func(write lifecycle.Writer) error {
		return p.Production.Kind.Apply(p.ctx, p.kafka, p.production, write)
	})
	if want != got {
		return different("outcome of applying the children", want, got)
	}
	return nil
}

// clock of a writer.
func (p *pair) clock() *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(p.state.now)
}

// verdict classifies the error of an effect.
func verdict(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, lifecycle.ErrWait):
		return "waits"
	case errors.Is(err, lifecycle.ErrStale):
		return "stale"
	}
	return "failed"
}

// different describes how the model and the operator differ; nil if they do not.
func different(what string, model, production any, options ...cmp.Option) error {
	if diff := cmp.Diff(model, production, options...); diff != "" {
		return fmt.Errorf("%s (-model +controllers/kafka):\n%s", what, diff)
	}
	return nil
}
