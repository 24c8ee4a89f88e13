package kafka_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func binaries() []kafka.Binary {
	metadata := func(version string, low, high int16) kafka.Binary {
		return kafka.Binary{Version: version, Features: []kafka.FeatureRange{{Name: "group.version", Min: 0, Max: 1}, {Name: client.MetadataVersion, Min: low, Max: high}}}
	}
	old := metadata("3.9.2", 1, 21)
	old.Features = old.Features[1:]
	return []kafka.Binary{old, metadata("4.0.2", 7, 25), metadata("4.1.2", 7, 27), metadata("4.3.1", 7, 30)}
}

// dual returns a running cluster of dual-role nodes 1, 2, 3 with the metadata version
// that the release formats, and its time.
func dual(t testing.TB, version string) *kafka.Cluster {
	t.Helper()
	c := kafka.New("test", binaries(), kafka.DefaultSettings())
	c.SetVoters(1, 2, 3)
	levels := map[string]int16{"3.9.2": 21, "4.0.2": 25, "4.1.2": 27, "4.3.1": 30}
	c.Format(kafka.FeatureLevel{Name: client.MetadataVersion, Level: levels[version]})
	for id := int32(1); id <= 3; id++ {
		start(t, c, id, version)
	}
	run(c)
	return c
}

func start(t testing.TB, c *kafka.Cluster, id int32, version string) {
	t.Helper()
	if err := c.StartNode(id, kafka.Start{Version: version, Broker: true, Controller: true}, c.Now); err != nil {
		t.Fatal(err)
	}
}

// run lets time pass until no event is due within the next minute.
func run(c *kafka.Cluster) {
	for {
		at, ok := c.NextEvent()
		if !ok || at > c.Now+60_000 {
			return
		}
		c.Tick(at)
	}
}

func process(t testing.TB, c *kafka.Cluster, id int32) kafka.Process {
	t.Helper()
	n, ok := c.Node(id)
	if !ok {
		t.Fatalf("there is no node %d", id)
	}
	return n.Process
}

func isr(c *kafka.Cluster, topic string) []int32 {
	for _, p := range c.Partitions {
		if p.Topic == topic {
			return p.ISR()
		}
	}
	return nil
}

func TestClusterStarts(t *testing.T) {
	c := dual(t, "4.1.2")
	if c.Leader != 1 {
		t.Errorf("leader = %d, want 1", c.Leader)
	}
	for id := int32(1); id <= 3; id++ {
		if p := process(t, c, id); p != kafka.Running {
			t.Errorf("node %d is %s", id, p)
		}
		if r, ok := c.Registration(id); !ok || r.Fenced {
			t.Errorf("broker %d: registration %+v, %v", id, r, ok)
		}
	}
}

func TestClusterStopNodeAndRestart(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	c.StopNode(1, c.Now)
	if diff := cmp.Diff([]int32{2, 3}, isr(c, "orders")); diff != "" {
		t.Errorf("the ISR keeps a stopped broker:\n%s", diff)
	}
	if c.Partitions[0].Leader != 2 {
		t.Errorf("leader = %d, want 2", c.Partitions[0].Leader)
	}
	if r, _ := c.Registration(1); !r.Fenced {
		t.Error("a broker that shut down in order is not fenced")
	}
	before, _ := c.Registration(1)
	run(c)
	if c.Leader == 1 || c.Leader == kafka.None {
		t.Errorf("quorum leader = %d, want another one", c.Leader)
	}
	start(t, c, 1, "4.1.2")
	run(c)
	after, _ := c.Registration(1)
	if after.Fenced || after.Epoch == before.Epoch {
		t.Errorf("registration after the return = %+v, before it %+v", after, before)
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, isr(c, "orders")); diff != "" {
		t.Errorf("the ISR did not regrow:\n%s", diff)
	}
}

func TestClusterRestartedBrokerIsOutOfISRUntilCaughtUp(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	c.StopNode(3, c.Now)
	start(t, c, 3, "4.1.2")
	c.Tick(c.Now + c.Settings.Start)
	if process(t, c, 3) != kafka.Running {
		t.Fatalf("node 3 is %s", process(t, c, 3))
	}
	if diff := cmp.Diff([]int32{1, 2}, isr(c, "orders")); diff != "" {
		t.Errorf("just up (-want +got):\n%s", diff)
	}
	c.Tick(c.Now + c.Settings.CatchUp)
	if diff := cmp.Diff([]int32{1, 2, 3}, isr(c, "orders")); diff != "" {
		t.Errorf("caught up (-want +got):\n%s", diff)
	}
}

func TestClusterFencesKilledBrokerAfterSession(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	c.KillNode(3, c.Now)
	c.Tick(c.Now + c.Settings.Session - 1)
	if r, _ := c.Registration(3); r.Fenced {
		t.Error("fenced before its session ended")
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, isr(c, "orders")); diff != "" {
		t.Errorf("the ISR shrank before the session ended:\n%s", diff)
	}
	c.Tick(c.Now + 1)
	if r, _ := c.Registration(3); !r.Fenced {
		t.Error("not fenced after its session ended")
	}
	if diff := cmp.Diff([]int32{1, 2}, isr(c, "orders")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClusterRestartedBrokerWaitsForOldSession(t *testing.T) {
	c := dual(t, "4.1.2")
	c.KillNode(3, c.Now)
	killed := c.Now
	start(t, c, 3, "4.1.2")
	c.Tick(killed + c.Settings.Session - 1)
	if p := process(t, c, 3); p != kafka.Joining {
		t.Errorf("node 3 is %s while its predecessor's session lasts", p)
	}
	c.Tick(killed + c.Settings.Session)
	if p := process(t, c, 3); p != kafka.Running {
		t.Errorf("node 3 is %s after its predecessor's session", p)
	}
}

func TestPartitionKeepsLastReplicaInISRWithoutLeader(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("single", 0, 1, 2)
	c.StopNode(2, c.Now)
	if diff := cmp.Diff([]int32{2}, isr(c, "single")); diff != "" {
		t.Error(diff)
	}
	if leader := c.Partitions[0].Leader; leader != kafka.None {
		t.Errorf("leader = %d of a partition without a serving replica", leader)
	}
	start(t, c, 2, "4.1.2")
	run(c)
	if leader := c.Partitions[0].Leader; leader != 2 {
		t.Errorf("leader = %d, want 2", leader)
	}
}

func TestClusterSetLaggingKeepsReplicaOutOfISR(t *testing.T) {
	c := dual(t, "4.1.2")
	c.CreatePartition("orders", 7, 2, 1, 2, 3)
	c.SetLagging("orders", 7, 2, true)
	if diff := cmp.Diff([]int32{1, 3}, isr(c, "orders")); diff != "" {
		t.Error(diff)
	}
	c.StopNode(2, c.Now)
	start(t, c, 2, "4.1.2")
	run(c)
	if diff := cmp.Diff([]int32{1, 3}, isr(c, "orders")); diff != "" {
		t.Errorf("a restart cured a scripted lag:\n%s", diff)
	}
	c.SetLagging("orders", 7, 2, false)
	if diff := cmp.Diff([]int32{1, 2, 3}, isr(c, "orders")); diff != "" {
		t.Error(diff)
	}
}

func TestClusterQuorumWithoutMajority(t *testing.T) {
	c := dual(t, "4.1.2")
	c.KillNode(1, c.Now)
	c.KillNode(2, c.Now)
	run(c)
	if c.Leader != kafka.None {
		t.Fatalf("leader = %d with one of three up", c.Leader)
	}
	if _, err := (kafka.Memory{Cluster: c}).Quorum(t.Context()); err == nil {
		t.Error("a quorum without a leader described itself")
	}
	start(t, c, 2, "4.1.2")
	run(c)
	if c.Leader == kafka.None {
		t.Error("no leader with two of three up")
	}
}

func TestClusterDoesNotElectVoterWithoutLog(t *testing.T) {
	c := dual(t, "4.1.2")
	c.StopNode(2, c.Now)
	run(c)
	if err := c.WipeNode(2, c.Now); err != nil {
		t.Fatal(err)
	}
	c.KillNode(1, c.Now)
	c.Tick(c.Now + 1)
	start(t, c, 2, "4.1.2")
	run(c)
	if c.Leader != 3 {
		t.Errorf("leader = %d, want 3, which kept its log", c.Leader)
	}
}

func TestClusterSetVoterLagShowsInQuorum(t *testing.T) {
	c := dual(t, "4.1.2")
	c.Tick(c.Now + 60_000)
	c.SetVoterLag(2, 5_000)
	q, err := kafka.Memory{Cluster: c}.Quorum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, _ := q.Voter(2)
	if behind := c.Now - two.LastCaughtUpMillis; behind != 5_000 {
		t.Errorf("voter 2 is %d ms behind, want 5000", behind)
	}
	if client.QuorumSafeWithout(q, 3, c.Now, client.DefaultQuorumFetchTimeout).Safe {
		t.Error("voter 3 may go although voter 2 is behind")
	}
	if !client.QuorumSafeWithout(q, 2, c.Now, client.DefaultQuorumFetchTimeout).Safe {
		t.Error("voter 2, which is behind, may not go")
	}
}

func TestClusterStartNodeErrors(t *testing.T) {
	c := dual(t, "4.1.2")
	if err := c.StartNode(1, kafka.Start{Version: "4.1.2"}, c.Now); err == nil {
		t.Error("a second process started on one disk")
	}
	if err := c.StartNode(9, kafka.Start{Version: "2.8"}, c.Now); err == nil {
		t.Error("an unknown binary started")
	}
	if err := c.WipeNode(1, c.Now); err == nil {
		t.Error("the disk under a running process was wiped")
	}
}

func TestClusterTickNeverMovesBack(t *testing.T) {
	c := dual(t, "4.1.2")
	now := c.Now
	c.Tick(now - 1_000)
	if c.Now != now {
		t.Errorf("now = %d, was %d", c.Now, now)
	}
}

func TestClusterElectionRestartsSessions(t *testing.T) {
	c := dual(t, "4.1.2")
	c.KillNode(3, c.Now)
	c.Tick(c.Now + c.Settings.Session - 100)
	c.KillNode(1, c.Now) // the leader; node 2 alone is no majority
	c.Tick(c.Now + 1_000)
	start(t, c, 1, "4.1.2")
	c.Tick(c.Now + c.Settings.Start + c.Settings.Election)
	elected := c.Now
	if c.Leader == kafka.None {
		t.Fatal("no leader")
	}
	c.Tick(elected + c.Settings.Session - 1)
	if r, _ := c.Registration(3); r.Fenced {
		t.Error("fenced on the session of a leader that is gone")
	}
	c.Tick(elected + c.Settings.Session)
	if r, _ := c.Registration(3); !r.Fenced {
		t.Error("never fenced")
	}
}

func TestClusterFencesNoBrokerWithoutQuorum(t *testing.T) {
	c := dual(t, "4.1.2")
	c.KillNode(2, c.Now)
	c.KillNode(3, c.Now)
	c.Tick(c.Now + 10*c.Settings.Session)
	if r, _ := c.Registration(3); r.Fenced {
		t.Error("fenced without a quorum")
	}
}

func TestPartitionLeaderIsLastInISR(t *testing.T) {
	c := dual(t, "4.1.2")
	for id := int32(4); id <= 6; id++ {
		if err := c.StartNode(id, kafka.Start{Version: "4.1.2", Broker: true}, c.Now); err != nil {
			t.Fatal(err)
		}
	}
	run(c)
	c.CreatePartition("orders", 0, 1, 5, 4, 6)
	for id := int32(4); id <= 6; id++ {
		c.KillNode(id, c.Now)
	}
	run(c) // all three sessions end at once
	if diff := cmp.Diff([]int32{5}, isr(c, "orders")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Partitions[0].Leader != kafka.None {
		t.Errorf("leader = %d", c.Partitions[0].Leader)
	}
}
