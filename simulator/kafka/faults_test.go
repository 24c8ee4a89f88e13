package kafka_test

import (
	"context"
	"errors"
	"testing"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func TestFaults(t *testing.T) {
	raise := client.FeatureUpdate{Name: client.MetadataVersion, Level: 27, Kind: client.Upgrade}
	cases := map[string]struct {
		fault     kafka.Fault
		refused   int16
		unknown   bool
		wantLevel int16
	}{
		"refused with a text": {
			fault:   kafka.Fault{Request: kafka.RequestUpdateFeatures, Target: kafka.None, Kind: kafka.Refuse, Code: client.CodeInvalidUpdateVersion, Message: "not today"},
			refused: client.CodeInvalidUpdateVersion, wantLevel: 25,
		},
		"refused in a way that leaves it open": {
			fault:   kafka.Fault{Request: kafka.RequestUpdateFeatures, Target: kafka.None, Kind: kafka.Refuse, Code: client.CodeRequestTimedOut},
			unknown: true, wantLevel: 25,
		},
		"never answered": {
			fault:   kafka.Fault{Request: kafka.RequestUpdateFeatures, Target: kafka.None, Kind: kafka.Hang},
			unknown: true, wantLevel: 25,
		},
		"done, and the answer lost": {
			fault:   kafka.Fault{Request: kafka.RequestUpdateFeatures, Target: kafka.None, Kind: kafka.LoseReply},
			unknown: true, wantLevel: 27,
		},
		"about something else": {
			fault:     kafka.Fault{Request: kafka.RequestUnregisterBroker, Target: kafka.None, Kind: kafka.Hang},
			wantLevel: 27,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := lowered(t, false)
			c.AddFault(tc.fault)
			err := kafka.Memory{Cluster: c}.UpdateFeature(t.Context(), raise)
			if r, _ := client.AsRefused(err); r.Code != tc.refused {
				t.Errorf("refused with %d, want %d: %v", r.Code, tc.refused, err)
			}
			if client.IsOutcomeUnknown(err) != tc.unknown {
				t.Errorf("unknown = %v, want %v: %v", !tc.unknown, tc.unknown, err)
			}
			if level := c.Level(client.MetadataVersion); level != tc.wantLevel {
				t.Errorf("level = %d, want %d", level, tc.wantLevel)
			}
		})
	}
}

func TestFaultTimesAndTarget(t *testing.T) {
	c := dual(t, "4.1.2")
	c.AddFault(kafka.Fault{Request: kafka.RequestUnregisterBroker, Target: 3, Kind: kafka.Refuse, Code: client.CodeNotController, Times: 1})
	before := c.Clone()
	m := kafka.Memory{Cluster: c}
	if err := m.UnregisterBroker(t.Context(), 2); err != nil {
		t.Errorf("broker 2 was not the target: %v", err)
	}
	if err := m.UnregisterBroker(t.Context(), 3); err == nil {
		t.Error("broker 3 was the target")
	}
	if err := m.UnregisterBroker(t.Context(), 3); err != nil {
		t.Errorf("the fault was to be injected once: %v", err)
	}
	if len(before.Faults) != 1 || before.Faults[0].Times != 1 {
		t.Errorf("a copy's script changed: %+v", before.Faults)
	}
	c.AddFault(kafka.Fault{Request: kafka.RequestDescribeQuorum, Target: kafka.None, Kind: kafka.Hang})
	c.ClearFaults()
	if _, err := m.Quorum(t.Context()); err != nil {
		t.Errorf("after clearing: %v", err)
	}
}

func TestClusterUnreachable(t *testing.T) {
	cut := map[string]func(*kafka.Cluster){
		"the whole cluster": func(c *kafka.Cluster) { c.Unreachable = true },
		"every broker": func(c *kafka.Cluster) {
			for id := int32(1); id <= 3; id++ {
				c.SetReachable(id, false)
			}
		},
		"every process ended": func(c *kafka.Cluster) {
			for id := int32(1); id <= 3; id++ {
				c.StopNode(id, c.Now)
			}
		},
	}
	for name, do := range cut {
		t.Run(name, func(t *testing.T) {
			c := dual(t, "4.1.2")
			do(c)
			m := kafka.Memory{Cluster: c}
			for _, about := range []client.Subject{client.AboutFeatures, client.AboutBrokers, client.AboutQuorum, client.AboutPartitions, client.AboutLogDirs, client.AboutReplicas, client.AboutMoves, client.AboutConfigs} {
				_, err := client.Ask(t.Context(), m, client.Question{About: about, Broker: 1})
				if _, ok := errors.AsType[*client.Unreadable](err); !ok {
					t.Errorf("%s: %v, want unreadable", about, err)
				}
			}
			err := m.UnregisterBroker(t.Context(), 2)
			if err == nil || client.IsOutcomeUnknown(err) {
				t.Errorf("a request that never left has an unknown outcome: %v", err)
			}
		})
	}
	c := dual(t, "4.1.2")
	c.SetReachable(1, false)
	if _, err := (kafka.Memory{Cluster: c}).Quorum(t.Context()); err != nil {
		t.Errorf("two brokers are left to ask: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (kafka.Memory{Cluster: c}).UnregisterBroker(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller gave up: %v", err)
	}
}
