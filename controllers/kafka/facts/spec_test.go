package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// A Kafka is often created a moment before its pools: they are waited for, and missed only after a while.
func TestSpecErrorOfPoolsAppliedAfterTheirKafka(t *testing.T) {
	const (
		none = "no KafkaNodePool carries the label strimzi.io/cluster with this cluster's name: create at least one with the role controller and one with the role broker"
		lone = "no KafkaNodePool with replicas has the role controller: add it to a pool, or create one"
		till = ". This is waited for until 2026-11-20T12:00:30Z"
	)
	broker := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: kafkav1beta2.KafkaNodePoolSpec{Replicas: 1, Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}}}
	pools := func(ages ...time.Duration) []*kafkav1beta2.KafkaNodePool {
		out := []*kafkav1beta2.KafkaNodePool{broker}
		for _, after := range ages {
			p := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "controller-" + after.String(), CreationTimestamp: metav1.NewTime(noon.Add(after))}}
			p.Spec.Replicas, p.Spec.Roles = 1, []kafkav1beta2.NodeRole{kafkav1beta2.RoleController}
			out = append(out, p)
		}
		return out
	}
	brokersToo := func(_ *kafkav1beta2.Kafka, v *observation.Snapshot) {
		for _, pool := range v.Objects.Pools {
			pool.Spec.Roles = append(pool.Spec.Roles, kafkav1beta2.RoleBroker)
		}
	}
	for name, tc := range map[string]struct {
		age                       time.Duration
		pools                     []*kafkav1beta2.KafkaNodePool
		change                    func(*kafkav1beta2.Kafka, *observation.Snapshot)
		wantSpecError, incomplete string
	}{
		"just created":                 {incomplete: none + till},
		"a role is still missing":      {age: 29 * time.Second, pools: []*kafkav1beta2.KafkaNodePool{broker}, incomplete: lone + till},
		"the time is over":             {age: 30 * time.Second, wantSpecError: none},
		"a role is missing after that": {age: time.Hour, pools: []*kafkav1beta2.KafkaNodePool{broker}, wantSpecError: lone},
		"its pools are created one after another": {
			age: 3 * time.Second, pools: pools(0, 2*time.Second),
			incomplete: "KafkaNodePool controller-2s was just created, and others may follow. This is waited for until 2026-11-20T12:00:07Z",
		},
		"no pool was created for a while":     {age: 7 * time.Second, pools: pools(0, 2*time.Second)},
		"pools do not stop being created":     {age: 29 * time.Second, pools: pools(0, 28*time.Second), incomplete: "KafkaNodePool controller-28s was just created, and others may follow" + till},
		"a pool is created in an old cluster": {age: time.Hour, pools: pools(0, time.Hour)},
		"pools are created long after their Kafka": {
			age: time.Hour + 3*time.Second, pools: pools(time.Hour, time.Hour+2*time.Second)[1:], change: brokersToo,
			incomplete: "KafkaNodePool controller-1h0m2s was just created, and others may follow. This is waited for until 2026-11-20T13:00:07Z",
		},
		"pools do not stop being created long after their Kafka": {
			age: time.Hour + 29*time.Second, pools: pools(time.Hour, time.Hour+28*time.Second)[1:], change: brokersToo,
			incomplete: "KafkaNodePool controller-1h0m28s was just created, and others may follow. This is waited for until 2026-11-20T13:00:30Z",
		},
		"the first pool is old": {age: time.Hour + 30*time.Second, pools: pools(time.Hour, time.Hour+28*time.Second)[1:], change: brokersToo},
		"an old cluster that ran": {
			age: time.Hour + time.Second, pools: pools(time.Hour)[1:], change: func(k *kafkav1beta2.Kafka, v *observation.Snapshot) {
				brokersToo(k, v)
				k.Status.KafkaVersion = "4.1.1"
			},
		},
		"a pool is created in one that starts": {
			age: 3 * time.Second, pools: pools(0, 2*time.Second), change: func(_ *kafkav1beta2.Kafka, v *observation.Snapshot) {
				v.Nodes = []observation.Node{{ID: 1, Pool: "controller-0s", Entry: observation.Entry{Exists: true}}}
			},
		},
		"a cluster that ran lost its pools": {
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) { k.Status.KafkaVersion = "4.1.1" }, wantSpecError: none,
		},
		"something else is wrong, which no pool mends": {
			change: func(_ *kafkav1beta2.Kafka, v *observation.Snapshot) {
				v.Identity.Mismatch = transitions.Problemf("ClusterIDMismatch", "two ids")
			}, wantSpecError: "two ids",
		},
		"the initial heap exceeds the maximum": {
			pools: []*kafkav1beta2.KafkaNodePool{broker},
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) {
				k.Spec.Kafka.JvmOptions = &kafkav1beta2.JvmOptions{Xms: "2g", Xmx: "1g"}
			},
			wantSpecError: "no pod is changed, because spec.kafka.jvmOptions has -Xms 2g, which exceeds -Xmx 1g, and Java does not start with it. Lower -Xms or raise -Xmx",
		},
		"times refer to values elsewhere": {
			pools: []*kafkav1beta2.KafkaNodePool{broker},
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{
					"broker.session.timeout.ms":             {Raw: []byte(`"${env:SESSION}"`)},
					"controller.quorum.fetch.timeout.ms":    {Raw: []byte(`2000`)},
					"metadata.log.max.snapshot.interval.ms": {Raw: []byte(`"${file:/etc/times:snapshot}"`)},
					"log.retention.ms":                      {Raw: []byte(`"${env:RETENTION}"`)},
				}
			},
			wantSpecError: "no pod is changed, because spec.kafka.config[broker.session.timeout.ms] is ${env:SESSION} and spec.kafka.config[metadata.log.max.snapshot.interval.ms] is ${file:/etc/times:snapshot}, which only Kafka can resolve, and restarts depend on this time: write the number of milliseconds",
		},
		"values that Kafka cannot read": {
			pools: []*kafkav1beta2.KafkaNodePool{broker},
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{
					"broker.id":           {Raw: []byte(`[1]`)}, // is left out of every file
					"compression.type":    {Raw: []byte(`"zstd"`)},
					"log.cleanup.policy":  {Raw: []byte(`["compact", "delete"]`)},
					"log.retention.hours": {Raw: []byte(`null`)},
				}
			},
			wantSpecError: "no pod and no value is changed, because Kafka cannot read spec.kafka.config[log.cleanup.policy] (want a string, a number or a boolean, saw a list) and spec.kafka.config[log.retention.hours] (want a string, a number or a boolean, saw null): write a string, a number or a boolean, such as \"compact,delete\" for two values",
		},
		"hours beyond what Kafka reads": {
			pools: []*kafkav1beta2.KafkaNodePool{broker},
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) {
				k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{"log.retention.hours": {Raw: []byte(`3000000000`)}, "log.retention.ms": {Raw: []byte(`3000000000`)}}
			},
			wantSpecError: "no pod and no value is changed, because spec.kafka.config[log.retention.hours] is 3000000000, and Kafka does not start with a number outside of -2147483648 to 2147483647: write a smaller one, or -1 for no limit of a retention",
		},
		"a template cannot be decoded": {
			pools: []*kafkav1beta2.KafkaNodePool{broker},
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) {
				affinity := &kafkav1beta2.Opaque{RawExtension: k8sruntime.RawExtension{Raw: []byte(`{"nodeAffinity": 7}`)}}
				k.Spec.Kafka.Template = &kafkav1beta2.ClusterTemplate{Pod: &kafkav1beta2.PodTemplate{Affinity: affinity}}
			},
			wantSpecError: "no pod is changed, because spec.kafka.template.pod.affinity cannot be read: json: cannot unmarshal number into Go struct field Affinity.nodeAffinity of type v1.NodeAffinity. Correct or remove it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: metav1.NewTime(noon)}}
			v := &observation.Snapshot{Now: noon.Add(tc.age), Table: &versions.Table{}, Objects: observation.Objects{Pools: tc.pools}}
			if tc.change != nil {
				tc.change(k, v)
			}
			if diff := cmp.Diff([]string{tc.wantSpecError, tc.incomplete}, []string{message(SpecError(k, v)), message(incomplete(k, v))}); diff != "" {
				t.Errorf("spec error and what is waited for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecErrorOfNodesWithoutPool(t *testing.T) {
	node := func(pool string, id int32) observation.Node {
		return observation.Node{ID: id, Pool: pool, PodName: observation.PodName("c", pool, id), Pod: observation.Pod{Exists: true}}
	}
	for name, tc := range map[string]struct {
		nodes []observation.Node
		moved map[string]string
		want  string
	}{
		"every pool exists": {nodes: []observation.Node{node("b", 0)}},
		"nodes of a pool that is gone": {
			nodes: []observation.Node{node("b", 0), node("x", 7), node("x", 8)},
			want:  "KafkaNodePool x is gone, and c-x-7, c-x-8 still run and are not changed: create it again with their node ids",
		},
		"nodes of a pool whose label names another cluster": {
			nodes: []observation.Node{node("x", 7)}, moved: map[string]string{"x": "other"},
			want: "the label strimzi.io/cluster of KafkaNodePool x names other now, and c-x-7 still run here and are not changed: set the label back",
		},
		"nodes of a pool that lost its label": {
			nodes: []observation.Node{node("x", 7)}, moved: map[string]string{"x": ""},
			want: "KafkaNodePool x has lost its label strimzi.io/cluster, and c-x-7 still run here and are not changed: set the label again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
			v := &observation.Snapshot{Nodes: tc.nodes, Moved: tc.moved, Objects: observation.Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}}}
			if diff := cmp.Diff(tc.want, message(orphans(v))); diff != "" {
				t.Errorf("orphans (-want +got):\n%s", diff)
			}
		})
	}
}

// A controller that was started is a voter, whether or not anything else than its record is left of it.
func TestSpecErrorOfVotersWithoutPool(t *testing.T) {
	voter := func(change func(*observation.Node)) observation.Node {
		n := observation.Node{
			ID: 7, Pool: "x", PodName: "c-x-7", Roles: observation.Roles{Controller: true}, Recorded: true,
			Record: record.Record{Version: "4.1.1", Format: record.FormatDone, Volumes: []int32{0}},
		}
		if change != nil {
			change(&n)
		}
		return n
	}
	for name, tc := range map[string]struct {
		node observation.Node
		want string
	}{
		"it was started": {
			node: voter(nil), want: "KafkaNodePool x is gone, and c-x-7 are voters of the quorum and do not run: create it again, and they start with their node ids",
		},
		"its disk holds data":            {node: voter(func(n *observation.Node) { n.Record.Version = "" }), want: "KafkaNodePool x is gone, and c-x-7 are voters of the quorum and do not run: create it again, and they start with their node ids"},
		"it was never started":           {node: voter(func(n *observation.Node) { n.Record = record.Record{Format: record.FormatAllowed} })},
		"its pod returns from its entry": {node: voter(func(n *observation.Node) { n.Entry.Exists = true })},
		"its pool exists":                {node: voter(func(n *observation.Node) { n.Pool = "b" })},
		"it is a broker":                 {node: voter(func(n *observation.Node) { n.Roles = observation.Roles{Broker: true} })},
		"its record begins again":        {node: voter(func(n *observation.Node) { n.Record.Resource = "earlier" })},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
			v := &observation.Snapshot{Nodes: []observation.Node{tc.node}, Objects: observation.Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}}}
			if diff := cmp.Diff(tc.want, message(absentVoters(&kafkav1beta2.Kafka{}, v))); diff != "" {
				t.Errorf("absent voters (-want +got):\n%s", diff)
			}
		})
	}
}
