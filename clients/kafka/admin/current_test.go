package admin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

// cutOff cuts broker 3 off and waits until the controllers have fenced it.
func cutOff(c *simulated.Cluster) {
	c.CutOff(3)
	c.Tick(c.Now + c.Settings.Session + c.Settings.Election + 1_000)
}

// via is a client that knows broker 3 alone, and the others as nodes if it may.
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

// A broker that is cut off from the controllers still answers with the ISR that it knew. Every role and release is meant: in this
// cluster the nodes have both.
func TestABrokerCutOffFromTheControllersIsNotTrusted(t *testing.T) {
	for _, version := range []string{"3.9.2", "4.1.2"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			c := w.via3(true)
			// From here on broker 3 is the one that the client prefers.
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

func TestABrokerCutOffIsNamedWhenNoOtherAnswers(t *testing.T) {
	w := newWorld(t, "4.1.2")
	c := w.via3(false)
	if _, err := c.Quorum(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The quorum is described by another broker: what 3 says is all there is to read then.
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

// A broker that reaches the controllers and has not applied what they committed is waited for, then passed over by name.
func TestABrokerThatIsBehindIsPassedOver(t *testing.T) {
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

// A broker that catches up while it is asked is waited for.
func TestABrokerThatCatchesUpIsWaitedFor(t *testing.T) {
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

// Without a leader nothing is current.
func TestNothingIsCurrentWithoutALeader(t *testing.T) {
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
