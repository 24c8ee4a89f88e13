package kafka

import (
	"context"
	"strings"
	"testing"
	"time"

	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

type (
	modelRequest      = lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]
	productionRequest = lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, controller.Effect]
)

// TestComparisonFindsDifferences seeds a difference into one side: a comparison that does not find it proves nothing.
func TestComparisonFindsDifferences(t *testing.T) {
	cases := map[string]struct {
		// of is the subject in which the difference shows. Default: Changing.
		of         func() (Subject, error)
		model      func(*Kind)
		production func(*Production)
		// found is part of the violation.
		found string
	}{
		"facts: the model counts an unready pod as ready": {
			found: "facts of version",
			model: func(k *Kind) {
				observe := k.Observe
				k.Observe = func(ctx context.Context, c *Cluster, r lifecycle.ObserveRequest) (*Snapshot, error) {
					v, err := observe(ctx, c, r)
					for i := range v.Facts.Roll.Nodes {
						v.Facts.Roll.Nodes[i].Ready = v.Facts.Roll.Nodes[i].Running
					}
					return v, err
				}
			},
		},
		"facts: controllers/kafka takes any image for the version of the entry": {
			found: "facts of version",
			production: func(p *Production) {
				observe := p.Kind.Observe
				p.Kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
					v, err := observe(ctx, k, r)
					for i := range v.Nodes {
						v.Nodes[i].Pod.Version = v.Nodes[i].Entry.Version
					}
					return v, err
				}
			},
		},
		"facts: controllers/kafka takes a lost volume for an accepted one": {
			of: Losing, found: "facts of storage",
			production: func(p *Production) {
				observe := p.Kind.Observe
				p.Kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
					v, err := observe(ctx, k, r)
					for i := range v.Nodes {
						if v.Nodes[i].Pod.Volumes.Lost != "" {
							v.Nodes[i].Pod.Volumes = observation.Volumes{Accepted: true}
						}
					}
					return v, err
				}
			},
		},
		"availability: the model counts a pod that serves and is not ready as lost": {
			found: "availability",
			model: func(k *Kind) {
				available := k.Availability
				k.Availability = func(c *Cluster, v *Snapshot) lifecycle.Availability { return onlyReady(available(c, v)) }
			},
		},
		"availability: controllers/kafka counts a pod that serves and is not ready as lost": {
			found: "availability",
			production: func(p *Production) {
				available := p.Kind.Availability
				p.Kind.Availability = func(k *kafkav1beta2.Kafka, v *observation.Snapshot) lifecycle.Availability {
					return onlyReady(available(k, v))
				}
			},
		},
		"effects: the model evicts before it sets the mark": {
			found: "outcome of the restart of node",
			model: func(k *Kind) {
				execute := k.Execute
				k.Execute = func(ctx context.Context, r modelRequest) error {
					if pod := r.Snapshot.Pods[r.Effect.Node]; r.Effect.Restart && pod != nil {
						return r.Write.Delete(ctx, pod)
					}
					return execute(ctx, r)
				}
			},
		},
		"effects: controllers/kafka restarts another version": {
			found: "outcome of the restart of node",
			production: func(p *Production) {
				execute := p.Kind.Execute
				p.Kind.Execute = func(ctx context.Context, r productionRequest) error {
					if r.Effect.Restart != nil && r.Effect.Restart.Version == "" {
						r.Effect.Restart = &controller.Restart{Node: r.Effect.Restart.Node, Version: Newer}
					}
					return execute(ctx, r)
				}
			},
		},
		"disruption: the model disrupts nothing": {
			found: "effects of roll",
			model: func(k *Kind) { k.Disrupts = func(Effect) (string, bool) { return "", false } },
		},
		"disruption: controllers/kafka disrupts nothing": {
			found: "effects of roll",
			production: func(p *Production) {
				p.Kind.Disrupts = func(controller.Effect) (string, bool) { return "", false }
			},
		},
		"repair: the model leaves a lost set": {
			found: "outcome of the repair",
			model: func(k *Kind) {
				k.Repair = func(context.Context, *Cluster, *Snapshot, lifecycle.Writer) error { return nil }
			},
		},
		"repair: controllers/kafka leaves a lost set": {
			found: "outcome of the repair",
			production: func(p *Production) {
				p.Kind.Repair = func(context.Context, *kafkav1beta2.Kafka, *observation.Snapshot, lifecycle.Writer) error { return nil }
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			of := tc.of
			if of == nil {
				of = Changing
			}
			subject, err := of()
			if err != nil {
				t.Fatal(err)
			}
			table := selfOf(subject.World).table
			subject.Inspect = func(at *explore.Scenario) (func() error, error) {
				model, err := NewKind(at, kafkaversion.Definition(), noderoll.Definition(), nodestorage.Definition())
				if err != nil {
					return nil, err
				}
				c, err := NewComparison(t.Context(), at, model, table)
				if err != nil {
					return nil, err
				}
				if tc.model != nil {
					tc.model(&c.Model)
				}
				if tc.production != nil {
					tc.production(c.Production)
				}
				return c.Differences, nil
			}
			report, err := explore.Explore(t.Context(), subject, explore.Options{States: 2000, Straight: true, Time: 10 * time.Minute, Until: tc.found, InspectEach: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range report.Violations {
				if strings.Contains(v.What, tc.found) {
					t.Logf("found after %d states were compared", report.Inspected)
					return
				}
			}
			t.Errorf("nothing says %q: %s, %v", tc.found, report, report.Violations)
		})
	}
}

// onlyReady takes readiness for service.
func onlyReady(a lifecycle.Availability) lifecycle.Availability {
	for i := range a.Members {
		if m := &a.Members[i]; !m.Ready {
			m.Serving = transitions.No
		}
	}
	return a
}
