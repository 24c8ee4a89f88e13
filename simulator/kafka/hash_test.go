package kafka_test

import (
	"testing"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func TestClusterCloneIsIndependent(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	c.AddFault(kafka.Fault{Request: kafka.RequestUnregisterBroker, Target: 9, Times: 2})
	before := c.Hash()
	copied := c.Clone()
	if copied.Hash() != before {
		t.Fatal("a copy has another hash")
	}
	changes := map[string]func(*kafka.Cluster){
		"stop":        func(c *kafka.Cluster) { c.StopNode(1, c.Now) },
		"kill":        func(c *kafka.Cluster) { c.KillNode(2, c.Now) },
		"time passes": func(c *kafka.Cluster) { c.KillNode(2, c.Now); c.Tick(c.Now + 60_000) },
		"unregister": func(c *kafka.Cluster) {
			if err := (kafka.Memory{Cluster: c}).UnregisterBroker(t.Context(), 3); err != nil {
				t.Error(err)
			}
		},
		"lower":     func(c *kafka.Cluster) { update(t, c, 25, client.SafeDowngrade) },
		"lag":       func(c *kafka.Cluster) { c.SetLagging("orders", 0, 3, true) },
		"voter lag": func(c *kafka.Cluster) { c.SetVoterLag(2, 4_000) },
		"topic":     func(c *kafka.Cluster) { c.CreatePartition("audit", 0, 1, 1) },
		"fault":     func(c *kafka.Cluster) { c.AddFault(kafka.Fault{Request: kafka.RequestMetadata}) },
		"a fault that was injected": func(c *kafka.Cluster) {
			if err := (kafka.Memory{Cluster: c}).UnregisterBroker(t.Context(), 9); err == nil {
				t.Error("not injected")
			}
		},
		"cut off":  func(c *kafka.Cluster) { c.SetReachable(3, false) },
		"isolated": func(c *kafka.Cluster) { c.CutOff(3) },
		"log":      func(c *kafka.Cluster) { c.HoldInLog(1, kafka.FeatureLevel{Name: client.MetadataVersion, Level: 26}) },
		"new node": func(c *kafka.Cluster) {
			if err := c.StartNode(4, kafka.Start{Version: "4.1.2", Broker: true}, c.Now); err != nil {
				t.Error(err)
			}
		},
		"stale registration": func(c *kafka.Cluster) {
			if err := c.Register(7, "4.1.2", true); err != nil {
				t.Error(err)
			}
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			copied := c.Clone()
			change(copied)
			if copied.Hash() == before {
				t.Error("the change does not show in the hash")
			}
			if c.Hash() != before {
				t.Fatal("the change reached the original")
			}
		})
	}
}

func TestClusterHashIgnoresHistory(t *testing.T) {
	fresh := dual(t, "4.1.2")
	fresh.CreatePartition("orders", 0, 2, 1, 2, 3)
	older := fresh.Clone()
	older.Tick(older.Now + 3_600_000)
	if fresh.Hash() != older.Hash() {
		t.Error("an hour of rest changed the hash")
	}
	rolled := fresh.Clone()
	for _, id := range []int32{2, 3} {
		rolled.StopNode(id, rolled.Now)
		start(t, rolled, id, "4.1.2")
		run(rolled)
	}
	rolled.Tick(rolled.Now + 60_000)
	if fresh.Hash() != rolled.Hash() {
		t.Error("restarting followers changed the hash")
	}
}

func TestClusterHashIncludesDueTimes(t *testing.T) {
	c := dual(t, "4.1.2")
	c.KillNode(3, c.Now)
	early := c.Clone()
	c.Tick(c.Now + 3_000)
	if early.Hash() == c.Hash() {
		t.Error("six and nine seconds of session left have one hash")
	}
	coarse := func(c *kafka.Cluster) string { return string(c.AppendCanonical(nil, 60_000)) }
	c.Tick(c.Now + 10)
	later := c.Clone()
	later.Tick(later.Now + 10)
	if coarse(later) != coarse(c) {
		t.Error("a coarse grain distinguishes ten milliseconds")
	}
}

func TestClusterHashOfEqualClusters(t *testing.T) {
	one, another, older := dual(t, "4.1.2"), dual(t, "4.1.2"), dual(t, "4.0.2")
	if one.Hash() != another.Hash() {
		t.Error("two clusters built alike differ")
	}
	if one.Hash() == older.Hash() {
		t.Error("two releases have one hash")
	}
}

func BenchmarkClusterCloneAndHash(b *testing.B) {
	for name, partitions := range map[string]int32{"3 nodes 2 partitions": 2, "3 nodes 50 partitions": 50} {
		b.Run(name, func(b *testing.B) {
			c := dual(b, "4.1.2")
			for i := range partitions {
				c.CreatePartition("orders", i, 2, 1, 2, 3)
			}
			c.KillNode(3, c.Now)
			b.ReportAllocs()
			var sum uint64
			for b.Loop() {
				sum += c.Clone().Hash()
			}
			if sum == 1 {
				b.Log(sum)
			}
		})
	}
}

func BenchmarkClusterStopTickStart(b *testing.B) {
	c := dual(b, "4.1.2")
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	b.ReportAllocs()
	for b.Loop() {
		d := c.Clone()
		d.StopNode(3, d.Now)
		start(b, d, 3, "4.1.2")
		run(d)
	}
}

func TestClusterHashIncludesVoterBehind(t *testing.T) {
	c := dual(t, "4.1.2")
	c.StopNode(3, c.Now)
	run(c)
	c.Tick(c.Now + 10)
	recent := c.Clone()
	recent.Nodes[2].CaughtUpTo = recent.Now - 1_000
	long := recent.Clone()
	long.Nodes[2].CaughtUpTo = long.Now - 3_000
	longer := recent.Clone()
	longer.Nodes[2].CaughtUpTo = longer.Now - 9_000
	if recent.Hash() == long.Hash() {
		t.Error("a voter that counts as caught up and one that does not have one hash")
	}
	if long.Hash() != longer.Hash() {
		t.Error("how long a voter has been behind changes the hash")
	}
}
