package campaign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown/drain"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
)

const (
	// replication is the number of replicas of every partition in changes that remove brokers.
	replication = 3
	// copies is how long an added replica copies its partition, in simulated milliseconds: reconciles see the move in progress.
	copies = 10_000
)

// removal is what is arranged before each change that removes a broker.
type removal struct {
	// partitions is the number of partitions.
	partitions int32
	// holders returns the replicas of a partition when a broker is to leave.
	holders func(leaves, partition int32) []int32
}

// removals returns changes that remove one broker each, which holds no replica.
func removals() changes {
	return removing(2, changes{plans: 500}, &removal{partitions: 3, holders: func(int32, int32) []int32 { return []int32{0, 1, 4} }})
}

// drains returns changes that remove one broker each, which holds a replica of every partition: more than are moved at once. The
// broker leads a third of them.
func drains(n int) changes {
	out := changes{plans: 600, start: func(k *kafkav1beta2.Kafka) {
		k.Annotations = map[string]string{labels.Drain: "true"}
		k.Spec.Kafka.Version = cordoning
	}}
	return removing(n, out, &removal{partitions: drain.MaxMoving + 3, holders: func(leaves, partition int32) []int32 {
		replicas := []int32{leaves, 4, partition % leaves}
		turn := partition % replication
		return slices.Concat(replicas[turn:], replicas[:turn])
	}})
}

// removing returns changes that remove n brokers, one each.
func removing(n int, out changes, of *removal) changes {
	// The outcome of a request to unregister that an earlier operator may have sent is awaited: three seconds with this scale.
	out.sample, out.scale, out.removal = 4, 0.05, of
	out.of = func(namespace string) client.Object {
		return &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "b"}}
	}
	for range n {
		out.make = append(out.make, func(o client.Object) {
			if pool, ok := o.(*kafkav1beta2.KafkaNodePool); ok {
				pool.Spec.Replicas--
			}
		})
	}
	return out
}

// begin places the replicas, before a change removes the broker with the highest id of its pool. All brokers are registered then.
func (r *removal) begin(l *land, c *kafka.Cluster) {
	l.removing, c.Settings.Copy = true, copies
	leaves := int32(len(c.Registrations)) - 2 // the last one is of both roles, in another pool
	for index := range r.partitions {
		c.CreatePartition("orders", index, 2, r.holders(leaves, index)...)
	}
	for i := range c.Partitions {
		p := &c.Partitions[i]
		p.Replicas = r.holders(leaves, p.Index)
		p.InSync, p.Leader = 1<<len(p.Replicas)-1, p.Replicas[0]
	}
}

// leftOver returns what is wrong with the cluster after a broker was removed.
func (r *removal) leftOver(c *kafka.Cluster) (out []string) {
	if len(c.Partitions) != int(r.partitions) {
		out = append(out, fmt.Sprintf("there are %d partitions, want %d", len(c.Partitions), r.partitions))
	}
	for _, p := range c.Partitions {
		if len(p.Adding)+len(p.Removing) > 0 {
			out = append(out, fmt.Sprintf("partition %s-%d is still moved: adding %v, removing %v", p.Topic, p.Index, p.Adding, p.Removing))
		}
		if len(p.Replicas) != replication || len(p.ISR()) != replication {
			out = append(out, fmt.Sprintf("partition %s-%d has the replicas %v and the ISR %v, want %d of each", p.Topic, p.Index, p.Replicas, p.ISR(), replication))
		}
	}
	if len(c.Cordoned) > 0 {
		out = append(out, fmt.Sprintf("the brokers %v are cordoned", c.Cordoned))
	}
	var registered, run []int32
	for _, b := range c.Registrations {
		registered = append(registered, b.ID)
	}
	for _, n := range c.Nodes {
		if n.Broker && n.Process == kafka.Running {
			run = append(run, n.ID)
		}
	}
	if !slices.Equal(registered, run) {
		out = append(out, fmt.Sprintf("the brokers %v are registered, and %v run", registered, run))
	}
	return out
}

// replicasOn returns the number of partitions with a replica on the broker.
func replicasOn(c *kafka.Cluster, id int32) (held int) {
	for _, p := range c.Partitions {
		if slices.Contains(p.Replicas, id) {
			held++
		}
	}
	return held
}

// judgeRemoved records a node that is taken away to be removed while it holds replicas.
func (l *land) judgeRemoved(pod *corev1.Pod) {
	if !l.removing {
		return
	}
	for _, c := range l.state.Clusters() {
		if held := replicasOn(c.Kafka, idOf(pod.Name)); held > 0 {
			l.harm = append(l.harm, fmt.Sprintf("%s was taken away while it held replicas of %d partitions", pod.Name, held))
		}
	}
}

// judgeLeaders records partitions that lost their last replica in sync in a removal.
func (l *land) judgeLeaders() {
	if !l.removing {
		return
	}
	for _, c := range l.state.Clusters() {
		for _, p := range c.Kafka.Partitions {
			if p.Leader == kafka.None {
				l.harm = append(l.harm, fmt.Sprintf("partition %s-%d has no leader", p.Topic, p.Index))
			}
		}
	}
}

// The judgement of the end must find everything that a removal may leave.
func TestLeftOverFindsWhatARemovalLeaves(t *testing.T) {
	table, err := releases()
	if err != nil {
		t.Fatal(err)
	}
	all := &removal{partitions: 2, holders: func(leaves, _ int32) []int32 { return []int32{leaves, 0, 3} }}
	for name, tc := range map[string]struct {
		happens func(*kafka.Cluster) error
		want    []string
	}{
		"nothing": {happens: func(*kafka.Cluster) error { return nil }},
		"a move in progress": {
			happens: func(c *kafka.Cluster) error {
				return move(c, kafkaclient.Move{Topic: "orders", Replicas: []int32{1, 0, 3}})
			},
			want: []string{
				"partition orders-0 is still moved: adding [1], removing [2]",
				"partition orders-0 has the replicas [1 0 3 2] and the ISR [0 3 2], want 3 of each",
			},
		},
		"a partition with fewer replicas": {
			happens: func(c *kafka.Cluster) error {
				return move(c, kafkaclient.Move{Topic: "orders", Index: 1, Replicas: []int32{0, 3}})
			},
			want: []string{"partition orders-1 has the replicas [0 3] and the ISR [0 3], want 3 of each"},
		},
		"a replica out of sync": {
			happens: func(c *kafka.Cluster) error { c.SetLagging("orders", 1, 0, true); return nil },
			want:    []string{"partition orders-1 has the replicas [2 0 3] and the ISR [2 3], want 3 of each"},
		},
		"a lost partition": {
			happens: func(c *kafka.Cluster) error { c.Partitions = c.Partitions[:1]; return nil },
			want:    []string{"there are 1 partitions, want 2"},
		},
		"a cordon": {
			happens: func(c *kafka.Cluster) error { return c.Cordon(1, true) },
			want:    []string{"the brokers [1] are cordoned"},
		},
		"a registration": {
			happens: func(c *kafka.Cluster) error { c.StopNode(1, c.Now); return nil },
			want:    []string{"the brokers [0 1 2 3] are registered, and [0 2 3] run"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &land{}
			c := kafka.New("c", simulator.Binaries(table), simulator.DefaultSettings())
			c.Format(kafka.FeatureLevel{Name: kafkaclient.MetadataVersion, Level: kafkaclient.MetadataCordons})
			c.SetVoters(3)
			for id := range int32(4) {
				if err := c.StartNode(id, kafka.Start{Version: cordoning, Broker: true, Controller: id == 3}, c.Now); err != nil {
					t.Fatal(err)
				}
			}
			c.Tick(60_000)
			all.begin(l, c)
			if err := tc.happens(c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, all.leftOver(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func move(c *kafka.Cluster, m kafkaclient.Move) error {
	_, err := c.Reassign(3, []kafkaclient.Move{m})
	return err
}
