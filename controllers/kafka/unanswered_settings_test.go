package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/roll"
)

// slowSettings is a system that has just started, and answers questions about settings last.
type slowSettings struct {
	connection.System
	pending int // observations in which the settings are not answered yet
}

func (s *slowSettings) Read(ctx context.Context, cluster connection.Endpoint, queries []connection.Query, live bool, now time.Time) []connection.Reading {
	out := s.System.Read(ctx, cluster, queries, live, now)
	if live || s.pending == 0 {
		return out
	}
	for i, q := range queries {
		if q.Question.About == kafkaclient.AboutSettings {
			out[i] = connection.Reading{}
		}
	}
	s.pending--
	return out
}

// After a restart of the operator nothing shows yet whether Kafka takes the declared values: no node is restarted with them.
func TestKindAwaitsSettingsBeforeARestart(t *testing.T) {
	for name, before := range map[string]func(r *rig){
		"the operator was down": func(*rig) {},
		"the status was lost": func(r *rig) {
			k := r.cluster()
			k.Status.Lifecycles = nil
			r.must(r.client.Status().Update(t.Context(), k))
		},
		"the roll had begun": func(r *rig) {
			k := r.cluster()
			for i := range k.Status.Lifecycles {
				if e := &k.Status.Lifecycles[i]; e.Name == observation.LifecycleRoll {
					e.State = roll.SelectingNode
				}
			}
			r.must(r.client.Status().Update(t.Context(), k))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := configurable(t)
			uids := r.uids()
			r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "Invalid value zst"}
			r.configured(map[string]string{"compression.type": "zst", "queued.max.requests": "9"})
			before(r)
			r.collector = &observation.Collector{Table: r.collector.Table, System: &slowSettings{System: r.collector.System, pending: 8}, Hosts: r.client}
			reconciler := r.reconciler(t, r.client, r.client)
			for range 16 {
				r.kafkaServes()
				r.started()
				r.must(pass(t, reconciler, r.key))
				r.clock.Step(20 * time.Millisecond)
			}
			if diff := cmp.Diff(uids, r.uids()); diff != "" {
				t.Errorf("pods were restarted:\n%s", diff)
			}
			if got := r.state(observation.LifecycleConfiguration); got != dynamicconfig.Refusing {
				t.Errorf("state %q, want Refused", got)
			}
		})
	}
}
