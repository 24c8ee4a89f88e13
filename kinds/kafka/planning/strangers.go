package planning

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// notePools records an assumption for the node pools of the input that are of no Kafka in it: their label or their namespace may be wrong.
func (b *background) notePools() {
	for _, o := range b.env.Objects {
		pool, is := o.(*kafkav1beta2.KafkaNodePool)
		if !is || slices.ContainsFunc(b.env.Objects, func(o client.Object) bool {
			k, is := o.(*kafkav1beta2.Kafka)
			return is && k.Namespace == pool.Namespace && k.Name == pool.Labels[labels.Cluster]
		}) {
			continue
		}
		said := "without that label"
		if cluster := pool.Labels[labels.Cluster]; cluster != "" {
			said = "of Kafka " + cluster
		}
		b.env.AssumeOf(b.name, "these KafkaNodePools are of no Kafka in the input, by their namespace and their label "+labels.Cluster,
			fmt.Sprintf("%s in namespace %s, %s", pool.Name, pool.Namespace, said))
	}
}
