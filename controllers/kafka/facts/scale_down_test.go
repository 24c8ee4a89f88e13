package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// leavingNode is a node that runs and leaves.
func leavingNode() observation.Node {
	n := runningNode(record.Level{})
	n.Wanted, n.RolesWanted, n.RolesRunning = false, observation.Roles{}, observation.Roles{Broker: true}
	n.Record.Leaving, n.Record.Roles = true, []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
	return n
}

func TestScaleDownNodes(t *testing.T) {
	unready := func(ago time.Duration) func(*observation.Node) {
		return func(n *observation.Node) { n.Pod.Ready, n.Pod.UnreadySince = false, noon.Add(-ago) }
	}
	runs := kraftscaledown.Node{ID: 1, Pod: "c-p-1", Runs: true}
	down := runs
	down.Down = true
	unused := runs
	unused.Unused = true
	for name, tc := range map[string]struct {
		change func(*observation.Node)
		want   kraftscaledown.Node
	}{
		"a broker that runs":                         {change: func(*observation.Node) {}, want: runs},
		"a pod that may be restarting":               {change: unready(downAfter - time.Second), want: runs},
		"a pod that is not ready for long":           {change: unready(downAfter), want: down},
		"a pod that is to be created from its entry": {change: func(n *observation.Node) { n.Pod = observation.Pod{} }, want: runs},
		"a pod that cannot be created": {change: func(n *observation.Node) {
			n.Pod = observation.Pod{Trouble: transitions.Problemf(roll.PodRefused, "cannot be created: exceeded quota")}
		}, want: down},
		"a node that never started":                {change: func(n *observation.Node) { n.Record.Format, n.Record.Version = record.FormatAllowed, "" }, want: unused},
		"a node that Kafka was never seen to list": {change: func(n *observation.Node) { n.Record.Format = record.FormatAllowed }, want: unused},
		"a node whose lost data was given up":      {change: func(n *observation.Node) { n.Record.Format, n.Record.Volumes = record.FormatAllowed, []int32{0} }, want: runs},
		"a node whose record cannot be read":       {change: func(n *observation.Node) { n.Record.Format, n.RecordBroken = record.FormatAllowed, true }, want: runs},
	} {
		t.Run(name, func(t *testing.T) {
			n := leavingNode()
			tc.change(&n)
			v := &observation.Snapshot{Now: noon, Table: versionTable(t), Nodes: []observation.Node{n}}
			v.Objects.Pools = []*kafkav1beta2.KafkaNodePool{pool("p")}
			got := ScaleDown(&kafkav1beta2.Kafka{}, v, machines.ObserveOptions{}).Nodes
			if diff := cmp.Diff([]kraftscaledown.Node{tc.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The pod of a stopped node stays while its disruption budget permits no eviction, and a pod that is not ready needs no permission.
func TestScaleDownSaysWhatKeepsAPod(t *testing.T) {
	permitsNone := &policyv1.PodDisruptionBudget{}
	permitsNone.Name = "c-kafka"
	permits, stale := permitsNone.DeepCopy(), permitsNone.DeepCopy()
	permits.Status.DisruptionsAllowed, stale.Generation = 1, 1
	refused := transitions.Problemf(ReasonEvictionNotPermitted, "PodDisruptionBudget c-kafka permits no eviction now. Make the other pods of the cluster ready")
	for name, tc := range map[string]struct {
		budget *policyv1.PodDisruptionBudget
		change func(*observation.Node)
		want   *transitions.Problem
	}{
		"its budget permits no eviction":               {budget: permitsNone, want: refused},
		"its budget permits one":                       {budget: permits},
		"its budget was changed just now":              {budget: stale},
		"there is no budget":                           {},
		"its budget permits none, and it runs on":      {budget: permitsNone, change: func(n *observation.Node) { n.Record.Stop = false }},
		"its budget permits none, and it is not ready": {budget: permitsNone, change: func(n *observation.Node) { n.Pod.Ready = false }},
	} {
		t.Run(name, func(t *testing.T) {
			n := leavingNode()
			n.Record.Stop = true
			if tc.change != nil {
				tc.change(&n)
			}
			v := &observation.Snapshot{Now: noon, Table: versionTable(t), Nodes: []observation.Node{n}}
			v.Objects.Pools = []*kafkav1beta2.KafkaNodePool{pool("p")}
			if tc.budget != nil {
				v.Objects.Budgets = []*policyv1.PodDisruptionBudget{tc.budget}
			}
			k := &kafkav1beta2.Kafka{}
			k.Name = "c"
			if diff := cmp.Diff(tc.want, ScaleDown(k, v, machines.ObserveOptions{}).Nodes[0].Kept); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// pool is a pool of three nodes with both roles.
func pool(name string) *kafkav1beta2.KafkaNodePool {
	p := &kafkav1beta2.KafkaNodePool{}
	p.Name = name
	p.Spec.Replicas, p.Spec.Roles = 3, []kafkav1beta2.NodeRole{kafkav1beta2.RoleController, kafkav1beta2.RoleBroker}
	return p
}
