package admin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

func TestClientMember(t *testing.T) {
	serving := kafka.RoleReport{Asked: true, Answered: true, Serving: true}
	silent := kafka.RoleReport{Asked: true}
	cases := map[string]struct {
		version string
		change  func(c *simulated.Cluster)
		want    kafka.Member
	}{
		"a node that takes part": {"4.1.2", func(*simulated.Cluster) {}, kafka.Member{ID: 2, Broker: serving, Controller: serving}},
		"a node that stopped":    {"4.1.2", func(c *simulated.Cluster) { c.StopNode(2, c.Now) }, kafka.Member{ID: 2, Broker: silent, Controller: silent}},
		"a broker that does not know its registration": {
			"3.9.2", func(c *simulated.Cluster) { _ = c.UnregisterBroker(1, 2) }, // what Member reports shows whether it was done
			kafka.Member{ID: 2, Broker: kafka.RoleReport{Asked: true, Answered: true}, Controller: serving},
		},
		"a broker that hangs": {
			"4.1.2", func(c *simulated.Cluster) {
				c.AddFault(simulated.Fault{Request: simulated.RequestDescribeCluster, Kind: simulated.Hang, Target: simulated.None, Times: 2})
			},
			kafka.Member{ID: 2, Broker: silent, Controller: silent},
		},
		"a controller without a leader": {
			"3.9.2", func(c *simulated.Cluster) { c.KillNode(1, c.Now); c.KillNode(3, c.Now) },
			kafka.Member{ID: 2, Broker: serving, Controller: kafka.RoleReport{Asked: true, Answered: true}},
		},
		"a follower that metadata.version keeps from describing the cluster": {
			"3.9.2", func(c *simulated.Cluster) {
				c.Format(simulated.FeatureLevel{Name: kafka.MetadataVersion, Level: 14})
			},
			kafka.Member{ID: 2, Broker: serving, Controller: serving},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.version)
			w.do(tc.change)
			client := w.client()
			got, err := client.Member(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, report := range []*kafka.RoleReport{&got.Broker, &got.Controller} {
				if !report.Serving && report.Reason == "" {
					t.Errorf("no reason: %+v", got)
				}
				report.Reason = ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClientMemberFailsWithoutAddress(t *testing.T) {
	w := newWorld(t, "4.1.2")
	var unreadable *kafka.Unreadable
	if got, err := w.client().Member(t.Context(), 77); !errors.As(err, &unreadable) {
		t.Errorf("a node without an address: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := w.client().Member(ctx, 2); !errors.As(err, &unreadable) {
		t.Errorf("a caller that has left: %+v, %v", got, err)
	}
	closed := w.client()
	closed.Close()
	if got, err := closed.Member(t.Context(), 2); !errors.As(err, &unreadable) {
		t.Errorf("a closed client: %+v, %v", got, err)
	}
}

// Several nodes that do not answer take no longer than one: Member calls run concurrently.
func TestClientMemberCallsRunConcurrently(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeCluster, Kind: simulated.Hang, Target: simulated.None})
	})
	client := w.client()
	begun, done := time.Now(), make(chan error)
	for id := int32(1); id <= 3; id++ {
		go func() {
			m, err := client.Member(t.Context(), id)
			if err == nil && m.Answered() {
				err = errors.New("it answered")
			}
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took, limit := time.Since(begun), 2*w.options.AttemptTimeout; took > limit {
		t.Errorf("three nodes that hang took %s, longer than %s", took, limit)
	}
}
