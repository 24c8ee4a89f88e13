package observation

import (
	"strings"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// OfPoolStatus returns the node ids and the cluster id in a pool's status. They are empty if the status was written for another cluster, to
// which the pool belonged before its label was changed: both are that cluster's. The selector in the status names the cluster; Strimzi's
// begins in the same way. A status without a selector counts as this cluster's.
func OfPoolStatus(kafka *kafkav1beta2.Kafka, pool *kafkav1beta2.KafkaNodePool) (ids []int32, clusterID string) {
	first, _, _ := strings.Cut(pool.Status.LabelSelector, ",")
	if cluster, named := strings.CutPrefix(first, labels.Cluster+"="); named && cluster != kafka.Name {
		return nil, ""
	}
	return pool.Status.NodeIDs, pool.Status.ClusterID
}
