//go:build realkafka

package realbrokers

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/kafkatest"
	"github.com/detent-dev/detent/clients/kafka/kafkatest/realkafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

const (
	// rowTimeout bounds one row: formatting and starting a cluster.
	rowTimeout = 5 * time.Minute
	// sessionTimeout is at least that of the brokers.
	sessionTimeout = 9 * time.Second
)

// boot starts three nodes with both roles and a topic on all of them.
func boot(ctx context.Context, t *testing.T, release string) *realkafka.Cluster {
	t.Helper()
	jars := os.Getenv("DETENT_KAFKA_JARS")
	if jars == "" {
		t.Fatal("DETENT_KAFKA_JARS must name a directory with <release>/lib for every release of the table")
	}
	c, err := realkafka.Boot(ctx, jars, t.TempDir(), kafkatest.Setup{Release: release, Nodes: []int32{0, 1, 2}})
	t.Cleanup(c.Close)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CreateTopic(ctx, "orders", 2, 0, 1, 2); err != nil {
		t.Fatal(err)
	}
	return c
}

// unready are three nodes that all require a restart, some of whose pods are unready since then. The facts about Kafka and the
// nodes are read from the real cluster. A read that fails leaves its fact unreadable.
func unready(ctx context.Context, c *realkafka.Cluster, since map[int32]time.Time) *roll.Facts {
	now := time.Now()
	f := &roll.Facts{Now: now, SessionTimeout: sessionTimeout, FetchTimeout: kafka.DefaultQuorumFetchTimeout}
	members := roll.Members{}
	for id := range int32(3) {
		f.Nodes = append(f.Nodes, roll.Node{
			ID: id, Pod: fmt.Sprintf("pod-%d", id), Controller: true, Broker: true, Outdated: true, Running: true, Ready: true, StartedAt: now.Add(-time.Hour),
		})
		member, err := c.Client().Member(ctx, id)
		if err == nil {
			members[id] = roll.Membership{Controller: member.Controller.Serving, Broker: member.Broker.Serving, Answered: member.Answered()}
		}
	}
	for id, at := range since {
		f.Nodes[id].Ready, f.Nodes[id].UnreadySince, f.Nodes[id].Trouble = false, at, transitions.Problemf("ProbeFails", "the probe fails")
	}
	f.Members = transitions.Known(members, now)
	quorum, err := c.Client().Quorum(ctx)
	f.Quorum = fact(quorum, err, now)
	brokers, err := c.Client().Brokers(ctx)
	f.Brokers = fact(brokers, err, now)
	partitions, err := c.Client().Partitions(ctx)
	f.Partitions = fact(partitions, err, now)
	return f
}

func fact[T any](value T, err error, at time.Time) transitions.Fact[T] {
	if err != nil {
		return transitions.Unreadable[T](err)
	}
	return transitions.Known(value, at)
}

// allowed returns the nodes that may be restarted.
func allowed(f *roll.Facts) []int32 {
	var out []int32
	for i := range f.Nodes {
		if roll.Safe(f, &f.Nodes[i]).Answer == transitions.Yes {
			out = append(out, f.Nodes[i].ID)
		}
	}
	return out
}

// awaits waits until exactly these nodes may be restarted.
func awaits(ctx context.Context, t *testing.T, c *realkafka.Cluster, want []int32, observe func() *roll.Facts) {
	t.Helper()
	var got []int32
	err := c.Pass(ctx, fmt.Sprintf("only %v may be restarted", want), func(context.Context) (bool, error) {
		got = allowed(observe())
		return cmp.Equal(want, got), nil
	})
	if err != nil {
		t.Fatalf("%v; the last answer was %v", err, got)
	}
}

func TestRestartGuardsKeepServingUnreadyVoterWhileNodeIsDown(t *testing.T) {
	for _, release := range []string{"3.9.2", "4.1.2"} {
		t.Run(release, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), rowTimeout)
			defer cancel()
			c := boot(ctx, t, release)
			//   The probe of node 1 fails. Every node is serving, so any one may be restarted.
			since := map[int32]time.Time{1: time.Now().Add(-time.Minute)}
			awaits(ctx, t, c, []int32{0, 1, 2}, func() *roll.Facts { return unready(ctx, c, since) })
			if err := c.Kill(ctx, 2); err != nil {
				t.Fatal(err)
			}
			//   Once node 2 is dead, node 1 must keep running, also while Kafka has not noticed.
			since[2] = time.Now()
			observe := func() *roll.Facts {
				f := unready(ctx, c, since)
				for _, id := range []int32{0, 1} {
					if roll.Safe(f, f.Node(id)).Answer == transitions.Yes {
						t.Errorf("node %d may be restarted while node 2 is down", id)
					}
				}
				return f
			}
			awaits(ctx, t, c, []int32{2}, observe)
		})
	}
}
