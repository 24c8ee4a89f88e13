package connecttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/connect"
)

// Setup is the workers that a row begins with.
type Setup struct {
	// Workers is their number. The first leads the group.
	Workers int
	// ExactlyOnce starts them with exactly-once source support.
	ExactlyOnce bool
	// LeaderWithout starts the first without it.
	LeaderWithout bool
	// Release is the only release of which the row is true; empty for every release.
	Release string
}

// StartsExactlyOnce reports whether a worker is started with exactly-once source support.
func (s Setup) StartsExactlyOnce(worker int) bool {
	return s.ExactlyOnce && (worker > 0 || !s.LeaderWithout)
}

// World is a Connect cluster under test, with one topic of Partitions partitions that no other row uses. Its methods fail if what
// they wait for does not happen before the context ends.
type World interface {
	// Client returns a client that sends its requests to a worker, counted from 0.
	Client(worker int) connect.Client
	// Bootstrap is the address of the Kafka cluster, for connectors.
	Bootstrap() string
	// Source is the alias of the source cluster. No other row uses it.
	Source() string
	// Topic is the topic to mirror.
	Topic() string

	// Produce writes the number of records to each partition of the topic.
	Produce(ctx context.Context, records int) error
	// Mirrored returns the number of records in the target topic.
	Mirrored(ctx context.Context) (int, error)

	// FreezeWhileMirroring stops the worker's process, which keeps its memory and connections, while records are mirrored: its tasks
	// have offsets that they have not committed. Thaw continues it.
	FreezeWhileMirroring(ctx context.Context, worker int) error
	Thaw(ctx context.Context, worker int) error
	// Kill ends the worker's process with SIGKILL.
	Kill(ctx context.Context, worker int) error
	// Pass waits until the condition is true. It fails with the error of the condition.
	Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error
}

// Partitions is the number of partitions of the topic.
const Partitions = 2

// Classes of the connectors.
const (
	Source     = "MirrorSourceConnector"
	Checkpoint = "MirrorCheckpointConnector"
	Heartbeat  = "MirrorHeartbeatConnector"
)

// target is the alias of the target cluster.
const target = "b"

// Name returns the name of a connector of the world.
func Name(w World, class string) string { return w.Source() + "->" + target + "." + class }

// TargetTopic is the topic that the records are mirrored to.
func TargetTopic(w World) string { return w.Source() + "." + w.Topic() }

// Config returns the configuration of a connector.
func Config(w World, class string) map[string]string {
	return map[string]string{
		"connector.class":                       "org.apache.kafka.connect.mirror." + class,
		"tasks.max":                             "2",
		"source.cluster.alias":                  w.Source(),
		"target.cluster.alias":                  target,
		"source.cluster.bootstrap.servers":      w.Bootstrap(),
		"target.cluster.bootstrap.servers":      w.Bootstrap(),
		"topics":                                w.Topic(),
		"groups":                                "a-group",
		"replication.factor":                    "1",
		"offset-syncs.topic.replication.factor": "1",
		"checkpoints.topic.replication.factor":  "1",
		"heartbeats.topic.replication.factor":   "1",
		"sync.topic.acls.enabled":               "false",
		"refresh.topics.interval.seconds":       "1",
		"refresh.groups.interval.seconds":       "1",
		"emit.heartbeats.interval.seconds":      "1",
		"emit.checkpoints.interval.seconds":     "1",
	}
}

// Behaviour is one row of the table.
type Behaviour struct {
	Name  string
	Setup Setup
	// Given are the steps that set the situation up. None of them may fail.
	Given []Step
	// When is the step under test, and Want its expected outcome.
	When Step
	Want Want
	// Then are checks of the state afterwards.
	Then []Step
	// Disturbs means that the row freezes or kills workers, so that no other row can use them.
	Disturbs bool
}

// Step is something done to a world, or a check of it.
type Step struct {
	Name string
	Do   func(ctx context.Context, w World) error
}

// Want is the expected outcome of a step.
type Want struct {
	// Code of Connect's error answer, 0 if the step must be accepted.
	Code int
	// Says are parts of Connect's message; all of them are required.
	Says []string
	// NoAnswer is true if there must be no answer in time.
	NoAnswer bool
}

// Run runs the row on the world that build creates for it. build must register its own clean-up.
func (b Behaviour) Run(ctx context.Context, t *testing.T, build func(t *testing.T, b Behaviour) World) {
	t.Helper()
	w := build(t, b)
	for _, s := range b.Given {
		if err := s.Do(ctx, w); err != nil {
			t.Fatalf("given: %s: %v", s.Name, err)
		}
	}
	if err := b.Want.judge(b.When.Do(ctx, w)); err != nil {
		t.Fatalf("when: %s: %v", b.When.Name, err)
	}
	for _, s := range b.Then {
		if err := s.Do(ctx, w); err != nil {
			t.Fatalf("then: %s: %v", s.Name, err)
		}
	}
}

var errNone = errors.New("no error")

// judge returns an error if the outcome of a step differs from the expected one.
func (want Want) judge(err error) error {
	answer, answered := connect.Answer(err)
	switch {
	case err == nil:
		err = errNone
	case !answered && !want.NoAnswer:
		return err
	}
	if want.Code != answer.Code || want.NoAnswer != (!answered && !errors.Is(err, errNone)) {
		return fmt.Errorf("want %+v, got: %w", want, err)
	}
	for _, part := range want.Says {
		if !strings.Contains(answer.Message, part) {
			return fmt.Errorf("want it to say %q, got %q", part, answer.Message)
		}
	}
	return nil
}
