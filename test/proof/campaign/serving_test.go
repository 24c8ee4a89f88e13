package campaign_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
)

// freshness is the maximum age of a permission to disrupt a node, in simulated milliseconds: a permission may rest on a read
// before the node became needed. Between that read and the eviction a reconcile writes a pod set, which took up to 0.7 s on a
// machine with many concurrent runs. This is 1.5 s of its clock, and an outage lasts longer.
const freshness = 1_500 * speed

// needed is why a node must not be disrupted according to Kafka, and since when.
type needed struct {
	why   string
	since int64
}

// judgeServing records which nodes are needed now.
func (l *land) judgeServing() {
	for _, c := range l.state.Clusters() {
		for _, n := range c.Kafka.Nodes {
			why := neededFor(c.Kafka, n.ID)
			if l.needed == nil {
				l.needed = map[int32]needed{}
			}
			if before := l.needed[n.ID]; before.why == "" || why == "" {
				l.needed[n.ID] = needed{why, l.state.Now}
			}
		}
	}
}

// neededFor returns what would be lost without the node: the majority of caught-up voters, or the minimum of in-sync replicas.
func neededFor(c *kafka.Cluster, id int32) string {
	caughtUp := 0
	for _, voter := range c.Voters {
		if n, ok := c.Node(voter); ok && voter != id && n.Up() && n.Controller && !n.CutOff && c.Now >= n.SyncedAt {
			caughtUp++
		}
	}
	if slices.Contains(c.Voters, id) && caughtUp <= len(c.Voters)/2 {
		return fmt.Sprintf("of %d voters %d others were caught up", len(c.Voters), caughtUp)
	}
	for _, p := range c.Partitions {
		isr := p.ISR()
		if slices.Contains(isr, id) && len(isr) <= int(p.MinISR) {
			return fmt.Sprintf("partition %s-%d had the ISR %v and needs %d", p.Topic, p.Index, isr, p.MinISR)
		}
	}
	return ""
}

// take records that a pod is to be removed, and whether Kafka needed its node. Only the operator removes pods in a campaign.
func (l *land) take(pod *corev1.Pod) {
	if l.taken == nil {
		l.taken = map[types.UID]bool{}
	}
	if l.taken[pod.UID] {
		return
	}
	l.taken[pod.UID] = true
	l.judgeRemoved(pod)
	// The API server truncates to seconds: the pod was deleted then or up to a second later. When the kubelets observe it is
	// irrelevant.
	deleted := pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	n := l.needed[idOf(pod.Name)]
	if after := l.state.Timeline.Milliseconds(deleted) - n.since; n.why != "" && after > freshness {
		l.harm = append(l.harm, fmt.Sprintf("%s was taken away while another node was not serving, %d simulated ms after it ceased to: %s", pod.Name, after, n.why))
	}
}

func startDualRole(t *testing.T, c *kafka.Cluster, id int32) {
	t.Helper()
	if err := c.StartNode(id, kafka.Start{Version: release(0), Broker: true, Controller: true}, c.Now); err != nil {
		t.Fatal(err)
	}
}

// The oracle must find a node that is needed, and since when.
func TestNeededForFindsANode(t *testing.T) {
	table, err := releases()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		happens func(c *kafka.Cluster)
		want    string
	}{
		"all serve": {happens: func(*kafka.Cluster) {}},
		"another voter is down": {
			happens: func(c *kafka.Cluster) { c.StopNode(1, c.Now) },
			want:    "of 3 voters 1 others were caught up",
		},
		"another voter has just started": {
			happens: func(c *kafka.Cluster) {
				c.StopNode(1, c.Now)
				startDualRole(t, c, 1)
				c.Tick(c.Now + 3_500)
			},
			want: "of 3 voters 1 others were caught up",
		},
		"another replica is out of the ISR": {
			happens: func(c *kafka.Cluster) { c.SetLagging("orders", 0, 2, true) },
			want:    "partition orders-0 had the ISR [0 1] and needs 2",
		},
		"the node itself is out of it": {happens: func(c *kafka.Cluster) { c.SetLagging("orders", 0, 0, true) }},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := kafka.New("c", simulator.Binaries(table), simulator.DefaultSettings())
			cluster.Format(kafka.FeatureLevel{Name: kafkaclient.MetadataVersion, Level: cluster.Binaries[0].Features[0].Min})
			cluster.SetVoters(0, 1, 2)
			for id := range int32(3) {
				startDualRole(t, cluster, id)
			}
			cluster.Tick(60_000)
			cluster.CreatePartition("orders", 0, 2, 0, 1, 2)
			c.happens(cluster)
			if got := neededFor(cluster, 0); got != c.want {
				t.Errorf("node 0 is needed: %q, want %q", got, c.want)
			}
		})
	}
}
