package kafka_test

import (
	"strings"
	"testing"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func update(t testing.TB, c *kafka.Cluster, level int16, kind client.UpdateKind) {
	t.Helper()
	err := kafka.Memory{Cluster: c}.UpdateFeature(t.Context(), client.FeatureUpdate{Name: client.MetadataVersion, Level: level, Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
}

// lowered returns a cluster of 4.1.2 whose level was lowered from 27 to 25, with node 3
// stopped before that if stopFirst is set.
func lowered(t testing.TB, stopFirst bool) *kafka.Cluster {
	c := dual(t, "4.1.2")
	if stopFirst {
		c.StopNode(3, c.Now)
		run(c)
	}
	update(t, c, 25, client.SafeDowngrade)
	return c
}

func TestClusterLoweredLevelStaysInLog(t *testing.T) {
	hour := kafka.DefaultSettings().Snapshot
	cases := map[string]struct {
		stopFirst bool
		wait      int64
		survives  bool
	}{
		"restarted at once":                         {false, 0, false},
		"restarted just before the snapshot":        {false, hour - 1, false},
		"restarted after the snapshot":              {false, hour, true},
		"down during the lowering, however long":    {true, 10 * hour, false},
		"down during the lowering, started at once": {true, 0, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := lowered(t, tc.stopFirst)
			c.Tick(c.Now + tc.wait)
			c.StopNode(3, c.Now)
			start(t, c, 3, "4.0.2")
			run(c)
			n, _ := c.Node(3)
			if tc.survives {
				if n.Process != kafka.Running {
					t.Errorf("node 3 is %s: %s", n.Process, n.LastWords)
				}
				return
			}
			want := "Tried to apply FeatureLevelRecord FeatureLevelRecord(name='metadata.version', featureLevel=27), but this controller only supports versions 7-25"
			if n.Process != kafka.Dead || n.LastWords != want {
				t.Errorf("node 3 is %s, saying %q, want %q", n.Process, n.LastWords, want)
			}
			start(t, c, 3, "4.1.2")
			run(c)
			if p := process(t, c, 3); p != kafka.Running {
				t.Errorf("put back on the newer binary, node 3 is %s", p)
			}
		})
	}
}

func TestClusterRestartResetsSnapshotInterval(t *testing.T) {
	c := lowered(t, false)
	c.Tick(c.Now + c.Settings.Snapshot - 1_000)
	c.StopNode(3, c.Now)
	start(t, c, 3, "4.1.2")
	c.Tick(c.Now + 60_000)
	if n, _ := c.Node(3); len(n.Replays) == 0 {
		t.Error("a restarted process took its snapshot on its predecessor's schedule")
	}
}

func TestClusterTakesNoSnapshotWithNegativeInterval(t *testing.T) {
	c := dual(t, "4.1.2")
	c.StopNode(3, c.Now)
	if err := c.StartNode(3, kafka.Start{Version: "4.1.2", Broker: true, Controller: true, SnapshotInterval: -1}, c.Now); err != nil {
		t.Fatal(err)
	}
	run(c)
	update(t, c, 25, client.SafeDowngrade)
	c.Tick(c.Now + 100*c.Settings.Snapshot)
	if n, _ := c.Node(3); len(n.Replays) == 0 {
		t.Error("a process without snapshots dropped a level from its log")
	}
}

func TestClusterHoldInLog(t *testing.T) {
	c := dual(t, "4.0.2")
	c.HoldInLog(2, kafka.FeatureLevel{Name: client.MetadataVersion, Level: 27})
	c.StopNode(2, c.Now)
	start(t, c, 2, "4.0.2")
	run(c)
	if p := process(t, c, 2); p != kafka.Dead {
		t.Errorf("node 2 is %s with a level in its log that it cannot read", p)
	}
}

func TestClusterDoesNotTrackLevelsThatEveryBinaryReplays(t *testing.T) {
	c := dual(t, "4.1.2")
	c.HoldInLog(2, kafka.FeatureLevel{Name: client.MetadataVersion, Level: 21})
	if n, _ := c.Node(2); len(n.Replays) != 0 {
		t.Errorf("log of node 2 tracks %v", n.Replays)
	}
}

func TestClusterBinaryBelowFinalizedLevelExits(t *testing.T) {
	c := dual(t, "4.1.2")
	if err := c.StartNode(4, kafka.Start{Version: "4.0.2", Broker: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	run(c)
	n, _ := c.Node(4)
	if n.Process != kafka.Dead || !strings.HasPrefix(n.LastWords, "Unsupported metadata version") {
		t.Errorf("a broker is %s, saying %q", n.Process, n.LastWords)
	}
	if _, ok := c.Registration(4); ok {
		t.Error("it registered all the same")
	}
}

func TestClusterBrokerWithoutControllerContinues(t *testing.T) {
	c := dual(t, "4.1.2")
	if err := c.StartNode(4, kafka.Start{Version: "4.1.2", Broker: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	run(c)
	update(t, c, 25, client.SafeDowngrade)
	restart := func(version string) kafka.Process {
		t.Helper()
		c.StopNode(4, c.Now)
		if err := c.StartNode(4, kafka.Start{Version: version, Broker: true}, c.Now); err != nil {
			t.Fatal(err)
		}
		run(c)
		return process(t, c, 4)
	}
	if p := restart("4.0.2"); p != kafka.Running {
		t.Errorf("with a lowered level in its log, broker 4 is %s", p)
	}
	if err := (kafka.Memory{Cluster: c}).UnregisterBroker(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	update(t, c, 27, client.Upgrade)
	if p := process(t, c, 4); p != kafka.Running {
		t.Errorf("unregistered and at a level beyond it, broker 4 is %s", p)
	}
	if p := restart("4.0.2"); p != kafka.Dead {
		t.Errorf("started at a level beyond it, broker 4 is %s", p)
	}
}

func TestClusterHoldInLogKillsInAnyRole(t *testing.T) {
	c := dual(t, "4.0.2")
	if err := c.StartNode(4, kafka.Start{Version: "4.0.2", Broker: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	run(c)
	c.HoldInLog(4, kafka.FeatureLevel{Name: client.MetadataVersion, Level: 27})
	c.StopNode(4, c.Now)
	if err := c.StartNode(4, kafka.Start{Version: "4.0.2", Broker: true}, c.Now); err != nil {
		t.Fatal(err)
	}
	run(c)
	if p := process(t, c, 4); p != kafka.Dead {
		t.Errorf("broker 4 is %s", p)
	}
}

func TestClusterUpdateFeaturesValidateOnly(t *testing.T) {
	c := dual(t, "4.1.2")
	before := c.Hash()
	err := kafka.Memory{Cluster: c}.UpdateFeature(t.Context(), client.FeatureUpdate{Name: client.MetadataVersion, Level: 25, Kind: client.SafeDowngrade, ValidateOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if c.Hash() != before {
		t.Error("validating changed the cluster")
	}
}

func TestClusterStaleRegistrationsBlockUpgrade(t *testing.T) {
	c := dual(t, "4.1.2")
	update(t, c, 25, client.SafeDowngrade)
	if err := c.Register(7, "4.0.2", true); err != nil {
		t.Fatal(err)
	}
	m := kafka.Memory{Cluster: c}
	raise := client.FeatureUpdate{Name: client.MetadataVersion, Level: 27, Kind: client.Upgrade}
	err := m.UpdateFeature(t.Context(), raise)
	if r, ok := client.AsRefused(err); !ok || !strings.HasSuffix(r.Message, "Broker 7 only supports versions 7-25") {
		t.Errorf("raising past a stale registration: %v", err)
	}
	if err := m.UnregisterBroker(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := m.UpdateFeature(t.Context(), raise); err != nil {
		t.Errorf("raising without the stale registration: %v", err)
	}
}

func TestClusterRestartedProcessTakesSnapshot(t *testing.T) {
	c := lowered(t, false)
	c.StopNode(3, c.Now)
	start(t, c, 3, "4.1.2")
	c.Tick(c.Now + c.Settings.Start + c.Settings.Snapshot)
	if n, _ := c.Node(3); len(n.Replays) != 0 {
		t.Errorf("its log still replays %v after a whole interval", n.Replays)
	}
}

func TestClusterWipeNodeCopiesLeaderLog(t *testing.T) {
	c := lowered(t, true)
	c.Tick(c.Now + c.Settings.Snapshot) // the others' snapshots
	if err := c.WipeNode(3, c.Now); err != nil {
		t.Fatal(err)
	}
	start(t, c, 3, "4.0.2")
	run(c)
	if n, _ := c.Node(3); n.Process != kafka.Running {
		t.Errorf("node 3 is %s: %s", n.Process, n.LastWords)
	}
}

func TestClusterChecksControllersOnceTheyRegister(t *testing.T) {
	c := kafka.New("test", binaries(), kafka.DefaultSettings())
	c.SetVoters(1, 2, 3)
	c.Format(kafka.FeatureLevel{Name: client.MetadataVersion, Level: 14})
	for id := int32(1); id <= 3; id++ {
		version := "4.1.2"
		if id == 3 {
			version = "4.0.2"
		}
		if err := c.StartNode(id, kafka.Start{Version: version, Broker: id < 3, Controller: true}, c.Now); err != nil {
			t.Fatal(err)
		}
	}
	run(c)
	// Below 3.7-IV0 the controllers do not know what controller 3 supports, and it exits
	// because of the level.
	update(t, c, 27, client.Upgrade)
	if n, _ := c.Node(3); n.Process != kafka.Dead {
		t.Errorf("controller 3 is %s", n.Process)
	}
}
