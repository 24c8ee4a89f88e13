package admin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

// cutOff cuts broker 3 off and waits until the controllers have fenced it.
func cutOff(c *simulated.Cluster) {
	c.CutOff(3)
	c.Tick(c.Now + c.Settings.Session + c.Settings.Election + 1_000)
}

// via3 returns a client that bootstraps from broker 3 only, and knows the other nodes only if others is set.
func (w *world) via3(others bool) *admin.Client {
	w.options.Bootstrap = []string{"node-3.kafka.test:9091"}
	if !others {
		w.options.Nodes = nil
	}
	return w.client()
}

func inSync(t *testing.T, p kafka.Partitions) []int32 {
	t.Helper()
	for _, s := range p.Suspect {
		if s.Topic == "orders" {
			return s.ISR
		}
	}
	return nil
}

// A broker that is cut off from the controllers still answers with the ISR that it last knew. The rule applies to every role and
// release; in this cluster the nodes have both roles.
func TestClientSkipsBrokerCutOffFromControllers(t *testing.T) {
	for _, version := range []string{"3.9.2", "4.1.2"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			c := w.via3(true)
			// From here on the client asks broker 3 first.
			if _, err := c.Partitions(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.do(cutOff)
			w.do(func(c *simulated.Cluster) {
				outdated, _, err := c.Metadata(3)
				if err != nil || len(outdated[0].ISR) != 3 {
					t.Fatalf("broker 3 does not answer with the old ISR: %+v, %v", outdated, err)
				}
			})
			p, err := c.Partitions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int32{1, 2}, inSync(t, p)); diff != "" {
				t.Errorf("ISR (-want +got):\n%s", diff)
			}
			brokers, err := c.Brokers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if b, listed := brokers.Find(3); listed && b.Fencing != kafka.Fenced {
				t.Errorf("broker 3 is %+v, want fenced or left out", b)
			}
			if _, err := c.Features(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClientNamesBrokerCutOffWhenNoOtherAnswers(t *testing.T) {
	w := newWorld(t, "4.1.2")
	c := w.via3(false)
	if _, err := c.Quorum(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Another broker describes the quorum, so broker 3 is the only one left to read from.
	w.do(cutOff)
	for _, about := range []kafka.Subject{kafka.AboutPartitions, kafka.AboutBrokers, kafka.AboutFeatures} {
		got, err := kafka.Ask(t.Context(), c, kafka.Question{About: about})
		wantUnreadable(t, err)
		if err != nil && !strings.Contains(err.Error(), "node-3.kafka.test:9091") {
			t.Errorf("%s: %+v, %v; want the broker to be named", about, got, err)
		}
	}
	w.do(func(c *simulated.Cluster) {
		c.Reconnect(3)
		c.Tick(c.Now + 10_000)
	})
	p, err := c.Partitions(t.Context())
	if err != nil || len(inSync(t, p)) != 3 && inSync(t, p) != nil {
		t.Errorf("reconnected: %+v, %v", p, err)
	}
}

// The client waits for a broker that reaches the controllers but has not applied what they committed, then skips it and names it
// in the error.
func TestClientSkipsBrokerThatIsBehind(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) {
		if c.Leader == 3 {
			t.Fatal("the case is about a follower")
		}
		c.SetVoterLag(3, 60_000)
		c.Tick(c.Now + 70_000)
	})
	_, err := w.via3(false).Partitions(t.Context())
	behind, ok := errors.AsType[*kafka.Behind](err)
	if !ok {
		t.Fatalf("%v, want it to be behind", err)
	}
	if want := (&kafka.Behind{Broker: "the broker at node-3.kafka.test:9091"}); *behind != *want {
		t.Errorf("%v, want %v", behind, want)
	}
	wantUnreadable(t, err)
}

// The client waits for a broker that catches up while it is asked.
func TestClientWaitsForBrokerToCatchUp(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) {
		c.SetVoterLag(3, 60_000)
		c.Tick(c.Now + 70_000)
	})
	c := w.via3(false)
	if _, err := c.Quorum(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { w.do(func(c *simulated.Cluster) { c.SetVoterLag(3, 0) }) })
	if _, err := c.Partitions(t.Context()); err != nil {
		t.Error(err)
	}
}

// Without a leader no broker can be shown to be current.
func TestClientFailsWithoutQuorumLeader(t *testing.T) {
	w := newWorld(t, "4.1.2")
	c := w.client()
	w.do(func(c *simulated.Cluster) {
		c.KillNode(1, c.Now)
		c.KillNode(2, c.Now)
	})
	for _, about := range []kafka.Subject{kafka.AboutPartitions, kafka.AboutBrokers, kafka.AboutFeatures} {
		_, err := kafka.Ask(t.Context(), c, kafka.Question{About: about})
		wantUnreadable(t, err)
	}
}

// If all controllers lose the metadata log, their epochs begin anew. The client of a cluster lives as long as the cluster: it must not
// take every later leader for a deposed one.
func TestClientAcceptsQuorumThatBeganAgain(t *testing.T) {
	w := newWorld(t, "4.1.2")
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	w.options.Clock = clock
	c := w.client()
	w.do(func(c *simulated.Cluster) { c.LeaderEpoch = 7 })
	if _, err := c.Partitions(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.do(func(c *simulated.Cluster) { c.LeaderEpoch = 1 })
	_, err := c.Partitions(t.Context())
	wantUnreadable(t, err)
	clock.Step(time.Minute)
	if _, err := c.Partitions(t.Context()); err != nil {
		t.Error(err)
	}
}
