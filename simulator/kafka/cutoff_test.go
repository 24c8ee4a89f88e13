package kafka

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/detent-dev/detent/clients/kafka"
)

func isrOf(partitions []client.Partition, topic string) []int32 {
	for _, p := range partitions {
		if p.Topic == topic {
			return p.ISR
		}
	}
	return nil
}

// isolatable is a cluster of three nodes in both roles and a broker, with one partition on 1, 2 and 4.
func isolatable(t *testing.T) *Cluster {
	t.Helper()
	binaries := []Binary{{Version: "4.1.2", Features: []FeatureRange{{Name: client.MetadataVersion, Min: 7, Max: 27}}}}
	c := New("c", binaries, DefaultSettings())
	c.SetVoters(1, 2, 3)
	c.Format(FeatureLevel{Name: client.MetadataVersion, Level: 27})
	for id := int32(1); id <= 4; id++ {
		if err := c.StartNode(id, Start{Version: "4.1.2", Broker: true, Controller: id <= 3}, c.Now); err != nil {
			t.Fatal(err)
		}
	}
	c.Tick(100_000)
	c.CreatePartition("orders", 0, 2, 1, 2, 4)
	return c
}

func TestClusterCutOffBrokerAnswersWithStaleMetadata(t *testing.T) {
	c := isolatable(t)
	c.CutOff(4)
	before := c.Hash()
	c.Tick(c.Now + c.Settings.Session + 1_000)
	if c.Hash() == before {
		t.Error("a broker that was fenced meanwhile does not show in the hash")
	}
	r, _ := c.Registration(4)
	if !r.Fenced {
		t.Fatalf("broker 4 is not fenced: %+v", r)
	}
	for via, want := range map[int32][]int32{1: {1, 2}, 4: {1, 2, 4}} {
		partitions, _, err := c.Metadata(via)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, isrOf(partitions, "orders")); diff != "" {
			t.Errorf("ISR as broker %d has it (-want +got):\n%s", via, diff)
		}
		brokers, err := c.DescribeCluster(via, 2, true, EndpointBrokers)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := brokers.Find(4)
		if fenced := b.Fencing == client.Fenced; fenced != (via == 1) {
			t.Errorf("broker 4 as broker %d has it: %+v", via, b)
		}
	}
	if _, err := c.DescribeQuorum(4); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("the quorum through the broker: %v, want no answer", err)
	}
	if err := c.UnregisterBroker(4, 2); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a write through the broker: %v, want no answer", err)
	}
	p, err := Memory{c}.Partitions(t.Context())
	if err != nil || len(p.Suspect) != 1 || len(p.Suspect[0].ISR) != 2 {
		t.Errorf("partitions as a client reads them: %+v, %v", p, err)
	}
	c.Reconnect(4)
	c.Tick(c.Now + 10_000)
	partitions, _, err := c.Metadata(4)
	if diff := cmp.Diff([]int32{1, 2, 4}, isrOf(partitions, "orders")); diff != "" || err != nil {
		t.Errorf("reconnected: %v (-want +got):\n%s", err, diff)
	}
	if n, _ := c.Node(4); n.Known != nil || n.CutOff {
		t.Errorf("reconnected, and knows %+v", n.Known)
	}
}

func TestClusterCutOffLeaderIsReplaced(t *testing.T) {
	c := isolatable(t)
	former := c.Leader
	c.CutOff(former)
	c.Tick(c.Now + 20_000)
	if c.Leader == former || c.Leader == None {
		t.Fatalf("leader %d, the former is %d", c.Leader, former)
	}
	m, err := Memory{c}.Member(t.Context(), former)
	if err != nil || !m.Broker.Serving {
		t.Errorf("the former leader reports %+v, %v; it knows itself as a broker still", m, err)
	}
	q, err := Memory{c}.Quorum(t.Context())
	if err != nil || q.Confirmed() != nil {
		t.Errorf("quorum %+v, %v", q, err)
	}
	c.Reconnect(former)
	c.Tick(c.Now + 10_000)
	if n, _ := c.Node(former); c.imageOffset(&n) != c.highWatermark()-1 {
		t.Error("reconnected, and is behind")
	}
}

func TestClusterCutOffOfMajorityLeavesNoLeader(t *testing.T) {
	c := isolatable(t)
	c.CutOff(1)
	c.CutOff(2)
	c.Tick(c.Now + 20_000)
	if c.Leader != None {
		t.Fatalf("leader %d", c.Leader)
	}
	if _, err := (Memory{c}).Partitions(t.Context()); err == nil {
		t.Error("partitions are readable without a leader")
	}
}

func TestClusterReconnectLetsStartedProcessJoin(t *testing.T) {
	c := isolatable(t)
	c.KillNode(4, c.Now)
	c.CutOff(4)
	c.Tick(c.Now + 20_000)
	if err := c.StartNode(4, Start{Version: "4.1.2", Broker: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	c.Tick(c.Now + 20_000)
	if c.Answers(4) {
		t.Error("it answers before it has registered")
	}
	c.Reconnect(4)
	c.Tick(c.Now + 20_000)
	if r, ok := c.Registration(4); !ok || r.Fenced || !c.Answers(4) {
		t.Errorf("reconnected: %+v", r)
	}
}

// The only node of a cluster reaches its own controller.
func TestClusterCutOffOnlyVoterReachesItself(t *testing.T) {
	binaries := []Binary{{Version: "4.1.2", Features: []FeatureRange{{Name: client.MetadataVersion, Min: 7, Max: 27}}}}
	c := New("c", binaries, DefaultSettings())
	c.SetVoters(0)
	c.Format(FeatureLevel{Name: client.MetadataVersion, Level: 27})
	if err := c.StartNode(0, Start{Version: "4.1.2", Broker: true, Controller: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	c.Tick(20_000)
	c.CutOff(0)
	c.Tick(60_000)
	if _, err := (Memory{c}).Partitions(t.Context()); err != nil || c.Leader != 0 {
		t.Errorf("leader %d, %v", c.Leader, err)
	}
}
