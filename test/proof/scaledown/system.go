package scaledown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

var errSilent = errors.New("connection refused")

// system is Kafka as the operator reaches it.
type system struct{ at *explore.Scenario }

var _ connection.System = system{}

// Read answers every query now.
func (s system) Read(_ context.Context, _ connection.Endpoint, queries []connection.Query, _ bool, now time.Time) []connection.Reading {
	return of(s.at).read(queries, now)
}

func (w *World) read(queries []connection.Query, now time.Time) []connection.Reading {
	out := make([]connection.Reading, len(queries))
	for i, q := range queries {
		out[i].At = now
		out[i].Answer, out[i].Err = w.answer(q.Question, now)
	}
	return out
}

func (w *World) answer(q kafkaclient.Question, now time.Time) (a kafkaclient.Answer, err error) {
	if q.About == kafkaclient.AboutMember {
		n := &w.nodes[q.Broker]
		report := kafkaclient.RoleReport{Asked: true, Answered: n.process != "" && !w.silent, Serving: w.answers() && n.process != ""}
		return kafkaclient.Answer{Member: &kafkaclient.Member{ID: q.Broker, Broker: report, Controller: report}}, nil
	}
	if !w.answers() {
		return a, errSilent
	}
	switch q.About {
	case kafkaclient.AboutFeatures, kafkaclient.AboutSupport:
		a.Features = &kafkaclient.Features{Finalized: map[string]int16{versions.FeatureMetadata: w.level}}
	case kafkaclient.AboutBrokers:
		a.Brokers = w.brokers(now)
	case kafkaclient.AboutQuorum:
		a.Quorum = &kafkaclient.Quorum{HighWatermark: 1, Voters: []kafkaclient.QuorumReplica{
			{LogEndOffset: 1, LastFetchMillis: now.UnixMilli(), LastCaughtUpMillis: now.UnixMilli()},
		}}
	case kafkaclient.AboutPartitions:
		a.Partitions = &kafkaclient.Partitions{}
		for i := range w.partitions {
			if w.partitions[i].exists {
				a.Partitions.Add(w.partition(i, now))
			}
		}
	case kafkaclient.AboutReplicas:
		a.Replicas = &kafkaclient.Replicas{Broker: q.Broker}
		for i := range w.partitions {
			if p := &w.partitions[i]; p.exists {
				leaving := 0
				if p.moving {
					leaving = len(w.reassignment(i).Removing)
				}
				a.Replicas.Add(w.partition(i, now), leaving)
			}
		}
	case kafkaclient.AboutMoves:
		a.Moves = &kafkaclient.Reassignments{}
		for i := range w.partitions {
			if w.partitions[i].moving {
				a.Moves.Add(w.reassignment(i))
			}
		}
	default:
		return w.ask(q)
	}
	return a, nil
}

// ask asks one broker.
func (w *World) ask(q kafkaclient.Question) (a kafkaclient.Answer, err error) {
	n := &w.nodes[q.Broker]
	if !n.runs() {
		return a, errSilent
	}
	if q.About == kafkaclient.AboutLogDirs {
		a.LogDirs = &kafkaclient.LogDirs{Broker: q.Broker, Dirs: []kafkaclient.LogDir{{Path: "/data", Replicas: w.holds(q.Broker)}}}
		return a, nil
	}
	a.Configs = kafkaclient.Configs{}
	if n.cordoned {
		a.Configs[kafkaclient.ConfigCordonedLogDirs] = kafkaclient.CordonedAll
	}
	return a, nil
}

func (w *World) brokers(now time.Time) *kafkaclient.Brokers {
	b := &kafkaclient.Brokers{FencingReported: w.listsFenced}
	for i := range w.nodes {
		switch n := &w.nodes[i]; {
		case !n.registered:
		case !w.listsFenced && n.alive(now):
			b.Brokers = append(b.Brokers, kafkaclient.Broker{ID: int32(i)}) //nolint:gosec // four
		case n.alive(now):
			b.Brokers = append(b.Brokers, kafkaclient.Broker{ID: int32(i), Fencing: kafkaclient.Unfenced}) //nolint:gosec // four
		case w.listsFenced:
			b.Brokers = append(b.Brokers, kafkaclient.Broker{ID: int32(i), Fencing: kafkaclient.Fenced}) //nolint:gosec // four
		}
	}
	if w.listsFenced && w.past.registered {
		b.Brokers = append(b.Brokers, kafkaclient.Broker{ID: past, Fencing: kafkaclient.Fenced})
	}
	return b
}

// topic of a partition.
func topic(i int) string { return fmt.Sprintf("topic-%d", i) }

func (w *World) partition(i int, now time.Time) kafkaclient.Partition {
	p := &w.partitions[i]
	replicas := slices.Compact(slices.Clone(p.replicas[:]))
	all := replicas
	if p.moving {
		all = w.reassignment(i).Replicas
	}
	out := kafkaclient.Partition{Topic: topic(i), Leader: kafkaclient.NoLeader, Replicas: all, MinISR: 1}
	for _, id := range replicas {
		if w.nodes[id].alive(now) {
			out.ISR = append(out.ISR, id)
		}
	}
	if len(out.ISR) > 0 {
		out.Leader = out.ISR[0]
	}
	return out
}

func (w *World) reassignment(i int) kafkaclient.Reassignment {
	p := &w.partitions[i]
	m := kafkaclient.Reassignment{Topic: topic(i), Replicas: slices.Clone(p.target[:])}
	for _, id := range p.replicas {
		if !slices.Contains(p.target[:], id) {
			m.Removing, m.Replicas = append(m.Removing, id), append(m.Replicas, id)
		}
	}
	for _, id := range p.target {
		if !slices.Contains(p.replicas[:], id) {
			m.Adding = append(m.Adding, id)
		}
	}
	return m
}

// Write accepts a command. Kafka carries out a request to unregister, or to change the level, at any later time.
func (s system) Write(_ context.Context, _ connection.Endpoint, id machines.RequestID, c kafkaclient.Command) {
	w := of(s.at)
	sent := request{id: id, state: external.Pending}
	switch {
	case c.Unregister != nil:
		w.judgeUnregistration(s.at, *c.Unregister)
		if b := w.broker(*c.Unregister); b != nil && b.request.id != id { // every System ignores a repeated command
			b.request = sent
		}
	case c.UpdateFeature != nil:
		if w.raise.id == id {
			return
		}
		w.raise, w.raiseTo = sent, c.UpdateFeature.Level
		w.judgeRaise(s.at)
	case !w.answers():
	case c.Cordon != nil:
		if n := &w.nodes[c.Cordon.Broker]; n.runs() {
			n.cordoned, n.abandoned = c.Cordon.Cordoned, false
		}
	default:
		for _, m := range c.Reassign {
			w.move(m)
		}
	}
}

func (w *World) move(m kafkaclient.Move) {
	for i := range w.partitions {
		p := &w.partitions[i]
		switch {
		case m.Topic != topic(i) || !p.exists:
		case len(m.Replicas) == 0:
			p.moving = false
		default:
			p.moving = true
			copy(p.target[:], m.Replicas)
		}
	}
}

// Answer returns the outcome of the command with the request ID.
func (s system) Answer(_ connection.Endpoint, id machines.RequestID) external.Answer {
	for _, r := range of(s.at).requests() {
		if r.id == id {
			return external.Answer{RequestID: id, State: r.state, Code: r.code, Text: "refused"}
		}
	}
	return external.Answer{}
}

// Failure returns none: the kind does not read it.
func (system) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns the commands of earlier visits that may still take effect.
func (s system) InFlight(_ connection.Endpoint, lifecycle string) external.InFlight {
	current := s.at.RequestID(lifecycle)
	for _, r := range of(s.at).requests() {
		if r.id.Lifecycle == lifecycle && r.state == external.Pending && r.id != current {
			return external.InFlight{Until: s.at.Now().Add(settle), Sent: true}
		}
	}
	return external.InFlight{}
}

// Drop does nothing: no connection exists.
func (system) Drop(types.UID) {}

// resting is a Kafka that only answers, before the search.
type resting struct {
	connection.System
	world *World
}

// Read answers every query now.
func (r resting) Read(_ context.Context, _ connection.Endpoint, queries []connection.Query, _ bool, now time.Time) []connection.Reading {
	return r.world.read(queries, now)
}

// Answer returns none.
func (resting) Answer(connection.Endpoint, machines.RequestID) external.Answer {
	return external.Answer{}
}

// Failure returns none: the kind does not read it.
func (resting) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns none.
func (resting) InFlight(connection.Endpoint, string) external.InFlight { return external.InFlight{} }

// requests returns the last request about each broker and about the level.
func (w *World) requests() []*request {
	out := []*request{&w.raise, &w.past.request}
	for i := range w.nodes {
		out = append(out, &w.nodes[i].request)
	}
	return out
}
